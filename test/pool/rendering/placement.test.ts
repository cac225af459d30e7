import t from 'tap';
import { maxThreadMetadataBytes } from '../../../pool/formats/container/examination.ts';
import type { Layer } from '../../../pool/variant.ts';
import { le16, le32 } from '../../hostile/inputs/chunks.ts';
import { embedded } from '../../hostile/inputs/embed.ts';
import { renderedIfLight } from './drawn.ts';
import { filled, noise } from './pictures.ts';

const png = await noise(60, 40).png().toBuffer();

/** A one-pixel BMP. */
const bmp = Buffer.concat([
  Buffer.from('BM'),
  ...[58, 0, 54, 40, 1, 1].map(le32),
  ...[1, 24].map(le16),
  ...[0, 4, 0, 0, 0, 0, 0].map(le32),
]);

/** Returns an ICO with one PNG. */
const ico = (picture: Buffer): Buffer =>
  Buffer.concat([...[0, 1, 1, 0, 0, 1, 32].map(le16), ...[picture.length, 22].map(le32), picture]);

const light = { isolated: true, cost: null };
const unopened = { isolated: true, cost: { bytes: 2 ** 28, isMemoryCapped: true } };

const layer: Layer = {
  kind: 'image',
  url: 'https://example.com/mark.png',
  position: 'center',
  offsetX: { amount: 0, unit: 'px' },
  offsetY: { amount: 0, unit: 'px' },
  tiled: false,
  opacity: 100,
  scale: 50,
  rotate: 0,
  blend: 'over',
  width: null,
  height: null,
  radius: null,
  isWatermark: false,
};

t.test('places a light source in a process at no cost', async (t) => {
  t.same(await renderedIfLight(bmp), light);
  t.same(await renderedIfLight(ico(png)), light);
});

t.test("places an image by its layer's format before it draws the layer", async (t) => {
  // The pixels are incomplete, so drawing it fails.
  const damaged = png.subarray(0, png.length / 2);
  await t.rejects(renderedIfLight(damaged), { code: 'source_corrupt' });
  t.same(await renderedIfLight(damaged, { layers: [layer] }, bmp), light);
  const drawing = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>');
  t.match(await renderedIfLight(damaged, { layers: [layer] }, drawing), {
    isolated: true,
    cost: { ms: Number, isMemoryCapped: true },
  });
});

t.test('places the delivery of an SVG in a process before it parses the document', async (t) => {
  const malformed = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><g>');
  const inProcess = { isolated: true, cost: { isMemoryCapped: true } };
  t.match(await renderedIfLight(malformed, { formats: ['svg'] }), inProcess);
  await t.rejects(renderedIfLight(png, { formats: ['svg'] }), { code: 'source_unsupported' });
  const blurred = renderedIfLight(malformed, { formats: ['svg'], blur: 2 });
  await t.rejects(blurred, { code: 'parameter_invalid' });
});

t.test("places an image by its layer's decoding time", async (t) => {
  const avif = (side: number) => filled(side, side, 'red').avif({ effort: 0 }).toBuffer();
  const [small, large] = await Promise.all([avif(100), avif(2000)]);
  t.match(await renderedIfLight(png, { layers: [layer] }, small), { width: 60 });
  t.match(await renderedIfLight(png, { layers: [layer] }, large), {
    isolated: true,
    cost: { ms: Number },
  });
});

t.test('places an ICO by the metadata of the PNG inside', async (t) => {
  const icc = Buffer.alloc(maxThreadMetadataBytes.profile + 1);
  icc.writeUInt32BE(icc.length);
  t.match(await renderedIfLight(ico(embedded.png(png, { icc }))), unopened);
});

t.test('places outputs by the time of their encoder', async (t) => {
  const large = { formats: ['avif'], width: 1200, height: 1200, fit: 'fill' } as const;
  const source = await filled(1200, 1200, 'red').png().toBuffer();
  t.match(await renderedIfLight(source, large), { isolated: true, cost: { ms: Number } });
  t.match(await renderedIfLight(source, { ...large, formats: ['webp'] }), { width: 1200 });
  t.match(await renderedIfLight(png, { formats: ['avif'] }), { width: 60 });
  t.same(await renderedIfLight(png, { formats: ['avif'], trim: 10 }), light, 'of unknown size');
  t.match(await renderedIfLight(png, { formats: ['webp'], trim: 10 }), { width: Number });
});
