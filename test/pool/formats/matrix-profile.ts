import { matrixProfile, type Primaries } from '../../../pool/formats/metadata/written-profile.ts';
import { be16, be32 } from '../../hostile/inputs/chunks.ts';
import { withTags } from '../../hostile/inputs/icc.ts';

/** Profiles with three primaries, as other programs write them. */

/** Parameters of sRGB's curve (ICC.1:2022, 10.18). */
export const srgbCurve = [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045];

export const srgbPrimaries: Primaries = {
  name: 'camera',
  colours: [
    [0.43607, 0.22249, 0.01392],
    [0.38515, 0.71687, 0.09708],
    [0.14307, 0.06061, 0.7141],
  ],
};

/** Returns a profile with tables as curves (10.6); a single value is a gamma. */
export function withTable(profile: Buffer, values: readonly number[]): Buffer {
  const head = Buffer.concat([Buffer.from('curv\0\0\0\0'), be32(values.length)]);
  const data = Buffer.concat([head, ...values.map(be16), Buffer.alloc(2 * (values.length & 1))]);
  const curves = ['rTRC', 'gTRC', 'bTRC'].map((signature) => ({ signature, data }));
  return withTags(profile, curves);
}

const srgbLight = (part: number) =>
  part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;

/** sRGB's curve in 1,024 values. */
export const srgbTable = Array.from({ length: 1_024 }, (_, at) =>
  Math.round(65_535 * srgbLight(at / 1_023)),
);

/** Adobe RGB (1998), with the gamma of 563/256 that Adobe writes. */
export const adobeRgb = withTable(
  matrixProfile(
    {
      name: 'wide',
      colours: [
        [0.60974, 0.31111, 0.01947],
        [0.20528, 0.62567, 0.06087],
        [0.14919, 0.06322, 0.74457],
      ],
    },
    [1],
  ),
  [563],
);

/** ProPhoto RGB (ROMM), with a D50 white point. */
export const proPhoto = matrixProfile(
  {
    name: 'widest',
    colours: [
      [0.79767, 0.28804, 0],
      [0.13519, 0.71188, 0],
      [0.03134, 0.00009, 0.82491],
    ],
  },
  [1.8],
);
