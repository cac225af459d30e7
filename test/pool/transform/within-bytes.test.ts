import fc from 'fast-check';
import t from 'tap';
import { mostEncodes, withinBytes } from '../../../pool/transform/encode/within-bytes.ts';

/** An encoder whose bytes grow with the quality, by steps that are unlike each other. */
const encoder = fc
  .record({
    smallest: fc.integer({ min: 50, max: 5_000 }),
    growth: fc.array(fc.double({ min: 0, max: 0.08, noNaN: true }), {
      minLength: 99,
      maxLength: 99,
    }),
  })
  .map(({ smallest, growth }) => {
    const bytes = [Number.NaN, smallest];
    for (const part of growth) bytes.push(Math.round((bytes.at(-1) ?? 0) * Math.exp(part)));
    return bytes;
  });

t.test('what fits is found in four attempts, whatever the encoder does', async (t) => {
  const quality = fc.integer({ min: 1, max: 100 });
  await fc.assert(
    fc.asyncProperty(
      encoder,
      quality,
      fc.integer({ min: 1, max: 50_000 }),
      async (bytes, q, most) => {
        const tried: number[] = [];
        const { length } = (
          await withinBytes(q, most, async (at) => {
            tried.push(at);
            return { data: { length: bytes[at] ?? 0, byteLength: bytes[at] ?? 0 } as Uint8Array };
          })
        ).data;
        const smallest = bytes[1] ?? 0;
        return (
          tried.length <= mostEncodes &&
          tried[0] === q &&
          tried.every((at) => at >= 1 && at <= q) &&
          (smallest > most ? length === smallest : length <= most)
        );
      },
    ),
  );
  t.pass();
});

t.test('the result is near the limit where bytes grow as those of photographs', async (t) => {
  for (const growth of [0.015, 0.02, 0.03]) {
    for (const most of [3_000, 5_000, 8_000]) {
      const { data } = await withinBytes(90, most, async (at) => ({
        data: new Uint8Array(Math.round(10_000 * Math.exp(growth * (at - 90)))),
      }));
      t.ok(data.length > 0.9 * most || most > 10_000, `${data.length} of ${most} at ${growth}`);
    }
  }
});
