import sharp from 'sharp';
import t from 'tap';
import { ColourSpace } from '../../../pool/formats/metadata/colour-space.ts';
import { matrixProfile } from '../../../pool/formats/metadata/written-profile.ts';
import { embedded } from '../../hostile/inputs/embed.ts';
import {
  adobeRgb,
  proPhoto,
  srgbCurve,
  srgbPrimaries,
  srgbTable,
  withTable,
} from './matrix-profile.ts';

const red = sharp({ create: { width: 1, height: 1, channels: 3, background: 'red' } });
const displayP3 = await sharp(await red.withIccProfile('p3').png().toBuffer()).metadata();
const profiles = {
  'Adobe RGB': adobeRgb,
  'ProPhoto RGB': proPhoto,
  'gamma 2.2': matrixProfile(srgbPrimaries, [2.2]),
  'Display P3': displayP3.icc as Buffer,
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
  t.test(`converts ${name} to sRGB like colour management`, async (t) => {
    const raw = { width: side, height: side ** 2, channels: 3 } as const;
    const tagged = embedded.png(await sharp(colours, { raw }).png().toBuffer(), { icc: profile });
    const expected = await sharp(tagged).raw().toBuffer();
    const converted = Buffer.from(colours);
    ColourSpace.of(profile)?.toSrgb(converted, 3);
    const differences = converted.map((value, at) => Math.abs(value - (expected[at] ?? 0)));
    t.ok(Math.max(...differences) <= 2, `at most ${Math.max(...differences)} levels`);
    const mean = differences.reduce((sum, value) => sum + value, 0) / differences.length;
    t.ok(mean < 0.2, `${mean.toFixed(3)} levels in the mean`);
  });
}

t.test('keeps alpha', async (t) => {
  const pixels = Uint8Array.from([10, 200, 30, 7, 255, 255, 255, 0]);
  ColourSpace.of(profiles['Display P3'])?.toSrgb(pixels, 4);
  t.strictSame([pixels[3], pixels[7]], [7, 0]);
  t.strictSame([...pixels.subarray(4, 7)], [255, 255, 255], 'white is white');
});

t.test('recognises sRGB by its colours, not by its name', async (t) => {
  const is = (profile: Buffer) => ColourSpace.of(profile)?.isSrgb;
  const named = { ...srgbPrimaries, name: 'sRGB IEC61966-2.1' };
  t.equal(is(matrixProfile(srgbPrimaries, srgbCurve)), true, 'parameters');
  t.equal(is(withTable(matrixProfile(srgbPrimaries, [1]), srgbTable)), true, 'a table');
  t.equal(is(matrixProfile(named, [1])), false, 'linear');
  t.equal(is(matrixProfile(named, [2.2])), false, 'gamma 2.2');
  const [[x, y, z], green, blue] = named.colours;
  const shifted = { ...named, colours: [[x + 0.02, y, z], green, blue] as const };
  t.equal(is(matrixProfile(shifted, srgbCurve)), false, 'another red');
  t.equal(is(profiles['Display P3']), false, 'Display P3');
});

t.test('returns no space for damaged profiles', async (t) => {
  for (const length of [0, 7, 128, 131, 200, 300]) {
    t.equal(ColourSpace.of(profiles['Adobe RGB'].subarray(0, length)), null, `${length} bytes`);
  }
});
