import { addAbortSignal, pipeline, Readable, type Transform } from 'node:stream';
import zlib from 'node:zlib';
import { ServiceError } from '../../contract/errors.ts';
import { ResponseTooCostly } from './response-budget.ts';

const chunkSize = 64 * 1024;
/** RFC 9659: the largest window of the coding, 8 MB. */
const maxZstdWindowLog = 23;

/** From Node 22.15 and 23.8 on; types of Node 20 do not have it. */
const { createZstdDecompress, constants } = zlib as typeof zlib & {
  readonly createZstdDecompress?: (options: zlib.ZlibOptions & { params: object }) => Transform;
  readonly constants: { readonly ZSTD_d_windowLogMax?: number };
};
const gunzip = () => zlib.createGunzip({ chunkSize });
const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: gunzip,
  'x-gzip': gunzip,
  deflate: () => zlib.createInflate({ chunkSize }),
  br: () => zlib.createBrotliDecompress({ chunkSize }),
  ...(createZstdDecompress && {
    zstd: () =>
      createZstdDecompress({
        chunkSize,
        params: { [Number(constants.ZSTD_d_windowLogMax)]: maxZstdWindowLog },
      }),
  }),
};

/** Further codings of IANA's registry, whose bytes are no image. */
const unsupported = new Set(
  'aes128gcm compress dcb dcz exi pack200-gzip x-compress zstd'.split(' '),
);

/**
 * The coding of a Content-Encoding header, null for none: object stores send compressed objects (often SVG)
 * although the request accepts only `identity`. They also send what an upload named, such as `aws-chunked` or
 * `utf-8`: names that no registry contains are ignored.
 * @throws ServiceError source_unsupported, also for several codings
 */
export function codingOf(header: string | string[] | undefined): string | null {
  const names = [header ?? []].flat().join().toLowerCase().split(',');
  const isCoding = (name: string) => Object.hasOwn(decoders, name) || unsupported.has(name);
  const [coding = null, ...others] = names.map((name) => name.trim()).filter(isCoding);
  if (coding === null || (others.length === 0 && Object.hasOwn(decoders, coding))) return coding;
  const text = 'The source has a content coding that is not supported.';
  throw new ServiceError('source_unsupported', text);
}

/** Compressed bytes that a decoder gets at once. */
const sliceBytes = 64 * 1024;
/**
 * Compressed bytes beyond the decoded ones. Codings add 0.1% to bytes that they cannot compress, but a body may consist
 * of parts that decode to nothing, such as members of gzip.
 */
const maxExcessBytes = 256 * 1024;

/**
 * Decodes a body. The bytes must not change meanwhile.
 * @throws ServiceError source_corrupt, also when the signal aborts
 * @throws ResponseTooCostly for a body that is much longer than what it decodes to
 */
export async function* decoded(
  bytes: Uint8Array,
  coding: string,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  let decodedBytes = 0;
  function* slices() {
    for (let at = 0; at < bytes.byteLength; at += sliceBytes) {
      if (at > decodedBytes + maxExcessBytes) throw new ResponseTooCostly('TOO_MUCH_OVERHEAD');
      yield bytes.subarray(at, at + sliceBytes);
    }
  }
  const create = decoders[coding] as () => Transform;
  const decoder = addAbortSignal(signal, create());
  try {
    for await (const chunk of pipeline(Readable.from(slices()), decoder, () => {})) {
      decodedBytes += chunk.byteLength;
      yield chunk;
    }
  } catch (error) {
    if (error instanceof ResponseTooCostly) throw error;
    throw new ServiceError('source_corrupt', 'The source is not validly compressed.', error);
  }
}
