import { ServiceError } from '../../contract/errors.ts';
import { ordinaryBytes } from './container/container.ts';
import { encodingFrame } from './cost.ts';
import { kinds, type SourceKind } from './kinds.ts';
import { profileTags } from './metadata/profile.ts';
import type { Plan, SourceFacts } from './plan.ts';
import { optionalFormats } from './readable.ts';
import { sniff } from './sniff.ts';

/** Thrown on a transform thread for work that must run in a process, which can be killed. */
export class IsolationRequired extends Error {
  override readonly name = 'IsolationRequired';
}

/**
 * Native calls that libvips' timeout does not interrupt, in ms per megapixel: the maximum over
 * photographs and noise at all qualities, measured on a core that resizes 88 photographs of 6
 * megapixels to 800 px per second. All other decoders and encoders end within a second of the
 * timeout.
 */
const uninterruptible = {
  decode: { avif: 600, heif: 600 },
  encode: { avif: 1900, gif: 500 },
} as const satisfies Record<'decode' | 'encode', Readonly<Record<string, number>>>;

/**
 * Maximum on a thread, in ms. A thread cannot be ended during a native call, so this bounds how
 * much longer than its timeout a transform can occupy one.
 */
const maxUninterruptibleMs = 2000;

/**
 * libvips keeps some hundred rows of a picture that it scales down, 2.7 KB for each pixel of the width: a
 * PNG of a million by 64 pixels takes a gigabyte. Formats of cameras have at most so many.
 */
export const widest = 65_535;

/** True for a source that is never decoded on a thread; see `blockDecoders`. */
export function needsProcess(source: Uint8Array): boolean {
  const kind = sniff(source);
  return kind !== null && isIsolated(kind);
}

/** HEVC is decoded by libde265, where an installation has it. */
export function isIsolated(kind: SourceKind): boolean {
  return kinds[kind].isolated || (kind === 'heif' && optionalFormats().heic);
}

/**
 * @param encodes how many times the output may be encoded
 * @throws IsolationRequired
 */
export function requireInterruptible(facts: SourceFacts, plan: Plan, encodes: number): void {
  const { decode, encode } = uninterruptible;
  const frames = plan.animated ? facts.frames : 1;
  const megapixels = (size: { width: number; height: number }) => (size.width * size.height) / 1e6;
  const frameMs =
    megapixels(plan) * costIn(encode, plan.format) +
    (frames > 1 ? costIn(encodingFrame, plan.format) : 0);
  const ms = megapixels(facts) * costIn(decode, facts.kind) + frames * encodes * frameMs;
  if (ms > maxUninterruptibleMs) throw new IsolationRequired();
}

function costIn(table: Readonly<Record<string, number>>, name: string): number {
  return table[name] ?? 0;
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
  let isOrdinary = profile.byteLength <= ordinaryBytes.profile;
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
