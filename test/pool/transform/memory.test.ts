import sharp from 'sharp';
import t from 'tap';
import type { OutputFormat } from '../../../pool/transform/variant.ts';
import { plainVariant } from '../../../pool/transform/variant.ts';
import { openPool, patient } from './pools.ts';

/** What does not compress, so that every output is large. */
const noise = await sharp({
  create: {
    width: 1000,
    height: 1000,
    channels: 3,
    background: '#777',
    noise: { type: 'gaussian', mean: 128, sigma: 60 },
  },
})
  .png()
  .toBuffer();

/** Formats, each with so many renders that their outputs have tens of megabytes. */
const formats: ReadonlyArray<readonly [OutputFormat, number]> = [
  ['jpeg', 40],
  ['png', 16],
  ['webp', 12],
];

t.test('outputs are freed when they were delivered', async (t) => {
  const pool = openPool(t);
  let width = 1000;
  const render = async (format: OutputFormat) => {
    // Another size each time, as the sizes of distinct variants are.
    width = width === 960 ? 1000 : width - 1;
    const variant = { ...plainVariant, width, formats: [format], quality: 98 };
    return (await pool.transform(noise, variant, patient)).body.byteLength;
  };
  for (const [format] of formats) {
    for (let warmUp = 0; warmUp < 4; warmUp += 1) await render(format);
  }
  const before = process.memoryUsage.rss();
  let made = 0;
  for (const [format, renders] of formats) {
    for (let count = 0; count < renders; count += 1) made += await render(format);
  }
  const grown = process.memoryUsage.rss() - before;
  t.ok(grown < 0.7 * made, `of ${mebibytes(made)} MiB made, ${mebibytes(grown)} MiB are held`);
});

const mebibytes = (bytes: number): number => Math.round(bytes / 2 ** 20);
