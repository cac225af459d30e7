import { ServiceError } from '../../contract/errors.ts';
import { describeForeign } from './foreign.ts';
import type { SourceKind } from './kinds.ts';
import { optionalFormats, readableFormats } from './optional-formats.ts';
import { sniff } from './sniff.ts';

/** What an origin delivered. */
interface Delivered {
  readonly bytes: Uint8Array;
  /** The media type that the origin named, `null` when it named none. */
  readonly contentType: string | null;
}

/**
 * Refuses bytes that are of no supported format, before they occupy a transform thread.
 * @throws ServiceError source_unsupported, with the content type
 */
export function requireImage({ bytes, contentType }: Delivered): void {
  const kind = sniff(bytes);
  if (kind === 'jxl' && !optionalFormats().jxl) throw notReadHere(kind);
  if (kind !== null) return;
  const its =
    contentType === null ? 'it has no content type' : `its content type is ${contentType}`;
  throw notAnImage(bytes, `; ${its}`);
}

/** The error for bytes that are of no supported format: what they are, and what would be needed. */
export function notAnImage(bytes: Uint8Array, more = ''): ServiceError {
  const found = describeForeign(bytes);
  const need = found?.need === undefined || found.need === null ? '' : ` To use it: ${found.need}.`;
  const is = found?.name ?? `not a ${alternatives(readableFormats())}`;
  return new ServiceError('source_unsupported', `The source is ${is}${more}.${need}`);
}

function alternatives(names: readonly string[]): string {
  return `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
}

const needs = {
  heif: ['an HEIC image (HEVC in HEIF)', 'libheif and libde265'],
  jxl: ['a JPEG XL image', 'libjxl'],
} as const satisfies Partial<Record<SourceKind, readonly [name: string, library: string]>>;

/** The error for a format that the installed libvips does not read. */
export function notReadHere(kind: keyof typeof needs): ServiceError {
  const [name, library] = needs[kind];
  return new ServiceError(
    'source_unsupported',
    `The source is ${name}. That needs a libvips with ${library}, which this service does not have; it reads ${readableFormats().join(', ')}.`,
  );
}
