import type { ServiceError } from '../../../contract/errors.ts';
import { unsupported } from '../errors.ts';
import { requireConvertible } from '../metadata/cicp.ts';
import type { FileHeader } from '../source-format.ts';
import { readHeif } from './header.ts';

/**
 * Refuses unprofiled HDR colours. libvips 8.18 ignores colour codes and reads such colours as sRGB,
 * grey and dark. Other codes have already become a profile.
 *
 * @throws ServiceError source_unsupported
 */
export function requireConvertibleCodes(
  source: Uint8Array,
  { hasProfile }: Pick<FileHeader, 'hasProfile'>,
): void {
  const codes = hasProfile ? null : readHeif(source).cicp;
  if (codes !== null) requireConvertible(codes.transfer);
}

/** Codings of items that libheif reads. */
const heifCodings: ReadonlySet<string> = new Set(['av01', 'hvc1']);

/** Types of coded items (the registry of MPEG-4, mp4ra.org). */
const codingNames: Readonly<Record<string, string>> = {
  avc1: 'AVC',
  j2k1: 'JPEG 2000',
  jpeg: 'JPEG',
  lhv1: 'layered HEVC',
  unci: 'uncompressed pixels',
  vvc1: 'VVC',
};

/**
 * Returns the error for an encoding that libheif does not read, naming the format by its label;
 * null for other encodings.
 */
export const unsupportedHeif =
  (label: string) =>
  (source: Uint8Array, cause: unknown): ServiceError | null => {
    const { onlySequence, coding, predicted } = readHeif(source);
    const remedy = 'To use it: save it as HEIC, AVIF or JPEG';
    if (onlySequence) {
      const message = `The ${label} has only a sequence, and no image. To use it: deliver one of its frames as an image.`;
      return unsupported(message, cause);
    }
    if (coding !== null && !heifCodings.has(coding)) {
      const name = codingNames[coding] ?? coding;
      const message = `The source is a HEIF in an unsupported encoding (${name}). ${remedy}.`;
      return unsupported(message, cause);
    }
    return predicted
      ? unsupported(`The source is a HEIF that is predicted from another image. ${remedy}.`, cause)
      : null;
  };
