import { asBuffer, parseOrDefault } from '../bytes.ts';
import { dot, inverted, type Matrix, product, type Row, transposed } from './matrix.ts';
import { profileTags } from './profile.ts';

/** Channels 0..255. */
export type Rgb = readonly [number, number, number];

/** Linear sRGB to the XYZ of profiles, with white D50 (Bradford adaptation). */
export const srgbToXyz: Matrix = [
  [0.4360747, 0.3850649, 0.1430804],
  [0.2225045, 0.7168786, 0.0606169],
  [0.0139322, 0.0971045, 0.7141733],
];

/** Number of linear light values with a tabulated sRGB value: a step is at most 0.2 levels. */
const lightSteps = 16_384;

/** sRGB's value for light from 0 to 1 (IEC 61966-2-1). */
const srgbValues = Uint8Array.from({ length: lightSteps + 1 }, (_, step) => {
  const light = step / lightSteps;
  return Math.round(
    255 * (light <= 0.0031308 ? 12.92 * light : 1.055 * light ** (1 / 2.4) - 0.055),
  );
});

/** Linear light of sRGB's 256 values, 0..1 (IEC 61966-2-1). */
const srgbLight = Float64Array.from({ length: 256 }, (_, value) => {
  const part = value / 255;
  return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
});

/** The colour space of a profile with three primaries and tone curves (ICC.1:2022, 8.3.3). */
export class ColourSpace {
  readonly #profile: ProfileColours;

  private constructor(profile: ProfileColours) {
    this.#profile = profile;
  }

  /** Returns null for other kinds of profile and for unreadable profiles. */
  static of(profile: Uint8Array): ColourSpace | null {
    const bytes = asBuffer(profile);
    const found = parseOrDefault(null, () => readProfile(bytes));
    return found && new ColourSpace(found);
  }

  /**
   * Whether colours look nearly the same without the profile, whatever its name: greys and sampled
   * colours differ by at most two levels. Of 23 profiles named sRGB, profiles with sRGB's curve
   * differ by one or two levels, and some cameras' profiles with gamma 2.2 by nine.
   */
  get isSrgb(): boolean {
    const converted = srgbSamples.slice();
    this.toSrgb(converted, 3);
    return converted.every((value, at) => Math.abs(value - (srgbSamples[at] ?? 0)) <= 2);
  }

  /** Converts a colour, to the nearest one if the space does not contain it. */
  fromSrgb([r, g, b]: Rgb): Rgb {
    const linear = [srgbLight[r] ?? 0, srgbLight[g] ?? 0, srgbLight[b] ?? 0] as const;
    const [red, green, blue] = this.#profile.matrix.map((row) => dot(row, linear));
    return [this.#value(0, red), this.#value(1, green), this.#value(2, blue)];
  }

  /**
   * Converts pixels in this space to sRGB, in place. Clips colours outside sRGB per channel. Takes
   * a third of lcms's time.
   *
   * @param pixels RGB or RGBA, 8 bits per channel
   */
  toSrgb(pixels: Uint8Array, channels: number): void {
    const [reds, greens, blues] = this.#profile.light.map((light) => Float32Array.from(light));
    if (reds === undefined || greens === undefined || blues === undefined) return;
    const [[a, b, c], [d, e, f], [g, h, i]] = this.#profile.inverse;
    for (let at = 0; at + 2 < pixels.length; at += channels) {
      const red = reds[pixels[at] ?? 0] ?? 0;
      const green = greens[pixels[at + 1] ?? 0] ?? 0;
      const blue = blues[pixels[at + 2] ?? 0] ?? 0;
      pixels[at] = srgbValue(a * red + b * green + c * blue);
      pixels[at + 1] = srgbValue(d * red + e * green + f * blue);
      pixels[at + 2] = srgbValue(g * red + h * green + i * blue);
    }
  }

  /** Converts pixels from sRGB, in place. @param pixels RGBA, 8 bits per channel */
  fromSrgbPixels(pixels: Uint8Array): void {
    const known = new Map<number, Rgb>();
    for (let at = 0; at + 4 <= pixels.length; at += 4) {
      const [r = 0, g = 0, b = 0] = [pixels[at], pixels[at + 1], pixels[at + 2]];
      const key = (r << 16) | (g << 8) | b;
      let converted = known.get(key);
      if (converted === undefined) {
        converted = this.fromSrgb([r, g, b]);
        if (known.size < maxKnown) known.set(key, converted);
      }
      pixels.set(converted, at);
    }
  }

  /** Returns the value with the nearest light. */
  #value(channel: number, light = 0): number {
    const curve = this.#profile.light[channel] ?? srgbLight;
    let [low, high] = [0, 255];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((curve[middle] ?? 0) <= light) low = middle;
      else high = middle;
    }
    return light - (curve[low] ?? 0) < (curve[high] ?? 0) - light ? low : high;
  }
}

function srgbValue(light: number): number {
  const step = light <= 0 ? 0 : light >= 1 ? lightSteps : (light * lightSteps + 0.5) | 0;
  return srgbValues[step] ?? 0;
}

/** All greys, and colours that combine five values per channel. */
const srgbSamples = Uint8Array.from([
  ...Array.from({ length: 256 }, (_, grey) => [grey, grey, grey]).flat(),
  ...Array.from({ length: 125 }, (_, n) => [n % 5, Math.floor(n / 5) % 5, Math.floor(n / 25)])
    .flat()
    .map((part) => Math.round((part * 255) / 4)),
]);

/** Maximum cached colours. */
const maxKnown = 10_000;

interface ProfileColours {
  /** Linear sRGB to the space's linear light, and back. */
  readonly matrix: Matrix;
  readonly inverse: Matrix;
  /** Linear light of the 256 values per channel, 0..1 and rising. */
  readonly light: readonly Float64Array[];
}

/** @throws RangeError for an offset outside of the profile */
function readProfile(bytes: Buffer): ProfileColours | null {
  if (bytes.toString('latin1', 16, 24) !== 'RGB XYZ ') return null;
  const tags = new Map([...profileTags(bytes)].map(({ name, data }) => [name, data]));
  // Colour management prefers tables to primaries.
  if ([...tags.keys()].some((tag) => /^[AD]2B\d$/.test(tag))) return null;
  const [red, green, blue] = ['rXYZ', 'gXYZ', 'bXYZ'].map((tag) => primary(tags.get(tag)));
  const light = ['rTRC', 'gTRC', 'bTRC'].flatMap((tag) => readCurve(tags.get(tag)) ?? []);
  if (!red || !green || !blue) return null;
  const toLight = inverted(transposed([red, green, blue]));
  if (toLight === null || light.length < 3) return null;
  const matrix = product(toLight, srgbToXyz);
  const inverse = inverted(matrix);
  return inverse && { matrix, inverse, light };
}

const fixed = (bytes: Buffer, at: number) => bytes.readInt32BE(at) / 65_536;

function primary(tag: Buffer | undefined): Row | null {
  if (tag?.toString('latin1', 0, 4) !== 'XYZ ') return null;
  return [fixed(tag, 8), fixed(tag, 12), fixed(tag, 16)];
}

/** Returns the linear light of a channel's values; null for a falling or constant curve. */
function readCurve(tag: Buffer | undefined): Float64Array | null {
  const curve = tag && (tag.toString('latin1', 0, 4) === 'para' ? parametric(tag) : sampled(tag));
  if (!curve) return null;
  const light = Float64Array.from({ length: 256 }, (_, value) => curve(value / 255));
  const rises = light.every((value, index) => index === 0 || value >= (light[index - 1] ?? 0));
  return rises && light[255] !== light[0] ? light : null;
}

type Curve = (part: number) => number;

/** Reads the identity, a gamma or a table (ICC.1:2022, 10.6). */
function sampled(tag: Buffer): Curve | null {
  if (tag.toString('latin1', 0, 4) !== 'curv') return null;
  const count = tag.readUInt32BE(8);
  if (count === 0) return (part) => part;
  if (count === 1) return (part) => part ** (tag.readUInt16BE(12) / 256);
  return (part) => {
    const at = Math.min(Math.floor(part * (count - 1)), count - 2);
    const [low, high] = [tag.readUInt16BE(12 + 2 * at), tag.readUInt16BE(14 + 2 * at)];
    return (low + (high - low) * (part * (count - 1) - at)) / 65_535;
  };
}

/** Reads a parametric curve (ICC.1:2022, 10.18). */
function parametric(tag: Buffer): Curve | null {
  const type = tag.readUInt16BE(8);
  const count = [1, 3, 4, 5, 7][type];
  if (count === undefined) return null;
  const parameters = Array.from({ length: count }, (_, index) => fixed(tag, 12 + 4 * index));
  const [g = 1, a = 1, b = 0, c = 0, d = 0, e = 0, f = 0] = parameters;
  const power = (part: number) => Math.max(0, a * part + b) ** g;
  switch (type) {
    case 0:
      return (part) => part ** g;
    case 1:
      return (part) => (part >= -b / a ? power(part) : 0);
    case 2:
      return (part) => (part >= -b / a ? power(part) : 0) + c;
    default:
      return (part) => (part >= d ? power(part) + e : c * part + f);
  }
}
