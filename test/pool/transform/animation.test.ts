import sharp from 'sharp';
import t from 'tap';
import { animation, blue, green, near, pixels, red, shared, variant, yellow } from './pictures.ts';
import { openPool, patient } from './pools.ts';

const pool = openPool(t);
const colours = [red, green, blue, yellow];
const delays = [100, 150, 200, 250];
const gif = shared(await animation('gif', colours, { width: 40, height: 20 }));
const webp = shared(await animation('webp', colours, { width: 40, height: 20 }));

for (const [from, source] of Object.entries({ gif, webp })) {
  for (const to of ['gif', 'webp'] as const) {
    t.test(`${from} to ${to} keeps frames, times and loop`, async (t) => {
      for (const fit of ['cover', 'contain', 'fill'] as const) {
        const asked = variant({ width: 18, height: 18, fit, formats: [to] });
        const made = await pool.transform(source, asked, patient);
        t.same([made.width, made.height], [18, 18], 'the size is that of a frame');
        const header = await sharp(made.body, { pages: -1 }).metadata();
        t.equal(header.pages, 4);
        t.same([header.width, header.pageHeight], [18, 18]);
        t.same(header.delay, delays);
        t.equal(header.loop, 3);
        for (const [page, colour] of colours.entries()) {
          const seen = await pixels(made.body, page);
          t.ok(near(seen.at(9, 9), colour, 12), `frame ${page}`);
        }
      }
    });
  }
}

t.test('a size that does not divide keeps the frames apart', async (t) => {
  const source = shared(await animation('gif', colours, { width: 37, height: 23 }));
  for (const width of [36, 31, 17, 5]) {
    const made = await pool.transform(source, variant({ width, formats: ['webp'] }), patient);
    t.same([made.width, made.height], [width, Math.max(1, Math.round((width * 23) / 37))]);
    for (const [page, colour] of colours.entries()) {
      const seen = await pixels(made.body, page);
      t.ok(near(seen.at(0, 0), colour, 30), `${width}: top of frame ${page}`);
      t.ok(near(seen.at(0, made.height - 1), colour, 30), `${width}: bottom of frame ${page}`);
    }
  }
});

t.test('a still format has the first frame', async (t) => {
  for (const format of ['jpeg', 'png', 'avif'] as const) {
    const made = await pool.transform(gif, variant({ formats: [format] }), patient);
    t.same([made.width, made.height], [40, 20]);
    const seen = await pixels(made.body);
    t.same([seen.width, seen.height], [40, 20]);
    t.ok(near(seen.at(20, 10), red, 12), format);
  }
});

t.test('negotiation does not still it', async (t) => {
  const asked = variant({ formats: ['avif', 'jpeg'], negotiated: true });
  const made = await pool.transform(gif, asked, patient);
  t.equal(made.format, 'gif');
  t.equal((await sharp(made.body, { pages: -1 }).metadata()).pages, 4);
});
