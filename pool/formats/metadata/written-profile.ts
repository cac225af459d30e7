type Xyz = readonly [x: number, y: number, z: number];

export interface Primaries {
  readonly name: string;
  /** Red, green and blue, adapted to the D50 of profiles (Bradford). */
  readonly colours: readonly [Xyz, Xyz, Xyz];
}

/** The parameters of the function types 0, 3 and 4 of a profile (ICC.1:2022, 10.18). */
export type Curve = readonly number[];

/** Function types by the number of their parameters. */
const curveTypes: Readonly<Record<number, number>> = { 1: 0, 5: 3, 7: 4 };

export const srgbCurve: Curve = [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045];

/** Writes a profile with primaries and a common curve. */
export function matrixProfile({ name, colours }: Primaries, curve: Curve): Buffer {
  const [red, green, blue] = colours.map((colour) => writeTag('XYZ ', encodeS15Fixed16(colour)));
  const trc = curveTag(curve);
  return writeProfile('RGB ', [
    ['desc', text(name)],
    ['cprt', text('CC0')],
    ['wtpt', writeTag('XYZ ', encodeS15Fixed16(d50))],
    ['rXYZ', red],
    ['gXYZ', green],
    ['bXYZ', blue],
    ['rTRC', trc],
    ['gTRC', trc],
    ['bTRC', trc],
  ]);
}

/** Writes a grey profile with a curve. */
export const greyProfile = (name: string, curve: Curve): Buffer =>
  writeProfile('GRAY', [
    ['desc', text(name)],
    ['cprt', text('CC0')],
    ['wtpt', writeTag('XYZ ', encodeS15Fixed16(d50))],
    ['kTRC', curveTag(curve)],
  ]);

export const curveTag = (curve: Curve): Buffer =>
  writeTag('para', Buffer.from([0, curveTypes[curve.length] ?? 0, 0, 0]), encodeS15Fixed16(curve));

/**
 * Returns the curve for samples from 16 to 235 instead of 0 to 255.
 *
 * @param curve of function type 0 or 3
 */
export function limitedRangeCurve([gamma = 1, a = 1, b = 0, c = 0, d = 0]: Curve): Curve {
  const [scale, black] = [255 / 219, 16 / 219];
  return [gamma, a * scale, b - a * black, c * scale, (d + black) / scale, 0, -c * black];
}

/** The white of profiles. */
export const d50: Xyz = [0.9642, 1, 0.8249];
const headerBytes = 128;

/** Tags with the same data share it. */
export function writeProfile(
  space: 'RGB ' | 'GRAY' | 'CMYK',
  tags: readonly (readonly [name: string, data: Buffer | undefined])[],
): Buffer {
  const header = Buffer.alloc(headerBytes);
  const isPrinter = space === 'CMYK';
  // Version 4.4; printers raise version 4's black.
  header.writeUInt32BE(isPrinter ? 0x02_40_00_00 : 0x04_40_00_00, 8);
  header.write(`${isPrinter ? 'prtr' : 'mntr'}${space}XYZ `, 12, 'latin1');
  header.write('acsp', 36, 'latin1');
  encodeS15Fixed16(d50).copy(header, 68);
  const table = Buffer.alloc(4 + 12 * tags.length);
  table.writeUInt32BE(tags.length);
  const offsets = new Map<Buffer, number>();
  const parts: Buffer[] = [header, table];
  let end = headerBytes + table.length;
  for (const [index, [name, data = Buffer.of()]] of tags.entries()) {
    const at = 4 + 12 * index;
    table.write(name, at, 'latin1');
    table.writeUInt32BE(offsets.get(data) ?? end, at + 4);
    table.writeUInt32BE(data.length, at + 8);
    if (offsets.has(data)) continue;
    offsets.set(data, end);
    parts.push(data);
    end += data.length;
  }
  header.writeUInt32BE(end);
  return Buffer.concat(parts);
}

/** Writes a tag, padded to a multiple of four bytes. */
export function writeTag(type: string, ...data: readonly Buffer[]): Buffer {
  const bytes = Buffer.concat([Buffer.from(`${type}\0\0\0\0`, 'latin1'), ...data]);
  return Buffer.concat([bytes, Buffer.alloc(-bytes.length & 3)]);
}

/** Writes numbers with 16 bits before and after the point. */
export function encodeS15Fixed16(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) {
    bytes.writeInt32BE(Math.round(value * 65_536), 4 * index);
  }
  return bytes;
}

/** Writes a text in a single language (10.15). */
function text(content: string): Buffer {
  const utf16 = Buffer.from(content, 'utf16le').swap16();
  const head = Buffer.alloc(20);
  head.writeUInt32BE(1);
  head.writeUInt32BE(12, 4);
  head.write('enUS', 8, 'latin1');
  head.writeUInt32BE(utf16.length, 12);
  head.writeUInt32BE(28, 16);
  return writeTag('mluc', head, utf16);
}
