import sharp from 'sharp';
import t from 'tap';
import { ColourSpace } from '../../../pool/formats/metadata/colour-space.ts';
import {
  adobeRgb,
  gammaCurve,
  matrixProfile,
  proPhoto,
  srgbParameters,
  srgbPrimaries,
  srgbTable,
} from './matrix-profile.ts';

const profiles = {
  'Adobe RGB': matrixProfile(adobeRgb),
  'ProPhoto RGB': matrixProfile(proPhoto),
  'gamma 2.2': matrixProfile({
    name: 'sRGB of a camera',
    primaries: srgbPrimaries,
    curve: gammaCurve(2.2),
  }),
  'Display P3': (await sharp({ create: { width: 1, height: 1, channels: 3, background: 'red' } })
    .withIccProfile('p3')
    .png()
    .toBuffer()
    .then((png) => sharp(png).metadata())
    .then(({ icc }) => icc)) as Buffer,
};

/** Every channel in 17 steps, which contains colours outside of sRGB. */
const side = 17;
const colours = Buffer.from(
  Array.from({ length: side ** 3 }, (_, n) => [
    n % side,
    Math.floor(n / side) % side,
    Math.floor(n / side ** 2),
  ])
    .flat()
    .map((step) => Math.round((step * 255) / (side - 1))),
);

for (const [name, profile] of Object.entries(profiles)) {
  t.test(`${name} is converted to sRGB as colour management does it`, async (t) => {
    const folder = t.testdir({ 'a.icc': profile });
    const raw = { width: side, height: side ** 2, channels: 3 } as const;
    // Attached without a conversion: the profile's own values are those of the file.
    const tagged = await sharp(colours, { raw }).png().withIccProfile(`${folder}/a.icc`).toBuffer();
    t.ok((await sharp(tagged).metadata()).icc, 'the profile is attached');
    const source = await sharp(tagged, { ignoreIcc: true }).raw().toBuffer();
    const expected = await sharp(tagged).raw().toBuffer();
    const converted = Buffer.from(source);
    ColourSpace.of(profile)?.toSrgb(converted, 3);
    const differences = converted.map((value, at) => Math.abs(value - (expected[at] ?? 0)));
    t.ok(Math.max(...differences) <= 2, `at most ${Math.max(...differences)} levels`);
    const mean = differences.reduce((sum, value) => sum + value, 0) / differences.length;
    t.ok(mean < 0.2, `${mean.toFixed(3)} levels in the mean`);
  });
}

t.test('alpha is kept', async (t) => {
  const pixels = Uint8Array.from([10, 200, 30, 7, 255, 255, 255, 0]);
  ColourSpace.of(profiles['Display P3'])?.toSrgb(pixels, 4);
  t.strictSame([pixels[3], pixels[7]], [7, 0]);
  t.strictSame([...pixels.subarray(4, 7)], [255, 255, 255], 'white is white');
});

t.test('a space is sRGB by its colours, not by its name', async (t) => {
  const is = (name: string, primaries: typeof srgbPrimaries, curve: Buffer) =>
    ColourSpace.of(matrixProfile({ name, primaries, curve }))?.isSrgb;
  const [red, green, blue] = srgbPrimaries;
  t.equal(is('camera', srgbPrimaries, srgbTable), true, 'a table');
  t.equal(is('editor', srgbPrimaries, srgbParameters), true, 'parameters');
  t.equal(is('sRGB IEC61966-2.1', srgbPrimaries, gammaCurve(1)), false, 'linear');
  t.equal(is('sRGB IEC61966-2.1', srgbPrimaries, gammaCurve(2.2)), false, 'gamma 2.2');
  const shifted = [[red[0] + 0.02, red[1], red[2]], green, blue] as unknown as typeof srgbPrimaries;
  t.equal(is('sRGB IEC61966-2.1', shifted, srgbTable), false, 'another red');
  t.equal(ColourSpace.of(profiles['Display P3'])?.isSrgb, false, 'Display P3');
});

t.test('damaged profiles have no space', async (t) => {
  for (const length of [0, 7, 128, 131, 200, 300]) {
    t.equal(ColourSpace.of(profiles['Adobe RGB'].subarray(0, length)), null, `${length} bytes`);
  }
});
