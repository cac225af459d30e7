import type { ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import type { EncodedFormat } from './encoder-settings.ts';
import { familyOf, sampleProcesses } from './processes.ts';

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

/** An image of which nothing is asked but what it must have: the rest is the server's default. */
export type PlainRequest = Omit<ImageRequest, 'quality'>;

/** A server that renders images as it does by default. */
export interface DefaultServer extends Server {
  /** Whether requests can name a quality. */
  readonly varies: boolean;
  /** @param quality on the encoder's own scale; null for the server's default */
  imageUrl(request: PlainRequest, quality: number | null): string;
}

/** The source's URL, percent-encoded but for the number's place. */
export const encodedSource = (source: string): string =>
  encodeURIComponent(source).replaceAll('%7Bn%7D', '{n}');

/** The resident memory of a process and all its descendants, in MiB. */
export async function residentMiB(pid: number): Promise<number> {
  const processes = await sampleProcesses(pid, null);
  return processes.reduce((sum, { rssBytes }) => sum + rssBytes, 0) / 2 ** 20;
}

/** Linux counts processor time in these, on all of its platforms (`USER_HZ`). */
const tickMs = 10;

/** The processor time of a process and all its descendants, user and system, in ms; NaN without /proc. */
export async function processorMs(pid: number): Promise<number> {
  const times = (await familyOf(pid)).map(async (one) => {
    const text = await readFile(`/proc/${one}/stat`, 'utf8').catch(() => '');
    // The name before the last parenthesis may have spaces; user and system time are the fields 14, 15.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return tickMs * (Number(fields[11]) + Number(fields[12]));
  });
  return (await Promise.all(times)).reduce((sum, ms) => sum + ms, 0);
}

export const pidOf = (child: ChildProcess): number => child.pid ?? 0;
