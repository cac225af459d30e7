import sharp from 'sharp';
import t from 'tap';
import { drawn } from './drawn.ts';
import { animation, blue, green, near, red, yellow } from './pictures.ts';

const colours = [red, green, blue, yellow];
const delays = [100, 150, 200, 250];
const gif = await animation('gif', colours, { width: 40, height: 20 });
const webp = await animation('webp', colours, { width: 40, height: 20 });

for (const [from, source] of Object.entries({ gif, webp })) {
  for (const to of ['gif', 'webp'] as const) {
    t.test(`${from} to ${to} keeps frames, delays and loop count`, async (t) => {
      for (const fit of ['cover', 'contain', 'fill'] as const) {
        const made = await drawn(source, { width: 18, height: 18, fit, formats: [to] });
        t.same(made.size, [18, 18], 'the size of a frame');
        const { pages, width, pageHeight, delay, loop } = await made.header();
        t.same([pages, width, pageHeight, delay, loop], [4, 18, 18, delays, 3]);
        for (const [page, colour] of colours.entries())
          t.ok(near((await made.frame(page)).at(9, 9), colour, 12), `frame ${page}`);
      }
    });
  }
}

t.test('sizes that do not divide evenly do not mix frames', async (t) => {
  const source = await animation('gif', colours, { width: 37, height: 23 });
  for (const width of [36, 31, 17, 5]) {
    const made = await drawn(source, { width, formats: ['webp'] });
    t.same(made.size, [width, Math.max(1, Math.round((width * 23) / 37))]);
    for (const [page, colour] of colours.entries()) {
      const { at } = await made.frame(page);
      t.ok(near(at(0, 0), colour, 30), `${width}: top of frame ${page}`);
      t.ok(near(at(0, made.height - 1), colour, 30), `${width}: bottom of frame ${page}`);
    }
  }
});

t.test('the maximum loop count and delay of a GIF are kept', async (t) => {
  const bytes = Buffer.from(gif);
  bytes.writeUInt16LE(65_535, bytes.indexOf('NETSCAPE2.0') + 'NETSCAPE2.0'.length + 2);
  // The first graphic control extension: its delay is in hundredths of a second.
  bytes.writeUInt16LE(65_535, bytes.indexOf(Buffer.from([0x21, 0xf9, 0x04])) + 4);
  const { loop, delay } = await sharp(bytes, { pages: -1 }).metadata();
  t.same([loop, delay?.[0]], [65_536, 655_350], 'as decoded');
  for (const format of ['gif', 'webp'] as const) {
    for (const rotate of [0, 30]) {
      const header = await (await drawn(bytes, { formats: [format], rotate })).header();
      t.equal(header.pages, 4, `${format}, rotated by ${rotate}`);
      t.ok(Number(header.loop) >= 65_535, `${header.loop} loops`);
      t.ok(Number(header.delay?.[0]) > 65_000, `${header.delay?.[0]} ms`);
      t.equal(header.delay?.[1], 150, 'the other delays are unchanged');
    }
  }
});

t.test('a format without animation has the first frame', async (t) => {
  for (const format of ['jpeg', 'png', 'avif'] as const) {
    const { size, at, header } = await drawn(gif, { formats: [format] });
    const { width, height } = await header();
    t.same([size, width, height], [[40, 20], 40, 20]);
    t.ok(near(at(20, 10), red, 12), format);
  }
});

t.test('negotiation keeps the animation', async (t) => {
  const made = await drawn(gif, { formats: ['avif', 'jpeg'], negotiated: true });
  t.equal(made.contentType, 'image/gif');
  t.equal((await made.header()).pages, 4);
});
