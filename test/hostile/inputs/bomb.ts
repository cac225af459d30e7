import type { PictureKind } from './pictures.ts';

/** A small file that is expensive to process. */
export interface Bomb {
  readonly what: string;
  /** Created on demand, because some take 30 MB. */
  readonly bytes: () => Buffer;
  readonly query?: string;
  /** True for a project that keeps metadata. */
  readonly keepsMetadata?: boolean;
}

/** Returns an intact image of a kind. */
export type FindOriginal = (kind: PictureKind) => Buffer;

/** Contents by description. */
export type Files = Readonly<Record<string, () => Buffer>>;

export const createBombs = (files: Files, prefix = ''): Bomb[] =>
  Object.entries(files).map(([what, bytes]) => ({ what: prefix + what, bytes }));
