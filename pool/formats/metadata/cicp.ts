import { unsupported } from '../errors.ts';
import { matrixProfile, type Primaries, srgbCurve } from './written-profile.ts';

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

/** 2 is unspecified, and 3 and 10 (XYZ) are none of an RGB. */
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

/** Also the curves of cameras for video: Chromium shows such pictures with that of sRGB, like players. */
const srgbTransfers: ReadonlySet<number> = new Set([1, 2, 6, 7, 11, 12, 13, 14, 15]);
const gammas: Readonly<Record<number, number>> = { 4: 2.2, 5: 2.8, 8: 1 };

/**
 * A profile (ICC.1:2022) with the meaning of the codes.
 *
 * @returns null for colours that are those of sRGB, and for codes that no profile of primaries and curves can
 *   express, such as those of HDR
 */
export function cicpProfile({ primaries: code, transfer }: Cicp): Buffer | null {
  const isSrgbCurve = srgbTransfers.has(transfer);
  const primaries = primariesByCode[code];
  const gamma = gammas[transfer];
  const curve = isSrgbCurve ? srgbCurve : gamma === undefined ? null : [gamma];
  if (primaries === undefined || curve === null) return null;
  if (primaries === primaries709 && isSrgbCurve) return null;
  const name = `${primaries.name}${isSrgbCurve ? '' : ` gamma ${gamma}`}`;
  return matrixProfile({ ...primaries, name }, curve);
}
