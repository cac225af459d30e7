import t from 'tap';
import { planSample, sampleBase } from '../../samples/plan-sample.ts';
import { maxRefused, samples } from '../../samples/samples.ts';

/** Sides that follow from a ratio can differ by a pixel. */
const isNear = (first: number, second: number): boolean => Math.abs(first - second) <= 1;

for (const [kind, toSamples] of Object.entries(samples)) {
  t.test(`delivers the sampled URLs at their sizes: ${kind}`, async (t) => {
    const all = toSamples(sampleBase);
    t.equal(all.length, 400);
    t.equal(new Set(all.map(({ url }) => url)).size >= 380, true, 'different URLs');
    const refused: string[] = [];
    const wrong: string[] = [];
    for (const sample of all) {
      const { url, expected } = sample;
      const found = planSample(sample);
      if (typeof found === 'string') refused.push(`${url}: ${found}`);
      else if (!isNear(found.width, expected.width) || !isNear(found.height, expected.height)) {
        const is = `${found.width} × ${found.height}`;
        wrong.push(`${url}: ${is}, expected ${expected.width} × ${expected.height}`);
      }
    }
    t.comment(`${all.length - refused.length} of ${all.length}`);
    t.comment(refused.join('\n'));
    t.ok(refused.length <= (maxRefused[kind] ?? 0), `${refused.length} refused`);
    t.same(wrong, []);
  });
}
