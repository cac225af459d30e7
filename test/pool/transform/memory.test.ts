import t from 'tap';
import { noise, shared, variant } from './pictures.ts';
import { openPool, patient } from './pools.ts';

// Noise does not compress, so that outputs are large; below 500 px a JPEG is quick to write.
const widest = 490;
const source = shared(await noise(widest, widest).jpeg({ quality: 90 }).toBuffer());
/** Far more than the heaps of both threads let accumulate before they collect garbage. */
const enoughBytes = 250 * 2 ** 20;

t.test('outputs are freed when they were delivered', async (t) => {
  const pool = openPool(t);
  let count = 0;
  const render = async () => {
    count += 1;
    // Another size each time, as the sizes of distinct variants are.
    const asked = variant({ width: widest - (count % 40), formats: ['jpeg'], quality: 100 });
    return (await pool.transform(source, asked, patient)).body.byteLength;
  };
  for (let warmUp = 0; warmUp < 100; warmUp += 1) await render();
  const before = process.memoryUsage.rss();
  let made = 0;
  while (made < enoughBytes) made += await render();
  const grown = process.memoryUsage.rss() - before;
  t.ok(grown < made / 2, `of ${mebibytes(made)} MiB, ${mebibytes(grown)} MiB are still in memory`);
});

const mebibytes = (bytes: number): number => Math.round(bytes / 2 ** 20);
