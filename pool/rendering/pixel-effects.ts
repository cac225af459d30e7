/** The raw pixels of one frame, which effects change in place: RGB or RGBA, not premultiplied. */
export interface PixelFrame {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
  readonly channels: number;
}

interface Area {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
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
export function pixelate(frame: PixelFrame, area: Area, side: number): void {
  const [right, bottom] = [area.left + area.width, area.top + area.height];
  for (let top = area.top; top < bottom; top += side) {
    const height = Math.min(side, bottom - top);
    for (let left = area.left; left < right; left += side) {
      average(frame, { left, top, width: Math.min(side, right - left), height });
    }
  }
}

/** Gives an area its mean colour, to which transparent pixels contribute by their opacity. */
function average({ data, width, channels }: PixelFrame, area: Area): void {
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
