import { ServiceError } from '../../contract/errors.ts';
import { maxThreadMetadataBytes } from './container/container.ts';
import { kinds, type SourceKind } from './kinds.ts';
import { profileTags } from './metadata/profile.ts';
import { optionalFormats } from './optional-formats.ts';
import { sniff } from './sniff.ts';

/** Thrown on a transform thread for work that must run in a process, which can be killed. */
export class IsolationRequired extends Error {
  override readonly name = 'IsolationRequired';
}

/**
 * libvips keeps some hundred rows of a picture that it scales down, 2.7 KB for each pixel of the width: a
 * PNG of a million by 64 pixels takes a gigabyte. Formats of cameras have at most so many.
 */
export const maxThreadWidth = 65_535;

/** True for a source that is never decoded on a thread; see `blockDecoders`. */
export function needsProcess(source: Uint8Array): boolean {
  const kind = sniff(source);
  return kind !== null && isIsolated(kind);
}

/** HEVC is decoded by libde265, where an installation has it. */
export function isIsolated(kind: SourceKind): boolean {
  return kinds[kind].isolated || (kind === 'heif' && optionalFormats().heic);
}

/** Most profiles have a few kilobytes, those for printing a few megabytes at most. */
const mostProfileBytes = 8 * 2 ** 20;

/** Honest chains have a curve, a matrix or a table, and a curve. */
const mostElements = 32;

/**
 * Refuses a profile of which lcms takes minutes to apply: a tag of processing elements (`D2Bx` and
 * `B2Dx`, ICC.1:2022, 10.16) can name the same element 200,000 times.
 *
 * @throws ServiceError source_unsupported
 * @throws IsolationRequired for a large profile, and for any with processing elements, unless `isolated`
 */
export function requireUsableProfile(profile: Uint8Array, isolated: boolean): void {
  if (profile.byteLength > mostProfileBytes) {
    const message = `The source's colour profile has ${profile.byteLength} bytes; at most ${mostProfileBytes} are allowed.`;
    throw new ServiceError('source_unsupported', message);
  }
  let isOrdinary = profile.byteLength <= maxThreadMetadataBytes.profile;
  for (const { name, data } of profileTags(profile)) {
    if (!/^(?:D2B|B2D)/.test(name)) continue;
    const elements = data.length < 16 ? 0 : data.readUInt32BE(12);
    if (elements > mostElements) {
      const message = `The source's colour profile has ${elements} processing elements in one tag; at most ${mostElements} are allowed.`;
      throw new ServiceError('source_unsupported', message);
    }
    isOrdinary = false;
  }
  if (!isOrdinary && !isolated) throw new IsolationRequired();
}
