import { addAbortSignal } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { ServiceError } from '../../contract/errors.ts';

const decoders = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

type Coding = keyof typeof decoders;

/**
 * The coding of a Content-Encoding header, null for none: object stores send compressed objects (often SVG)
 * although the request accepts only `identity`.
 * @throws ServiceError source_unsupported, also for several codings
 */
export function codingOf(header: string | string[] | undefined): Coding | null {
  const name = [header ?? 'identity'].flat().join().trim().toLowerCase();
  if (name === '' || name === 'identity') return null;
  if (isCoding(name)) return name;
  const text = 'The source has a content coding that is not supported.';
  throw new ServiceError('source_unsupported', text);
}

const isCoding = (name: string): name is Coding => Object.hasOwn(decoders, name);

/**
 * Decodes a body. The bytes must not change meanwhile.
 * @throws ServiceError source_corrupt, also when the signal aborts
 */
export async function* decoded(
  bytes: Uint8Array,
  coding: Coding,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const decoder = addAbortSignal(signal, decoders[coding]());
  decoder.end(bytes);
  try {
    yield* decoder;
  } catch (error) {
    throw new ServiceError('source_corrupt', 'The source is not validly compressed.', error);
  }
}
