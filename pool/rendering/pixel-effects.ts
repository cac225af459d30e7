import type { OutputInfo } from 'sharp';
import { type Colour, rgba } from '../colour.ts';

/** The raw pixels of one frame, which effects change in place: RGB or RGBA, not premultiplied. */
export interface PixelFrame {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
  readonly channels: OutputInfo['channels'];
}

export interface PixelArea {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** An area of the upright source, in pixels or in shares of its sides. */
export interface SourceArea extends PixelArea {
  readonly unit?: 'share';
}

type Channels = readonly [red: number, green: number, blue: number];

/** Replaces every colour. */
export function mapColours(
  { data, channels }: PixelFrame,
  map: (red: number, green: number, blue: number) => Channels,
): void {
  const clamped = new Uint8ClampedArray(data.buffer, data.byteOffset, data.byteLength);
  for (let at = 0; at < data.length; at += channels) {
    const [red, green, blue] = map(data[at] ?? 0, data[at + 1] ?? 0, data[at + 2] ?? 0);
    clamped[at] = red;
    clamped[at + 1] = green;
    clamped[at + 2] = blue;
  }
}

/** Returns the matrix of CSS `sepia()` as a function. @param amount 0..1 */
export function toSepia(amount: number) {
  const mix = (sepia: number, own: number) => own + (sepia - own) * amount;
  return (red: number, green: number, blue: number): Channels => [
    mix(0.393 * red + 0.769 * green + 0.189 * blue, red),
    mix(0.349 * red + 0.686 * green + 0.168 * blue, green),
    mix(0.272 * red + 0.534 * green + 0.131 * blue, blue),
  ];
}

/** Gives the squares of an area their mean colour; squares at its right and bottom are cut off. */
export function pixelate(frame: PixelFrame, area: PixelArea, side: number): void {
  const [right, bottom] = [area.left + area.width, area.top + area.height];
  for (let top = area.top; top < bottom; top += side) {
    const height = Math.min(side, bottom - top);
    for (let left = area.left; left < right; left += side) {
      average(frame, { left, top, width: Math.min(side, right - left), height });
    }
  }
}

/** Gives an area its mean colour, to which transparent pixels contribute by their opacity. */
function average({ data, width, channels }: PixelFrame, area: PixelArea): void {
  const sums = [0, 0, 0, 0];
  const rows = Array.from({ length: area.height }, (_, row) => (area.top + row) * width);
  const starts = rows.map((row) => (row + area.left) * channels);
  const length = area.width * channels;
  for (const start of starts) {
    for (let at = start; at < start + length; at += channels) {
      const alpha = channels === 4 ? (data[at + 3] ?? 0) : 1;
      for (let channel = 0; channel < 3; channel += 1) {
        sums[channel] = (sums[channel] ?? 0) + alpha * (data[at + channel] ?? 0);
      }
      sums[3] = (sums[3] ?? 0) + alpha;
    }
  }
  const [red = 0, green = 0, blue = 0, weight = 0] = sums;
  const colour = [red, green, blue].map((sum) => Math.round(sum / Math.max(weight, 1)));
  const pixel = [...colour, Math.round(weight / (area.width * area.height))].slice(0, channels);
  const line = Uint8Array.from({ length }, (_, at) => pixel[at % channels] ?? 0);
  for (const start of starts) data.set(line, start);
}

/**
 * Converts areas of the upright source to a frame's pixels, rounded outwards. Omits areas outside it.
 *
 * @param used the area of the source that the frame shows
 */
export function findAreas(
  { width, height }: PixelFrame,
  areas: readonly PixelArea[],
  used: PixelArea,
): readonly PixelArea[] {
  const place = (start: number, length: number, first: number, all: number, side: number) => {
    const toFrame = (at: number) => ((at - first) * side) / all;
    const from = Math.max(0, Math.floor(toFrame(start)));
    return [from, Math.min(side, Math.ceil(toFrame(start + length))) - from] as const;
  };
  return areas.flatMap((area) => {
    const [left, across] = place(area.left, area.width, used.left, used.width, width);
    const [top, down] = place(area.top, area.height, used.top, used.height, height);
    return across > 0 && down > 0 ? [{ left, top, width: across, height: down }] : [];
  });
}

/** Parts of an area's shorter side that stay visible: few enough to hide faces and plates. */
const visibleParts = 5;
const shorter = ({ width, height }: PixelArea): number => Math.min(width, height);

export const pixelateArea = (frame: PixelFrame, area: PixelArea): void =>
  pixelate(frame, area, Math.max(2, Math.ceil(shorter(area) / visibleParts)));

/**
 * Blurs an area without the pixels around it. Three means over a window are close to a Gaussian, and
 * take the same time for every sigma.
 */
export function blurArea(frame: PixelFrame, area: PixelArea): void {
  const { data, width, channels } = frame;
  const sigma = Math.max(2, shorter(area) / visibleParts);
  const radius = Math.round((Math.sqrt(4 * sigma ** 2 + 1) - 1) / 2);
  const [across, down] = [area.width, area.height];
  /** The area's colours, premultiplied, and alpha. */
  const values = new Float32Array(across * down * 4);
  const at = (pixel: number) =>
    ((area.top + Math.floor(pixel / across)) * width + area.left + (pixel % across)) * channels;
  for (let pixel = 0; pixel < across * down; pixel += 1) {
    const from = at(pixel);
    const alpha = channels === 4 ? (data[from + 3] ?? 0) / 255 : 1;
    for (let channel = 0; channel < 3; channel += 1) {
      values[pixel * 4 + channel] = alpha * (data[from + channel] ?? 0);
    }
    values[pixel * 4 + 3] = alpha;
  }
  for (let round = 0; round < 3; round += 1) {
    blurLines(values, { lines: down, between: 4 * across, length: across, step: 4 }, radius);
    blurLines(values, { lines: across, between: 4, length: down, step: 4 * across }, radius);
  }
  for (let pixel = 0; pixel < across * down; pixel += 1) {
    const to = at(pixel);
    const alpha = values[pixel * 4 + 3] ?? 0;
    for (let channel = 0; channel < 3; channel += 1) {
      data[to + channel] = Math.round((values[pixel * 4 + channel] ?? 0) / Math.max(alpha, 1e-3));
    }
    if (channels === 4) data[to + 3] = Math.round(255 * alpha);
  }
}

/** The rows or the columns of pixels with four values. */
interface Lines {
  readonly lines: number;
  readonly between: number;
  readonly length: number;
  readonly step: number;
}

/** Replaces each value with the mean of its neighbours on a line; the ends continue outside. */
function blurLines(values: Float32Array, { lines, between, length, step }: Lines, radius: number) {
  const line = new Float32Array(length);
  const value = (index: number) => line[Math.min(length - 1, Math.max(0, index))] ?? 0;
  for (let first = 0; first < lines * between; first += between) {
    for (let channel = first; channel < first + 4; channel += 1) {
      for (let index = 0; index < length; index += 1) {
        line[index] = values[channel + index * step] ?? 0;
      }
      let sum = 0;
      for (let index = -radius; index <= radius; index += 1) sum += value(index);
      for (let index = 0; index < length; index += 1) {
        values[channel + index * step] = sum / (2 * radius + 1);
        sum += value(index + radius + 1) - value(index - radius);
      }
    }
  }
}

/** Two colours for black and white. */
export interface Duotone {
  readonly dark: Colour;
  readonly light: Colour;
}

/** Maps luma (ITU-R BT.709, as in CSS `grayscale()`) to the colours between two. */
export function toDuotone({ dark, light }: Duotone) {
  const [from, to] = [rgba(dark), rgba(light)];
  const colours = Array.from({ length: 256 }, (_, luma): Channels => {
    const mix = (a: number, b: number) => a + ((b - a) * luma) / 255;
    return [mix(from.r, to.r), mix(from.g, to.g), mix(from.b, to.b)];
  });
  const black: Channels = [0, 0, 0];
  return (red: number, green: number, blue: number): Channels =>
    colours[Math.round(0.2126 * red + 0.7152 * green + 0.0722 * blue)] ?? black;
}

/** Darkens towards the corners, with the square of the distance. @param strength 0..1, at corners */
export function vignette({ data, width, height, channels }: PixelFrame, strength: number): void {
  const squares = (side: number) =>
    Float64Array.from({ length: side }, (_, at) => ((2 * at + 1) / side - 1) ** 2);
  const [across, down] = [squares(width), squares(height)];
  for (let y = 0, start = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1, start += channels) {
      const factor = 1 - (strength * ((across[x] ?? 0) + (down[y] ?? 0))) / 2;
      for (let at = start; at < start + 3; at += 1) data[at] = Math.round((data[at] ?? 0) * factor);
    }
  }
}
