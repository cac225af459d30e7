import type { BenchFormat } from './encoder-settings.ts';

/** An image; every server has a URL for it. */
export interface BenchRequest {
  /** Its query can end with `{n}`, to make each number a different source. */
  readonly source: string;
  readonly width: number;
  /** Height of the box that the image must fit; if omitted, only the width counts. */
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
  /** Its first process; null if the bench did not start it. */
  readonly pid: number | null;
  /** From its process's start to its first response, ms; null if the bench did not start it. */
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
