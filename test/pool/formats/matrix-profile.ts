import { be16, be32 } from '../../hostile/inputs/chunks.ts';
import { profileOf } from '../../hostile/inputs/icc.ts';

type Xyz = readonly [number, number, number];

/** A colour space with three primaries, in the XYZ of profiles (D50). */
interface Colours {
  readonly name: string;
  readonly primaries: readonly [Xyz, Xyz, Xyz];
  readonly curve: Buffer;
}

const fixed = (value: number) => be32(Math.round(value * 65_536));
const typed = (type: string, ...parts: readonly Buffer[]) =>
  Buffer.concat([Buffer.from(`${type}\0\0\0\0`, 'latin1'), ...parts]);
const xyz = (...values: Xyz) => typed('XYZ ', ...values.map(fixed));

/** ICC.1:2022, 10.6: one gamma, with 8 bits of fraction. */
export const gammaCurve = (gamma: number) =>
  typed('curv', be32(1), be16(Math.round(gamma * 256)), be16(0));

const srgbLight = (part: number) =>
  part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;

/** The curve of sRGB as a table, and as parameters (10.18). */
export const srgbTable = typed(
  'curv',
  be32(1_024),
  ...Array.from({ length: 1_024 }, (_, at) => be16(Math.round(65_535 * srgbLight(at / 1_023)))),
);
export const srgbParameters = typed(
  'para',
  be16(3),
  be16(0),
  ...[2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045].map(fixed),
);

export const srgbPrimaries = [
  [0.43607, 0.22249, 0.01392],
  [0.38515, 0.71687, 0.09708],
  [0.14307, 0.06061, 0.7141],
] as const;

/** Adobe RGB (1998), whose gamma is 563/256. */
export const adobeRgb: Colours = {
  name: 'wide',
  primaries: [
    [0.60974, 0.31111, 0.01947],
    [0.20528, 0.62567, 0.06087],
    [0.14919, 0.06322, 0.74457],
  ],
  curve: gammaCurve(563 / 256),
};

/** ProPhoto RGB (ROMM), whose white is D50. */
export const proPhoto: Colours = {
  name: 'widest',
  primaries: [
    [0.79767, 0.28804, 0],
    [0.13519, 0.71188, 0],
    [0.03134, 0.00009, 0.82491],
  ],
  curve: gammaCurve(1.8),
};

export function matrixProfile({ name, primaries: [red, green, blue], curve }: Colours): Buffer {
  const described = Buffer.concat([be32(name.length + 1), Buffer.from(name.padEnd(91, '\0'))]);
  const tags = {
    desc: typed('desc', described),
    cprt: typed('text', Buffer.from('none\0\0\0\0')),
    wtpt: xyz(0.9642, 1, 0.8249),
    rXYZ: xyz(...red),
    gXYZ: xyz(...green),
    bXYZ: xyz(...blue),
    rTRC: curve,
    gTRC: curve,
    bTRC: curve,
  };
  const header = Buffer.alloc(128);
  header.writeUInt32BE(0x02_10_00_00, 8);
  header.write('mntrRGB XYZ ', 12, 'latin1');
  header.write('acsp', 36, 'latin1');
  xyz(0.9642, 1, 0.8249).copy(header, 68, 8);
  return profileOf(
    header,
    Object.entries(tags).map(([signature, data]) => ({ signature, data })),
  );
}
