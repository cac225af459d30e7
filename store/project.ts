import type { PresetParameters } from './preset.ts';

export const watermarkPositions = [
  'center',
  'north',
  'northeast',
  'northwest',
  'south',
  'southeast',
  'southwest',
  'east',
  'west',
] as const;
export type WatermarkPosition = (typeof watermarkPositions)[number];

export const projectFits = ['contain', 'cover', 'fill', 'inside', 'outside'] as const;
export type ProjectFit = (typeof projectFits)[number];

/** The transform defaults of a project that its owner may change (spec part 2). */
export interface ProjectSettings {
  readonly autoFormat: boolean;
  readonly defaultQuality: number;
  readonly defaultDpr: number;
  readonly defaultFit: ProjectFit;
  /** Device pixels; null for no bound. */
  readonly maxWidth: number | null;
  readonly stripMetadata: boolean;
  readonly watermarkEnabled: boolean;
  readonly watermarkUrl: string | null;
  readonly watermarkPosition: WatermarkPosition;
  /** Percent. */
  readonly watermarkOpacity: number;
  /** Percent of the output's width. */
  readonly watermarkScale: number;
  /** Pixels. */
  readonly watermarkMargin: number;
}

/** A project, as all but its changes are stored. */
export interface Project extends ProjectSettings {
  readonly _id: string;
  readonly orgId: string;
  readonly name: string;
  readonly origin: string;
  /** Normalised hosts, each once (see hosts.ts). */
  readonly allowedOrigins: readonly string[];
  readonly color1: string;
  readonly color2: string;
  readonly requireSignedUrls: boolean;
  readonly signedUrlTtlSeconds: number | null;
  /** The HMAC secret of signed URLs; null until created. Used only to sign and verify URLs. */
  readonly signingSecret: string | null;
  /** The secret before the last rotation, which is valid too; none once it was revoked. */
  readonly previousSigningSecret?: string | null;
  /** Image parameters under names of the project's own, by name. */
  readonly presets?: Readonly<Record<string, PresetParameters>>;
  readonly createdAt: Date;
  /** By the store's clock. For people: it decides nothing, because clocks may step. */
  readonly changedAt: Date;
  /** Grows by one with every change. */
  readonly revision: number;
}
