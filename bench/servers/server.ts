import type { BenchFormat } from './encoder-settings.ts';

/** An image; every server has a URL for it. */
export interface BenchRequest {
  /** Its query may end with `{n}`, which makes it another source for each number. */
  readonly source: string;
  readonly width: number;
  /** Of the box in which the image fits; without it the width alone counts. */
  readonly height?: number;
  readonly format: BenchFormat;
  /** Of the image; the service's encoder settings depend on them. */
  readonly pixels: number;
  /** On JPEG's scale, as the service takes it. */
  readonly quality: number;
}

/** A measured server. */
export interface Server {
  readonly name: string;
  /** Without a slash at the end. */
  readonly url: string;
  /** Its first process; null when it was started by others. */
  readonly pid: number | null;
  /** From the start of its process to its first response, ms; null when it was started by others. */
  readonly healthyMs: number | null;
  close(): Promise<void>;
}

/** A server that renders images. */
export interface ImageServer extends Server {
  imageUrl(request: BenchRequest): string;
}

/** The source's URL, percent-encoded except for `{n}`. */
export const encodedSource = (source: string): string =>
  encodeURIComponent(source).replaceAll('%7Bn%7D', '{n}');
