import sharp from 'sharp';
import t from 'tap';
import { openPool, patient } from '../execution/pools.ts';
import { animation, blue, green, near, pixels, red, shared, variant, yellow } from './pictures.ts';

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

t.test('a GIF may loop as often and show a frame as long as its fields hold', async (t) => {
  const bytes = Buffer.from(gif);
  const loops = bytes.indexOf('NETSCAPE2.0') + 'NETSCAPE2.0'.length + 2;
  bytes.writeUInt16LE(65_535, loops);
  // The first graphic control extension: its delay is in hundredths of a second.
  bytes.writeUInt16LE(65_535, bytes.indexOf(Buffer.from([0x21, 0xf9, 0x04])) + 4);
  const { loop, delay } = await sharp(bytes, { pages: -1 }).metadata();
  t.same([loop, delay?.[0]], [65_536, 655_350], 'what decoders make of it');
  for (const format of ['gif', 'webp'] as const) {
    for (const rotate of [0, 30]) {
      const asked = variant({ formats: [format], rotate });
      const made = await pool.transform(shared(bytes), asked, patient);
      const header = await sharp(made.body, { pages: -1 }).metadata();
      t.equal(header.pages, 4, `${format}, turned by ${rotate}`);
      t.ok(Number(header.loop) >= 65_535, `${header.loop} loops`);
      t.ok(Number(header.delay?.[0]) > 65_000, `${header.delay?.[0]} ms`);
      t.equal(header.delay?.[1], 150, 'the others are as they were');
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
  t.equal(made.contentType, 'image/gif');
  t.equal((await sharp(made.body, { pages: -1 }).metadata()).pages, 4);
});
