import { maxThreadMetadataBytes } from './container/examination.ts';
import { unsupported } from './errors.ts';
import { profileTags } from './metadata/profile.ts';
import type { Container } from './source-format.ts';

/**
 * Returns whether only a killable process can examine a source: because of its format, or of
 * metadata that a thread must not read.
 *
 * @throws ServiceError source_corrupt, source_unsupported
 */
export function isExaminedInProcess(container: Container): boolean {
  const { weigh, isolatedLoader, hidesMetadata } = container.format;
  return (
    weigh !== undefined ||
    isolatedLoader !== undefined ||
    hasExcessMetadata(container) ||
    hidesMetadata?.(container) === true
  );
}

export const hasExcessMetadata = ({ excessMetadata, inconsistent }: Container): boolean =>
  excessMetadata.size > 0 || inconsistent;

/**
 * Maximum width decoded on a thread, the limit of camera formats. When libvips scales an image
 * down, it keeps some hundred rows, 2.7 KB per pixel of width: 1,000,000 x 64 pixels take a
 * gigabyte.
 */
export const maxThreadWidth = 65_535;

/** Most profiles take a few kilobytes, printing profiles at most a few megabytes. */
const maxProfileBytes = 8 * 2 ** 20;

/** Usual chains have three elements: a curve, a matrix or table, and a curve. */
const maxElements = 32;

/**
 * Refuses profiles that lcms takes minutes to apply: a processing element tag (`D2Bx` and `B2Dx`,
 * ICC.1:2022, 10.16) can name the same element 200,000 times.
 *
 * @returns false for a profile that only a process can apply: large, or with processing elements
 * @throws ServiceError source_unsupported
 */
export function isOrdinaryProfile(profile: Uint8Array): boolean {
  const { byteLength } = profile;
  if (byteLength > maxProfileBytes) {
    throw unsupported(
      `The source's colour profile has ${byteLength} bytes; at most ${maxProfileBytes} are allowed.`,
    );
  }
  let isOrdinary = byteLength <= maxThreadMetadataBytes.profile;
  for (const { name, data } of profileTags(profile)) {
    if (!/^(?:D2B|B2D)/.test(name)) continue;
    const elements = data.length < 16 ? 0 : data.readUInt32BE(12);
    if (elements > maxElements) {
      throw unsupported(
        `The source's colour profile has ${elements} processing elements in one tag; at most ${maxElements} are allowed.`,
      );
    }
    isOrdinary = false;
  }
  return isOrdinary;
}
