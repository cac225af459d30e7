import { asBuffer } from '../bytes.ts';
import { type Cicp, cicpProfile } from '../metadata/cicp.ts';
import { pngParts, pngProfile, pngSignature } from './parts.ts';

/**
 * Chunks before a PNG's pixels that define colours and frames (PNG specification, third edition,
 * 11.3.2).
 */
interface PngColours {
  readonly cicp: Cicp | null;
  readonly isGrey: boolean;
  /** Frames in an animation (11.3.7.1); 1 for a still image. */
  readonly frames: number;
}

/** Offsets of the colour type in a PNG, and of the data in a chunk. */
const [colourTypeAt, dataAt] = [25, 8];

export function pngColours(source: Uint8Array): PngColours {
  const file = asBuffer(source);
  let cicp: Cicp | null = null;
  let frames = 1;
  for (const { from } of pngParts(file)) {
    const type = file.toString('latin1', from + 4, from + 8);
    if (type === 'IDAT') break;
    if (type === 'acTL') frames = Math.max(1, file.readUInt32BE(from + dataAt));
    if (type === 'cICP') cicp = { primaries: file[from + 8] ?? 0, transfer: file[from + 9] ?? 0 };
  }
  return { cicp, isGrey: ((file[colourTypeAt] ?? 0) & 2) === 0, frames };
}

/** The end of IHDR, the first chunk. */
const headerEnd = pngSignature.length + 25;

/** Adds to a PNG, in a copy, the profile of its colour codes, which libpng and libvips ignore. */
export function withPngProfile(source: Uint8Array): Uint8Array {
  const { cicp, isGrey } = pngColours(source);
  const profile = cicp === null || isGrey ? null : cicpProfile(cicp, false);
  if (profile === null) return source;
  const file = asBuffer(source);
  const kept: Buffer[] = [];
  let end = headerEnd;
  // Codes take precedence over a profile (11.3.2.6).
  for (const { role, from, to } of pngParts(file)) {
    if (role !== 'profile') continue;
    kept.push(file.subarray(end, from));
    end = to;
  }
  return Buffer.concat([
    file.subarray(0, headerEnd),
    ...pngProfile(profile),
    ...kept,
    file.subarray(end),
  ]);
}
