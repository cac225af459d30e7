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

const primaries601: Primaries = {
  name: 'BT.601 525',
  colours: [
    [0.41629, 0.22168, 0.01365],
    [0.3932, 0.70328, 0.09133],
    [0.15471, 0.07504, 0.71993],
  ],
};

const primaries709: Primaries = {
  name: 'BT.709',
  colours: [
    [0.43604, 0.22248, 0.01392],
    [0.38511, 0.71691, 0.09707],
    [0.14305, 0.06061, 0.71391],
  ],
};

/** 2 is unspecified; 3 and 10 (XYZ) are not RGB primaries. */
const primariesByCode: Readonly<Record<number, Primaries>> = {
  1: primaries709,
  2: primaries709,
  4: {
    name: 'BT.470 M',
    colours: [
      [0.63446, 0.311, -0.00118],
      [0.18513, 0.59149, 0.05551],
      [0.1446, 0.09751, 0.77058],
    ],
  },
  5: {
    name: 'BT.601 625',
    colours: [
      [0.45525, 0.23228, 0.01453],
      [0.3676, 0.70782, 0.10487],
      [0.14136, 0.0599, 0.70549],
    ],
  },
  6: primaries601,
  7: primaries601,
  8: {
    name: 'Film',
    colours: [
      [0.56565, 0.26424, -0.00132],
      [0.25388, 0.68508, 0.05498],
      [0.14467, 0.05068, 0.77124],
    ],
  },
  9: {
    name: 'BT.2020',
    colours: [
      [0.67348, 0.27904, -0.00193],
      [0.16567, 0.67534, 0.02998],
      [0.12505, 0.04561, 0.79685],
    ],
  },
  11: {
    name: 'DCI-P3',
    colours: [
      [0.48616, 0.22668, -0.0008],
      [0.32385, 0.71033, 0.04324],
      [0.15419, 0.06298, 0.78247],
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
  22: {
    name: 'EBU 3213-E',
    colours: [
      [0.45427, 0.2419, 0.01489],
      [0.35332, 0.67365, 0.09062],
      [0.15662, 0.08445, 0.71939],
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
const curves: Readonly<Record<number, Curve>> = {
  4: [2.2],
  5: [2.8],
  8: [1],
  17: [2.6, (52.37 / 48) ** (1 / 2.6), 0, 0, 0],
};
/** Curves of video displays (ITU-R BT.1886), and SMPTE 240M's curve. */
const videoCurves: Readonly<Record<number, Curve>> = {
  1: [2.4],
  6: [2.4],
  7: [1 / 0.45, 1 / 1.1115, 0.1115 / 1.1115, 1 / 4, 0.0913],
  11: [2.4],
  14: [2.4],
  15: [2.4],
};

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
  const videoCurve = videoCurves[transfer];
  const isSrgbCurve = srgbTransfers.has(transfer) || (isVideo && videoCurve !== undefined);
  const primaries = primariesByCode[code];
  const curve = isSrgbCurve ? srgbCurve : (curves[transfer] ?? videoCurve);
  if (primaries === undefined || curve === undefined) return null;
  if (primaries === primaries709 && isSrgbCurve && !isLimited) return null;
  const curveName = curve.length === 1 ? `gamma ${curve[0]}` : `curve ${transfer}`;
  const fullName = isSrgbCurve ? primaries.name : `${primaries.name} ${curveName}`;
  return isLimited
    ? matrixProfile({ ...primaries, name: `${fullName} limited` }, limitedRangeCurve(curve))
    : matrixProfile({ ...primaries, name: fullName }, curve);
}

/** Returns whether the codes mean something other than HDR. */
export const isConvertible = ({ primaries, transfer }: Cicp): boolean =>
  primariesByCode[primaries] !== undefined &&
  (srgbTransfers.has(transfer) || (curves[transfer] ?? videoCurves[transfer]) !== undefined);

/** Returns the grey curve of the codes; null for sRGB's curve and for HDR. */
export const cicpGreyCurve = ({ transfer }: Cicp): Curve | null =>
  curves[transfer] ?? videoCurves[transfer] ?? null;

export const srgbPrimaries = primaries709.colours;
