import { maxThreadMetadataBytes } from './container/examination.ts';
import { unsupported } from './errors.ts';
import { profileTags } from './metadata/profile.ts';

/** Thrown on a transform thread for work that must run in a process, which can be killed. */
export class IsolationRequired extends Error {
  override readonly name = 'IsolationRequired';
}

/**
 * Maximum width decoded on a thread, the limit of camera formats. libvips keeps some hundred rows of an
 * image that it scales down, 2.7 KB for each pixel of the width: 1,000,000 x 64 pixels take a gigabyte.
 */
export const maxThreadWidth = 65_535;

/** Most profiles have a few kilobytes, printing profiles at most a few megabytes. */
const maxProfileBytes = 8 * 2 ** 20;

/** Usual chains have three elements: a curve, a matrix or table, and a curve. */
const maxElements = 32;

/**
 * Refuses profiles that lcms takes minutes to apply: a tag of processing elements (`D2Bx` and `B2Dx`,
 * ICC.1:2022, 10.16) can name the same element 200,000 times.
 *
 * @throws ServiceError source_unsupported
 * @throws IsolationRequired unless `isolated`, for a large profile or one with processing elements
 */
export function requireUsableProfile(profile: Uint8Array, isolated: boolean): void {
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
  if (!isOrdinary && !isolated) throw new IsolationRequired();
}
