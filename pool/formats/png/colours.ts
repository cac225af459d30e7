import { asBuffer } from '../bytes.ts';
import {
  type Cicp,
  cicpGreyCurve,
  cicpProfile,
  isConvertible,
  srgbPrimaries,
} from '../metadata/cicp.ts';
import {
  inverted,
  type Matrix,
  multiplyVector,
  product,
  type Row,
  transposed,
} from '../metadata/matrix.ts';
import { d50, greyProfile, matrixProfile, type Primaries } from '../metadata/written-profile.ts';
import { pngParts, pngProfile, pngSignature } from './parts.ts';

/**
 * Chunks before a PNG's pixels that define colours and frames (PNG specification, third edition,
 * 11.3.2).
 */
interface PngColours {
  readonly cicp: Cicp | null;
  readonly hasProfile: boolean;
  readonly isGrey: boolean;
  /** Frames in an animation (11.3.7.1); 1 for a still image. */
  readonly frames: number;
  /** The values of gAMA and cHRM; null if absent, or replaced by sRGB. */
  readonly gamma: Gamma | null;
}

interface Gamma {
  /** Exponent from samples to light. */
  readonly exponent: number;
  /** Null if absent. */
  readonly primaries: Primaries['colours'] | null;
}

/** Offsets of the colour type in a PNG, and of the data in a chunk; bytes of gAMA and cHRM. */
const [colourTypeAt, dataAt] = [25, 8];
const [gammaBytes, chromaticityBytes] = [4, 32];
/** No real image has gammas outside this range, and some cannot be written. */
const exponents = { min: 0.01, max: 100 };
/** libpng takes a gamma as sRGB's 1/2.2 within this part of it. */
const srgbTolerance = 0.05;

export function pngColours(source: Uint8Array): PngColours {
  const file = asBuffer(source);
  let cicp: Cicp | null = null;
  let hasProfile = false;
  let isSrgb = false;
  let frames = 1;
  const chunks = new Map<string, Buffer>();
  for (const { role, from, to } of pngParts(file)) {
    const type = file.toString('latin1', from + 4, from + 8);
    if (type === 'IDAT') break;
    hasProfile ||= role === 'profile';
    isSrgb ||= type === 'sRGB';
    if (type === 'acTL') frames = Math.max(1, file.readUInt32BE(from + dataAt));
    if (type === 'cICP') cicp = { primaries: file[from + 8] ?? 0, transfer: file[from + 9] ?? 0 };
    if (type === 'gAMA' || type === 'cHRM') chunks.set(type, file.subarray(from + dataAt, to - 4));
  }
  const isGrey = ((file[colourTypeAt] ?? 0) & 2) === 0;
  const gamma = isSrgb ? null : readGamma(chunks.get('gAMA'), chunks.get('cHRM'));
  return { cicp, hasProfile, isGrey, frames, gamma };
}

/**
 * Like Chromium, ignores cHRM alone or with invalid values, and takes sRGB's gamma without cHRM for
 * sRGB.
 */
function readGamma(gAMA: Buffer | undefined, cHRM: Buffer | undefined): Gamma | null {
  if (gAMA?.length !== gammaBytes) return null;
  const gamma = gAMA.readUInt32BE() / 100_000;
  const exponent = 1 / gamma;
  if (!(exponent >= exponents.min && exponent <= exponents.max)) return null;
  if (cHRM === undefined) {
    return Math.abs(gamma * 2.2 - 1) < srgbTolerance ? null : { exponent, primaries: null };
  }
  if (cHRM.length !== chromaticityBytes) return null;
  const at = (index: number): Chromaticity => [
    cHRM.readUInt32BE(8 * index) / 100_000,
    cHRM.readUInt32BE(8 * index + 4) / 100_000,
  ];
  const primaries = computePrimaries(at(0), [at(1), at(2), at(3)]);
  return primaries && { exponent, primaries };
}

/** The end of IHDR, the first chunk. */
const headerEnd = pngSignature.length + 25;

/**
 * Adds to a PNG, in a copy, the profile of its colour codes, or of its gamma if it has no profile.
 * libpng and libvips ignore codes and gammas, as well as an RGB profile in a grey PNG.
 */
export function withPngProfile(source: Uint8Array): Uint8Array {
  const colours = pngColours(source);
  const { cicp, hasProfile } = colours;
  // Codes take precedence over a profile (11.3.2.6). HDR codes cannot be converted, but a profile
  // can.
  const isReplaced = hasProfile && cicp !== null && isConvertible(cicp);
  const profile = hasProfile && !isReplaced ? null : createProfile(colours);
  if (profile === null && !isReplaced) return source;
  const file = asBuffer(isReplaced ? withoutProfile(source) : source);
  const added = profile === null ? [] : pngProfile(profile);
  return Buffer.concat([file.subarray(0, headerEnd), ...added, file.subarray(headerEnd)]);
}

function withoutProfile(source: Uint8Array): Buffer {
  const file = asBuffer(source);
  const kept: Buffer[] = [];
  let end = 0;
  for (const { role, from, to } of pngParts(file)) {
    if (role === 'profile') {
      kept.push(file.subarray(end, from));
      end = to;
    }
  }
  return Buffer.concat([...kept, file.subarray(end)]);
}

function createProfile({ cicp, gamma, isGrey }: PngColours): Buffer | null {
  if (cicp !== null && isGrey) {
    const curve = cicpGreyCurve(cicp);
    return curve && greyProfile('grey', curve);
  }
  if (cicp !== null) return cicpProfile(cicp, false);
  if (gamma === null) return null;
  const { exponent, primaries } = gamma;
  const name = `gamma ${Number(exponent.toFixed(3))}`;
  if (isGrey) return greyProfile(name, [exponent]);
  return matrixProfile({ name, colours: primaries ?? srgbPrimaries }, [exponent]);
}

/** CIE 1931 x and y. */
type Chromaticity = readonly [x: number, y: number];

/** The cones' response to XYZ (Bradford; ICC.1:2022, annex E). */
const bradford: Matrix = [
  [0.8951, 0.2664, -0.1614],
  [-0.7502, 1.7135, 0.0367],
  [0.0389, -0.0685, 1.0296],
];

/** More than the XYZ of any display. */
const maxXyz = 4;

/**
 * Returns primaries for chromaticities and a white point, adapted to the profiles' white point.
 *
 * @returns null if no display could have them
 */
function computePrimaries(
  white: Chromaticity,
  colours: readonly [Chromaticity, Chromaticity, Chromaticity],
): Primaries['colours'] | null {
  const rows = colours.map(xyz) as [Row, Row, Row];
  const shares = inverted(transposed(rows));
  const cones = inverted(bradford);
  if (shares === null || cones === null) return null;
  const amounts = multiplyVector(shares, xyz(white));
  const from = multiplyVector(bradford, xyz(white));
  const to = multiplyVector(bradford, d50);
  const scale: Matrix = [
    [to[0] / from[0], 0, 0],
    [0, to[1] / from[1], 0],
    [0, 0, to[2] / from[2]],
  ];
  const adaptation = product(cones, product(scale, bradford));
  const [red, green, blue] = rows.map((colour, index) =>
    multiplyVector(adaptation, scaled(colour, amounts[index] ?? 0)),
  );
  if (!red || !green || !blue) return null;
  const isDisplay = [...red, ...green, ...blue].every((value) => Math.abs(value) < maxXyz);
  return isDisplay ? [red, green, blue] : null;
}

const xyz = ([x, y]: Chromaticity): Row => [x / y, 1, (1 - x - y) / y];
const scaled = ([x, y, z]: Row, factor: number): Row => [x * factor, y * factor, z * factor];
