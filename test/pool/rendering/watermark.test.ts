import sharp from 'sharp';
import t from 'tap';
import { type Gravity, gravities } from '../../../contract/image-terms.ts';
import type { Variant } from '../../../pool/variant.ts';
import { drawn, findBox, plain } from './drawn.ts';
import { claimingPng, near, type Rgb, type WatermarkChanges, watermark } from './pictures.ts';

const white: Rgb = [255, 255, 255];
const brown: Rgb = [200, 100, 50];
const source = await plain(100, 60, brown);
const mark = await plain(40, 20, white);

/** Returns the rectangle of white pixels in an image. */
async function marked(
  changed: WatermarkChanges,
  options: Partial<Variant> = {},
  bytes: Uint8Array = mark,
) {
  const image = await drawn(source, { ...options, layers: watermark(changed) }, bytes);
  return findBox(image, (pixel) => near(pixel, white, 20));
}

const places: Readonly<Record<Gravity, readonly [left: number, top: number]>> = {
  northwest: [5, 5],
  north: [40, 5],
  northeast: [75, 5],
  west: [5, 25],
  center: [40, 25],
  east: [75, 25],
  southwest: [5, 45],
  south: [40, 45],
  southeast: [75, 45],
};

t.test('draws the watermark at its position with its margin', async (t) => {
  for (const position of gravities) {
    const [left, top] = places[position];
    t.same(await marked({ position, margin: 5 }), [left, top, 20, 10], position);
  }
});

t.test('reduces a margin that does not fit', async (t) => {
  for (const margin of [60, 10_000]) {
    t.same(await marked({ position: 'northwest', margin }), [margin === 60 ? 60 : 80, 50, 20, 10]);
    t.same(await marked({ position: 'southeast', margin }), [margin === 60 ? 20 : 0, 0, 20, 10]);
  }
});

t.test("takes the width as a percentage of the output's width", async (t) => {
  t.same(await marked({ scale: 1 }), [99, 59, 1, 1]);
  t.same(await marked({ scale: 50 }), [50, 35, 50, 25]);
  t.same(await marked({ scale: 100 }), [0, 10, 100, 50]);
  t.same(await marked({ scale: 50 }, { width: 50 }), [25, 17, 25, 13], 'not of the source');
  const high = await plain(20, 40, white);
  t.same(await marked({ scale: 100 }, {}, high), [70, 0, 30, 60], "at most the output's height");
  const large = await plain(400, 900, white);
  t.same(await marked({ scale: 10 }, {}, large), [90, 37, 10, 23], 'a large watermark');
  t.same(await marked({ scale: 100 }, { width: 1, height: 1 }), [0, 0, 1, 1], 'on a single pixel');
});

t.test('adds the watermark last', async (t) => {
  const extend = { top: 0, right: 20, bottom: 20, left: 0 };
  const options = { extend, negate: true, opacity: 0.5, blur: 5, rotate: 180 };
  t.same(await marked({}, { ...options, background: '#ffffffff' }), [96, 68, 24, 12]);
});

t.test('blends the watermark by opacity', async (t) => {
  const seen = async (opacity: number, bytes: Uint8Array, options: Partial<Variant> = {}) => {
    const output = await drawn(source, { ...options, layers: watermark({ opacity }) }, bytes);
    return output.at(95, 55);
  };
  t.ok(near(await seen(60, mark), [233, 193, 173, 255], 2));
  t.ok(near(await seen(1, mark), brown, 3));
  t.ok(near(await seen(0, mark), brown, 0));
  t.ok(near(await seen(60, mark, { formats: ['jpeg'] }), [233, 193, 173, 255], 8), 'JPEG');
  const half = await plain(40, 20, white, 0.5);
  t.ok(near(await seen(100, half), [228, 178, 153, 255], 2), 'its own alpha');
  t.ok(near(await seen(50, half), [214, 139, 101, 255], 2), 'multiplied');
});

t.test('draws a watermark on transparent pixels', async (t) => {
  const clear = await plain(100, 60, [0, 0, 0], 0);
  const output = await drawn(clear, { layers: watermark({ opacity: 50 }) }, mark);
  t.ok(near(output.at(95, 55), [255, 255, 255, 128], 2));
  t.equal(output.at(5, 5)[3], 0);
  const jpeg = await drawn(clear, { layers: watermark(), formats: ['jpeg'] }, mark);
  t.ok(near(jpeg.at(5, 5), white, 3));
});

t.test('rasterises an SVG at its final size', async (t) => {
  const drawing =
    '<svg xmlns="http://www.w3.org/2000/svg" width="2" height="2"><rect width="1" height="2" fill="#fff"/><rect x="1" width="1" height="2"/></svg>';
  const output = await drawn(source, { layers: watermark({ scale: 60 }) }, Buffer.from(drawing));
  t.ok(near(output.at(69, 30), white, 1) && near(output.at(70, 30), [0, 0, 0], 1));
});

t.test("applies the watermark's orientation", async (t) => {
  const left = await sharp(mark).extend({ right: 40, background: 'black' }).png().toBuffer();
  const turned = await sharp(left).withMetadata({ orientation: 6 }).png().toBuffer();
  t.same(await marked({ scale: 20 }, {}, turned), [85, 0, 15, 30]);
});

t.test('says in its errors that they concern the watermark', async (t) => {
  const png = await sharp(mark).png().toBuffer();
  const broken: readonly (readonly [Uint8Array, string])[] = [
    [Buffer.from('hello'), 'source_unsupported'],
    [png.subarray(0, png.length - 30), 'source_corrupt'],
    [Buffer.from('\x89PNG\r\n\x1a\n garbage', 'latin1'), 'source_corrupt'],
    [claimingPng(50_000, 50_000, 1), 'source_too_large'],
  ];
  for (const [bytes, code] of broken) {
    await t.rejects(drawn(source, { layers: watermark() }, bytes), {
      code,
      message: /watermark/i,
    });
  }
});
