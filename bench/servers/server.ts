import type { ChildProcess } from 'node:child_process';
import { sampleProcesses } from '../soak/processes.ts';
import type { EncodedFormat } from './encoder-settings.ts';

/** An image as every server can be asked for it, each by a URL of its own. */
export interface ImageRequest {
  /** Its query may end with `{n}`, which makes it another source for each number. */
  readonly source: string;
  readonly width: number;
  readonly format: EncodedFormat;
  /** On JPEG's scale, as the service takes it. */
  readonly quality: number;
}

/** A server that is measured. */
export interface Server {
  readonly name: string;
  /** Without a slash at the end. */
  readonly url: string;
  /** Its first process; null when it was started by others. */
  readonly pid: number | null;
  /** From the start of its process to its first answer, ms; null when it was started by others. */
  readonly healthyMs: number | null;
  close(): Promise<void>;
}

/** A server that renders images. */
export interface ImageServer extends Server {
  imageUrl(request: ImageRequest): string;
}

/** The source's URL, percent-encoded but for the number's place. */
export const encodedSource = (source: string): string =>
  encodeURIComponent(source).replaceAll('%7Bn%7D', '{n}');

/** The resident memory of a process and all its descendants, in MiB. */
export async function residentMiB(pid: number): Promise<number> {
  const processes = await sampleProcesses(pid, null);
  return processes.reduce((sum, { rssBytes }) => sum + rssBytes, 0) / 2 ** 20;
}

export const pidOf = (child: ChildProcess): number => child.pid ?? 0;
