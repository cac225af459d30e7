import type { Transform } from 'node:stream';
import { finished } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { ServiceError } from '../../contract/errors.ts';
import { type BodyLimits, BodyWriter, sourceTooLarge, tooManyBytes } from './body.ts';
import { type ResponseBudget, ResponseTooCostly } from './response-budget.ts';

const chunkSize = 64 * 1024;
const gunzip = () => createGunzip({ chunkSize });
const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: gunzip,
  'x-gzip': gunzip,
  deflate: () => createInflate({ chunkSize }),
  br: () => createBrotliDecompress({ chunkSize }),
};

/** Other registered codings (IANA). Their bytes are not an image. */
const unsupported = new Set(
  'aes128gcm compress dcb dcz exi pack200-gzip x-compress zstd'.split(' '),
);

/**
 * Returns a Content-Encoding header's coding, or null: object stores send compressed objects (often
 * SVG) although the request accepts only `identity`. They also repeat names from the upload, such
 * as `aws-chunked` or `utf-8`: names missing from the registry are ignored.
 * @throws ServiceError source_unsupported, including for several codings
 */
export function parseCoding(header: string | string[] | undefined): string | null {
  const names = [header ?? []].flat().join().toLowerCase().split(',');
  const isCoding = (name: string) => Object.hasOwn(decoders, name) || unsupported.has(name);
  const [coding = null, ...others] = names.map((name) => name.trim()).filter(isCoding);
  if (coding === null || (others.length === 0 && Object.hasOwn(decoders, coding))) return coding;
  const text = "The source's content coding is not supported.";
  throw new ServiceError('source_unsupported', text);
}

/** Compressed bytes that a decoder gets at once, however small the chunks are. */
const sliceBytes = 64 * 1024;

/**
 * Decodes the chunks of a body as they arrive, and writes the result. Ends with either `finish` or
 * `discard`.
 */
export class DecodingWriter {
  readonly #decoder: Transform;
  readonly #writer: BodyWriter;
  readonly #limits: BodyLimits;
  readonly #costs: ResponseBudget;
  #failure: unknown = null;
  /** Compressed bytes that the decoder does not have yet. */
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  /** Compressed bytes in memory, which count in the budget. */
  #heldBytes = 0;
  #receivedBytes = 0;

  constructor(coding: string, limits: BodyLimits, costs: ResponseBudget) {
    this.#limits = limits;
    this.#costs = costs;
    this.#writer = new BodyWriter({ ...limits, length: null });
    const create = decoders[coding] as () => Transform;
    this.#decoder = create()
      .on('data', (chunk: Buffer) =>
        this.#attempt(() => {
          costs.countDecoded(chunk.byteLength);
          this.#writer.write(chunk);
        }),
      )
      .on('error', (error) => this.#fail(error));
  }

  /** @throws ServiceError or ResponseTooCostly, including for earlier chunks */
  write(chunk: Uint8Array): void {
    if (this.#failure !== null) throw this.#failure;
    const { maxBytes, budget, owner } = this.#limits;
    const { byteLength } = chunk;
    this.#receivedBytes += byteLength;
    if (this.#receivedBytes > maxBytes) throw sourceTooLarge(maxBytes);
    // Counts bytes after the compressed data.
    if (this.#decoder.readableEnded) return this.#costs.countCoded(byteLength);
    if (!budget.take(owner, byteLength)) throw tooManyBytes();
    this.#heldBytes += byteLength;
    this.#waiting.push(chunk);
    this.#waitingBytes += byteLength;
    if (this.#waitingBytes >= sliceBytes) this.#decode();
  }

  /**
   * Returns the decoded body in a buffer of exactly its length, which the caller must release.
   *
   * @throws ServiceError or ResponseTooCostly
   */
  async finish(): Promise<Uint8Array> {
    // An empty body is reported as empty.
    if (this.#receivedBytes > 0) {
      this.#decode();
      this.#decoder.end();
      // A decoder does not accept bytes after the compressed data.
      await finished(this.#decoder, { writable: false }).catch((error) => this.#fail(error));
      if (this.#failure !== null) throw this.#failure;
    }
    this.#release();
    return this.#writer.finish();
  }

  discard(): void {
    this.#fail(new Error('discarded'));
    this.#release();
    this.#writer.discard();
  }

  #decode(): void {
    const slice = Buffer.concat(this.#waiting);
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#decoder.write(slice, () => {
      if (this.#decoder.destroyed) return;
      this.#free(slice.byteLength);
      this.#attempt(() => this.#costs.countCoded(slice.byteLength));
    });
  }

  #attempt(action: () => void): void {
    if (this.#failure !== null) return;
    try {
      action();
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    const isKnown = error instanceof ServiceError || error instanceof ResponseTooCostly;
    const text = "The source's compressed data is invalid.";
    this.#failure ??= isKnown ? error : new ServiceError('source_corrupt', text, error);
    this.#decoder.destroy();
  }

  #free(bytes: number): void {
    this.#heldBytes -= bytes;
    this.#limits.budget.release(this.#limits.owner, bytes);
  }

  #release(): void {
    this.#decoder.destroy();
    this.#free(this.#heldBytes);
  }
}
