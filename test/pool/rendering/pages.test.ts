import sharp from 'sharp';
import t from 'tap';
import { openContainer } from '../../../pool/formats/source-formats.ts';
import { described, drawn, plain } from './drawn.ts';
import { animation, blue, green, near, red, tiffOfPages } from './pictures.ts';

const colours = [red, green, blue];
const gif = await animation('gif', colours, { width: 40, height: 20 });
const webp = await animation('webp', colours, { width: 40, height: 20 });

t.test('returns a page as a single frame of an animation', async (t) => {
  for (const source of [gif, webp]) {
    for (const [page, colour] of colours.entries()) {
      for (const more of [{}, { rotate: 90, trim: 5 }, { width: 10, height: 10, blur: 1 }]) {
        const output = await drawn(source, { page, formats: ['webp'], ...more });
        t.equal((await output.header()).pages ?? 1, 1);
        t.ok(near(output.at(4, 4), colour, 12), `frame ${page}`);
      }
    }
    await t.rejects(drawn(source, { page: 3 }), {
      code: 'parameter_invalid',
      message: 'page is 3, but the source has 3 pages, 0 to 2.',
    });
  }
  const { source, dominant } = await described(gif, { page: 2 });
  t.match([source, dominant], [{ pages: 3, width: 40, height: 20 }, '#0000ff']);
});

t.test('sizes each TIFF page separately', async (t) => {
  for (const form of [{}, { little: false }, { big: true }, { big: true, little: false }]) {
    const source = tiffOfPages(7, form);
    t.equal(openContainer(source).pages, 7, JSON.stringify(form));
    for (const page of [null, 0, 3, 6]) {
      const { size, at } = await drawn(source, { page });
      const index = page ?? 0;
      t.same(size, [(index % 5) + 1, 1]);
      t.same(at(0, 0), [index, index, index, 255]);
    }
    await t.rejects(drawn(source, { page: 7 }), { code: 'parameter_invalid', message: /7 pages/ });
  }
  t.match((await described(tiffOfPages(7), { page: 3 })).source, { pages: 7, width: 4, height: 1 });
});

t.test('counts one page in other images', async (t) => {
  const still = await plain(8, 8, red);
  t.same((await drawn(still, { page: 0 })).size, [8, 8]);
  const none = { code: 'parameter_invalid', message: /the source has only one page, 0/ };
  await t.rejects(drawn(still, { page: 1 }), none);
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>';
  await t.rejects(drawn(svg, { page: 1 }), none);
});

/**
 * Returns an AVIF of two images. The first is red and landscape. The second is grey, portrait and
 * primary.
 */
async function avifOfTwo(): Promise<Buffer> {
  const file = await sharp(await plain(40, 30, red, 0.5))
    .avif({ lossless: true })
    .toBuffer();
  // The second item is the alpha of the first; without the reference between them it is an image.
  file.write('free', file.indexOf('iref'), 'latin1');
  file.writeUInt16BE(2, file.indexOf('pitm') + 8);
  const property = file.indexOf('auxC');
  file.write('irot', property, 'latin1');
  file[property + 4] = 1;
  return file;
}

t.test('uses the primary image of an AVIF by default, even if it is not the first', async (t) => {
  const source = await avifOfTwo();
  const grey = [128, 128, 128];
  for (const [page, size, colour] of [
    [null, [30, 40], grey],
    [0, [40, 30], red],
    [1, [30, 40], grey],
  ] as const) {
    const output = await drawn(source, { page });
    t.same(output.size, size, `page ${page}`);
    t.ok(near(output.at(4, 4), colour), `page ${page}: ${output.at(4, 4)}`);
  }
  t.ok(near((await drawn(source, { trim: 5 })).at(4, 4), grey), 'also for trim');
  t.match((await drawn(source, { width: 15 })).size, [15, 20]);
});

t.test('counts the pages of a TIFF before it decodes them', async (t) => {
  t.same((await drawn(tiffOfPages(2_000), { page: 1_999 })).at(0, 0).slice(0, 1), [1_999 % 256]);
  const refused = { code: 'source_too_large', message: /more than 2000 pages/ };
  await t.rejects(drawn(tiffOfPages(3_000)), refused);
  const count = (source: Buffer) => openContainer(source).pages;
  t.equal(count(tiffOfPages(3, { last: 8 + 5 * 256 })), 3, 'also with a circular link');
  t.equal(count(tiffOfPages(3).subarray(0, -102)), 2, 'and in a truncated file');
  t.equal(count(gif), 0, 'only in a TIFF');
});
