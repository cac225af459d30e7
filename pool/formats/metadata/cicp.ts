import { unsupported } from '../errors.ts';
import {
  type Curve,
  limitedRangeCurve,
  matrixProfile,
  type Primaries,
  srgbCurve,
} from './written-profile.ts';

/** Coding-independent code points of colours (ITU-T H.273). */
export interface Cicp {
  /** Colour primaries, table 2. */
  readonly primaries: number;
  /** Transfer characteristics, table 3. */
  readonly transfer: number;
}

const primaries709: Primaries = {
  name: 'BT.709',
  colours: [
    [0.43604, 0.22248, 0.01392],
    [0.38511, 0.71691, 0.09707],
    [0.14305, 0.06061, 0.71391],
  ],
};

/** 2 is unspecified. The primaries of older video (5 to 7) look nearly the same as BT.709's. */
const primariesByCode: Readonly<Record<number, Primaries>> = {
  1: primaries709,
  2: primaries709,
  5: primaries709,
  6: primaries709,
  7: primaries709,
  9: {
    name: 'BT.2020',
    colours: [
      [0.67348, 0.27904, -0.00193],
      [0.16567, 0.67534, 0.02998],
      [0.12505, 0.04561, 0.79685],
    ],
  },
  12: {
    name: 'Display P3',
    colours: [
      [0.51512, 0.24119, -0.00105],
      [0.29198, 0.69224, 0.04188],
      [0.1571, 0.06657, 0.78407],
    ],
  },
};

/** Transfer characteristics of HDR. */
const hdrTransfers: Readonly<Record<number, string>> = { 16: 'PQ', 18: 'HLG' };

/** @throws ServiceError source_unsupported for HDR */
export function requireConvertible(transfer: Cicp['transfer']): void {
  const hdr = hdrTransfers[transfer];
  if (hdr === undefined) return;
  throw unsupported(`The source is an HDR image (${hdr}), whose colours cannot be converted.`);
}

/** Transfer characteristics that use sRGB's curve or are unspecified. */
const srgbTransfers: ReadonlySet<number> = new Set([2, 12, 13]);
const curves: Readonly<Record<number, Curve>> = { 4: [2.2], 5: [2.8], 8: [1] };
/** The curve of video displays (ITU-R BT.1886). */
const videoTransfers: ReadonlySet<number> = new Set([1, 6, 7, 11, 14, 15]);
const videoCurve: Curve = [2.4];

/**
 * Creates a profile (ICC.1:2022) equivalent to the codes.
 *
 * @param isVideo true for a video codec's image: Chromium, like players, shows it with sRGB's
 *   curve instead of a video curve, but uses a PNG's own curve
 * @param isLimited true for unexpanded pixels from 16 to 235
 * @returns null for sRGB colours, and for codes that primaries and curves cannot express, such as
 *   HDR
 */
export function cicpProfile(
  { primaries: code, transfer }: Cicp,
  isVideo: boolean,
  isLimited = false,
): Buffer | null {
  const isVideoCurve = videoTransfers.has(transfer);
  const isSrgbCurve = srgbTransfers.has(transfer) || (isVideo && isVideoCurve);
  const primaries = primariesByCode[code];
  const curve = isSrgbCurve ? srgbCurve : isVideoCurve ? videoCurve : curves[transfer];
  if (primaries === undefined || curve === undefined) return null;
  if (primaries === primaries709 && isSrgbCurve && !isLimited) return null;
  const fullName = isSrgbCurve ? primaries.name : `${primaries.name} gamma ${curve[0]}`;
  return isLimited
    ? matrixProfile({ ...primaries, name: `${fullName} limited` }, limitedRangeCurve(curve))
    : matrixProfile({ ...primaries, name: fullName }, curve);
}
