import { pipeline, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { ServiceError } from '../../contract/errors.ts';
import { sourceTooLarge } from './body.ts';

const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/**
 * Decodes the content coding of a body: object stores send compressed objects (often SVG) although the
 * request accepts only `identity`. Limits the encoded bytes; the reader limits the decoded bytes. Null for an
 * unknown coding or several codings.
 */
export function decodeBody(
  chunks: AsyncIterable<Uint8Array>,
  coding: string,
  maxBytes: number,
): AsyncIterable<Uint8Array> | null {
  const name = coding.trim().toLowerCase();
  if (name === '' || name === 'identity') return chunks;
  const create = Object.hasOwn(decoders, name) ? decoders[name] : undefined;
  return create === undefined ? null : decoded(bounded(chunks, maxBytes), create());
}

async function* decoded(chunks: AsyncIterable<Uint8Array>, decoder: Transform) {
  // A failed pipeline destroys its last stream with the error, which the loop throws.
  pipeline(chunks, decoder, () => {});
  try {
    yield* decoder;
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw new ServiceError('source_corrupt', 'The source is not validly compressed.', error);
  }
}

async function* bounded(chunks: AsyncIterable<Uint8Array>, maxBytes: number) {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw sourceTooLarge(maxBytes);
    yield chunk;
  }
}
