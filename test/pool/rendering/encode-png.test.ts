import sharp, { type Sharp } from 'sharp';
import t from 'tap';
import { indexedPng } from '../../../pool/rendering/encode/indexed-png.ts';
import type { Variant } from '../../../pool/variant.ts';
import { drawn, rendered } from './drawn.ts';
import { noise, quarters } from './pictures.ts';

async function raw(image: Sharp) {
  const { data, info } = await image.raw().toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height, channels: info.channels };
}

/** Returns an image with `count` colours, each in `times` pixels, 16 pixels wide. */
function colours(count: number, channels: 1 | 2 | 3 | 4, times = 5) {
  const pixels = count * times;
  const height = Math.ceil(pixels / 16);
  const data = Buffer.alloc(16 * height * channels);
  for (let at = 0; at < 16 * height; at += 1) {
    const colour = (at * 7) % count;
    const pixel = [colour & 255, 255 - (colour & 255), colour >> 8, 255 - (colour % 9)];
    data.set(
      channels === 2 ? [colour & 255, 255 - (colour >> 8)] : pixel.slice(0, channels),
      at * channels,
    );
  }
  return { data, width: 16, height, channels };
}

function open({ data, ...picture }: ReturnType<typeof colours>): Sharp {
  return sharp(data, { raw: picture });
}

t.test('encodes up to 256 colours exactly at every depth and number of channels', async (t) => {
  for (const count of [1, 2, 3, 4, 5, 16, 17, 255, 256]) {
    for (const channels of [1, 2, 3, 4] as const) {
      if (channels === 1 && count > 16) continue;
      const picture = colours(count, channels);
      const png = indexedPng(picture);
      if (png === null) return t.fail(`${count} colours of ${channels} channels`);
      const header = await sharp(png).metadata();
      t.equal(header.isPalette, true);
      t.same([header.width, header.height], [picture.width, picture.height]);
      const expected = await open(picture).toColourspace('srgb').ensureAlpha().raw().toBuffer();
      const seen = await sharp(png, { failOn: 'warning' }).ensureAlpha().raw().toBuffer();
      t.ok(seen.equals(expected), `${count} colours of ${channels} channels`);
    }
  }
});

t.test('encodes widths that do not fill bytes exactly', async (t) => {
  for (const width of [1, 2, 3, 5, 7, 9, 13]) {
    const picture = await raw(quarters(width, 20));
    const png = indexedPng(picture);
    t.ok(png !== null && picture.data.equals(await sharp(png).raw().toBuffer()), `${width} px`);
  }
});

t.test('shares one palette entry among transparent pixels', async (t) => {
  const picture = colours(200, 4);
  for (let at = 0; at < picture.data.length / 2; at += 4) {
    picture.data.set([at & 255, (at * 3) & 255, at >> 8, 0], at);
  }
  t.ok(indexedPng(picture) !== null);
});

t.test('rejects images with too many colours or too few pixels', async (t) => {
  t.equal(indexedPng(colours(257, 3)), null);
  t.equal(indexedPng(colours(300, 4)), null);
  t.equal(indexedPng(await raw(noise(200, 200))), null, 'a photograph');
  t.equal(indexedPng(colours(17, 1)), null, 'more greys than a palette saves');
  t.equal(indexedPng(colours(16, 3, 3)), null, 'a palette as large as the image');
});

t.test('uses a palette only if it loses no colour', async (t) => {
  const kind = async (source: Uint8Array, options: Partial<Variant> = {}) => {
    const { body } = await rendered(source, options);
    // IHDR contains the bits, then the colour type; type 3 is indexed.
    return body[25] === 3 ? body[24] : null;
  };
  const few = await quarters(80, 60).png().toBuffer();
  t.equal(await kind(few), 2);
  t.equal(await kind(await noise(80, 60).png().toBuffer()), null);
  t.equal(await kind(few, { stripMetadata: false }), null, 'indexed PNGs have no metadata');
  t.same((await drawn(few, { width: 40 })).at(1, 1), [255, 0, 0, 255]);
});
