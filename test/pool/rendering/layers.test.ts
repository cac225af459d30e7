import sharp from 'sharp';
import t from 'tap';
import { type Gravity, gravities } from '../../../contract/image-terms.ts';
import { png } from '../../../pool/formats/png/format.ts';
import { packagedFamily } from '../../../pool/rendering/text/fonts.ts';
import {
  blends,
  type ImageLayer,
  type Layer,
  type TextLayer,
  type Variant,
} from '../../../pool/variant.ts';
import { fieldsOfKind, layerKinds } from '../../../server/image/layer-fields.ts';
import { resolveLayers } from '../../../server/image/layers.ts';
import { project } from '../../project.ts';
import { drawn, findBox, plain, rendered, renderedIfLight } from './drawn.ts';
import { animation, blue, near, type Rgb, red, watermark } from './pictures.ts';
import { useFonts } from './text/drawn-text.ts';

await useFonts(t);

const white: Rgb = [255, 255, 255];
const black: Rgb = [0, 0, 0];
const brown: Rgb = [200, 100, 50];
const source = await plain(100, 60, brown);
const mark = await plain(40, 20, white);
const plain400 = await plain(400, 200, brown);
const half = { amount: 50, unit: '%' } as const;
const px = (amount: number) => ({ amount, unit: 'px' }) as const;
const percent = (amount: number) => ({ amount, unit: '%' }) as const;

const placement = {
  position: 'southeast',
  offsetX: px(0),
  offsetY: px(0),
  tiled: false,
  opacity: 100,
  rotate: 0,
  blend: 'over',
} as const;
const imageLayer = (changes: Partial<ImageLayer> = {}): ImageLayer => ({
  kind: 'image',
  url: 'https://example.com/mark.png',
  scale: 20,
  width: null,
  height: null,
  radius: null,
  isWatermark: false,
  ...placement,
  ...changes,
});
const textLayer = (changes: Partial<TextLayer> = {}): TextLayer => ({
  kind: 'text',
  words: 'Sale',
  font: packagedFamily.name,
  fontUrl: null,
  weight: 400,
  size: px(20),
  width: 100,
  height: 100,
  color: '#ffffffff',
  background: '#00000000',
  padding: px(0),
  align: 'left',
  maxLines: null,
  ...placement,
  ...changes,
});

/** Returns the box of the pixels that differ from the source. */
const changed = (image: Parameters<typeof findBox>[0], below = brown) =>
  findBox(image, (pixel) => !near(pixel, below, 20));

const withImage = (changes: Partial<ImageLayer>, bytes: Uint8Array = mark) =>
  drawn(source, { layers: [imageLayer(changes)] }, bytes);
const box = async (changes: Partial<ImageLayer>) => changed(await withImage(changes));

t.test('draws a layer like the watermark', async (t) => {
  for (const position of gravities) {
    const scale = 37;
    const marked = await drawn(source, { layers: watermark({ position, scale }) }, mark);
    t.same((await withImage({ position, scale })).etag, marked.etag, position);
  }
});

t.test('examines the source and the layer once each', async (t) => {
  const examinations = t.capture(png, 'examine', png.examine);
  await renderedIfLight(await plain(60, 60, red), { layers: watermark() }, await plain(9, 9, blue));
  t.equal(examinations().length, 2);
});

t.test('measures offsets from the edges inwards', async (t) => {
  const offsets = { offsetX: px(5), offsetY: { amount: 10, unit: '%' } } as const;
  const places: Readonly<Record<Gravity, readonly [left: number, top: number]>> = {
    northwest: [5, 6],
    north: [45, 6],
    northeast: [75, 6],
    west: [5, 31],
    center: [45, 31],
    east: [75, 31],
    southwest: [5, 44],
    south: [45, 44],
    southeast: [75, 44],
  };
  for (const position of gravities) {
    t.same(await box({ position, ...offsets }), [...places[position], 20, 10], position);
  }
  t.same(await box({ position: 'center', offsetX: px(-15) }), [25, 25, 20, 10], 'to the left');
  t.same(await box({ offsetX: px(-50), offsetY: px(9_999) }), [80, 0, 20, 10], 'kept inside');
});

/** Returns the part of an image that a layer covers, as fractions of its sides. */
async function share(options: Partial<Variant>, layer: Layer, [width, height] = [400, 200]) {
  const picture = await plain(width, height, brown);
  const images = layer.kind === 'image' ? [mark] : [];
  const image = await drawn(picture, { layers: [layer], ...options }, ...images);
  const [left = 0, top = 0, across = 0, down = 0] = changed(image);
  const sides = [left / image.width, top / image.height, across / image.width, down / image.height];
  return { sides, size: image.size };
}

t.test("keeps a layer's share of the image at every pixel ratio", async (t) => {
  const panel = { background: '#ffffffff', color: '#ffffffff', position: 'northeast' } as const;
  const offsets = { offsetX: px(12), offsetY: px(8) };
  const [logo] = watermark({ margin: 9 });
  const layers: Readonly<Record<string, Layer>> = {
    text: textLayer({ ...panel, ...offsets, size: px(16), padding: px(6) }),
    'a text in percent': textLayer({ ...panel, size: percent(12), padding: percent(3.5) }),
    'a fitted text': textLayer({ ...panel, size: 'fit', width: 50, height: 50 }),
    image: imageLayer({ ...offsets, position: 'southwest' }),
    watermark: logo,
  };
  // The source is 400 pixels wide: the second box allows a pixel ratio of at most 2.5, and the
  // third is limited.
  const boxes = [
    { width: 120, height: null },
    { width: 160, height: 100, fit: 'cover' },
    { width: 100, height: null, maxWidth: 220 },
    { width: 300, height: null, enlarge: true },
  ] as const;
  for (const [name, layer] of Object.entries(layers)) {
    for (const box of boxes) {
      const at = (pixelRatio: number) =>
        share(
          {
            ...box,
            pixelRatio,
            width: box.width * pixelRatio,
            height: box.height && box.height * pixelRatio,
          },
          layer,
        );
      const { sides, size } = await at(1);
      t.ok(sides[2] && sides[3] && sides[2] < 1, 'it is drawn');
      for (const ratio of [1.5, 2, 3]) {
        const other = await at(ratio);
        const pixel = 2.5 / Math.min(...size);
        for (const [index, side] of sides.entries()) {
          const difference = Math.abs((other.sides[index] ?? 9) - side);
          t.ok(difference <= pixel, `${name} ${JSON.stringify(box)} ${ratio}: ${difference}`);
        }
      }
    }
  }
});

t.test('keeps the share with a hinted viewport, and in placeholders', async (t) => {
  const layer = textLayer({ background: '#ffffffff', size: px(16), padding: px(6) });
  const plainShare = (await share({ maxWidth: 150 }, layer)).sides;
  const hinted = await share({ maxWidth: 300, pixelRatio: 2 }, layer);
  t.ok(Math.abs((hinted.sides[3] ?? 9) - (plainShare[3] ?? 0)) < 0.03, `${hinted.sides}`);
  const drawing = (options: Partial<Variant>) =>
    rendered(plain400, { layers: [imageLayer({ offsetX: percent(25) })], ...options }, mark);
  const inPixels = { layers: [imageLayer({ offsetX: px(100) })], placeholder: 'lqip' } as const;
  const [small, same] = [await drawing({ placeholder: 'lqip' }), await drawing(inPixels)];
  t.equal(same.etag, small.etag, '100 of 400 pixels are a quarter of the smaller placeholder too');
});

t.test('scales to the width after the rotation', async (t) => {
  t.same(await box({ scale: 50 }), [50, 35, 50, 25]);
  t.same(await box({ scale: 20, rotate: 90 }), [80, 20, 20, 40]);
  const turned = await withImage({ scale: 50, rotate: 45, position: 'center' });
  const [, , width = 0, height = 0] = changed(turned);
  t.ok(width >= 45 && width <= 50 && height >= 45 && height <= 50, 'a square of the diagonal');
  t.ok(near(turned.at(28, 8), brown), 'transparent corners');
  t.ok(near(turned.at(50, 30), white));
  t.same(changed(await withImage({ scale: 100, rotate: 90 })), [70, 0, 30, 60], 'at most as high');
});

t.test('blends the layer by opacity', async (t) => {
  t.ok(near((await withImage({ opacity: 60 })).at(95, 55), [233, 193, 173, 255], 2));
});

t.test('fills the image with tiles, with the offsets as gaps', async (t) => {
  const full = await withImage({ tiled: true });
  t.same(changed(full), [0, 0, 100, 60]);
  t.notOk(
    [...Array(100).keys()].some((x) => !near(full.at(x, 30), white)),
    'without gaps',
  );
  const { at } = await withImage({
    tiled: true,
    position: 'northwest',
    offsetX: px(20),
    offsetY: half,
  });
  for (const [x, y, colour] of [
    [10, 5, white],
    [30, 5, brown],
    [50, 5, white],
    [70, 5, brown],
    [90, 5, white],
    [10, 25, brown],
    [10, 45, white],
    [30, 45, brown],
  ] as const) {
    t.ok(near(at(x, y), colour), `${x}, ${y}`);
  }
  const huge = { tiled: true, offsetX: px(99_999), offsetY: px(99_999) } as const;
  t.same((await box({ ...huge, position: 'northwest' }))[2], 20, 'a gap that does not fit');
  t.equal((await withImage({ ...huge, scale: 100 })).width, 100);
});

t.test('mixes colours by blend mode', async (t) => {
  const grey = await plain(40, 20, [128, 128, 128]);
  const coloured = await plain(40, 20, [60, 200, 90]);
  const at = async (blend: (typeof blends)[number], bytes = grey) =>
    (await withImage({ blend }, bytes)).at(95, 55).slice(0, 3);
  t.ok(near(await at('over'), [128, 128, 128], 2));
  t.ok(near(await at('multiply'), [100, 50, 25], 3));
  t.ok(near(await at('screen'), [228, 178, 153], 3));
  t.ok(near(await at('darken'), [128, 100, 50], 3));
  t.ok(near(await at('lighten'), [200, 128, 128], 3));
  t.ok(near(await at('difference'), [72, 28, 78], 3));
  t.ok(near(await at('add'), [255, 228, 178], 3));
  const seen = new Set<string>();
  for (const blend of blends) seen.add(String(await at(blend, coloured)));
  t.equal(seen.size, blends.length, 'they differ');
  for (const blend of blends) {
    const { at } = await withImage({ blend, position: 'northwest' }, grey);
    t.ok(near(at(95, 55), brown, 2), `${blend} changes nothing beside the layer`);
  }
});

t.test('draws layers in order, on top of the watermark', async (t) => {
  const [first, second] = [await plain(40, 20, red), await plain(40, 20, blue)];
  const layers = [imageLayer(), imageLayer({ scale: 10 })];
  const both = await drawn(source, { layers }, first, second);
  t.ok(near(both.at(82, 52), red) && near(both.at(95, 57), blue));
  const on = { layers: [...watermark({ scale: 40 }), ...layers] };
  const all = await drawn(source, on, mark, first, second);
  t.ok(near(all.at(65, 45), white) && near(all.at(82, 52), red) && near(all.at(95, 57), blue));
});

t.test('draws layers on every frame of an animation', async (t) => {
  const frames = await animation('gif', [red, blue], { width: 100, height: 60 });
  const layers = [
    imageLayer({ offsetX: px(10) }),
    imageLayer({ tiled: true, offsetX: px(30), offsetY: px(20), position: 'northwest' }),
  ];
  const output = await drawn(frames, { layers, formats: ['webp'] }, mark, mark);
  for (const [page, colour] of [red, blue].entries()) {
    const { at } = await output.frame(page);
    t.ok(near(at(80, 55), white) && near(at(95, 55), colour), `frame ${page}`);
    t.ok(near(at(5, 5), white) && near(at(5, 35), white) && near(at(30, 5), colour));
  }
});

t.test('names the layer in its errors', async (t) => {
  const text = Buffer.from('no picture');
  for (const below of [imageLayer(), ...watermark()]) {
    const drawing = drawn(source, { layers: [below, imageLayer()] }, mark, text);
    await t.rejects(drawing, {
      code: 'source_unsupported',
      message: /^A layer cannot be used\. /,
      details: { layer: 1 },
    });
  }
});

t.test('draws words in their colours, within their box', async (t) => {
  const dark = await plain(200, 100, black);
  const text = (changes: Partial<TextLayer>) => drawn(dark, { layers: [textLayer(changes)] });
  const drawnBox = async (changes: Partial<TextLayer>) => changed(await text(changes), black);
  const [left = 0, top = 0, width = 0, height = 0] = await drawnBox({});
  t.ok(left + width > 195 && left + width <= 200 && width > 20 && width < 100, 'east');
  t.ok(top > 100 - 1.4 * 20 && top + height > 85 && top + height <= 100, 'south');
  const [, , , larger = 0] = await drawnBox({ size: px(40) });
  t.ok(larger > 1.7 * height, 'twice the size');
  const [, , fit = 0] = await drawnBox({ words: 'SaleSale', size: 'fit', width: 90 });
  t.ok(fit > 150 && fit <= 180, 'fitted into the box');
  const framed = await text({ background: '#ff0000ff', padding: px(10), position: 'northwest' });
  t.ok(near(framed.at(2, 2), red) && near(framed.at(199, 99), black));
  const below = await text({ blend: 'multiply', background: '#ffffffff' });
  t.ok(near(below.at(195, 95), black), 'blended as an image is');
  const [, , across = 0, down = 0] = await drawnBox({ rotate: 90 });
  t.ok(down > across, 'rotated');
  const faint = await text({ background: '#ffffffff', opacity: 50 });
  t.ok(near(faint.at(199, 99), [128, 128, 128], 3));
  const markup = await drawnBox({ words: '<b>&' });
  t.ok((markup[2] ?? 0) > 20, 'markup is shown as it is');
});

t.test('draws texts in a process that the service can kill', async (t) => {
  t.match(await renderedIfLight(source, { layers: [textLayer()] }), {
    isolated: true,
    cost: { bytes: 2 ** 28, isMemoryCapped: true },
  });
});

t.test('draws a layer in the same colours on animations and still images', async (t) => {
  const size = { width: 256, height: 256 };
  const data = Buffer.alloc(4 * 256 * 256);
  for (let at = 0; at < data.length; at += 4) {
    const [red, alpha] = [(at / 4) % 256, at >> 10];
    data.set([red, 7 * red, 255 - red, alpha], at);
  }
  const shades = await sharp(data, { raw: { ...size, channels: 4 } })
    .png()
    .toBuffer();
  const options = { formats: ['webp'], lossless: true } as const;
  const layers = [imageLayer({ scale: 100 })];
  const still = await drawn(await plain(256, 256, brown), { ...options, layers }, shades);
  const moving = await animation('webp', [brown, blue], size);
  const animated = await drawn(moving, { ...options, layers }, shades);
  const decodePixels = (body: Uint8Array) =>
    sharp(body, { page: 0 }).removeAlpha().raw().toBuffer();
  t.ok((await decodePixels(animated.body)).equals(await decodePixels(still.body)));
});

t.test('does not classify many large layers as a light transform', async (t) => {
  const large = { width: 800, height: 800, enlarge: true, formats: ['jpeg'] } as const;
  const draw = (layers: readonly Layer[]) =>
    renderedIfLight(source, { ...large, layers }, ...layers.map(() => mark));
  const heavy = await draw(Array(5).fill(imageLayer({ scale: 100 })));
  t.match(heavy, { isolated: false, cost: { ms: Number } });
  t.match(await draw(Array(5).fill(imageLayer())), { contentType: 'image/jpeg' });
});

/** Fields with no effect on the pixels, and the family, which allows only one value here. */
const withoutEffect = new Set(['url', 'freeText', 'font', 'fontUrl']);

t.test('changes the image with the example of every field', async (t) => {
  const light = await sharp(await plain(300, 200, brown))
    .png()
    .toBuffer();
  const url = 'https://pictures.example.com/mark.png';
  for (const kind of layerKinds) {
    const basis = kind === 'image' ? { url } : { words: 'Many words\non two lines' };
    const resolved = (fields: object): readonly Layer[] | null => {
      const layers = { one: { [kind]: { ...basis, ...fields } } };
      return resolveLayers(['one'], new Map(), project({ layers }), false);
    };
    const seen = async (fields: object) =>
      (await drawn(light, { layers: resolved(fields) }, ...(kind === 'image' ? [mark] : []))).etag;
    for (const [name, { example, exampleContext }] of Object.entries(fieldsOfKind(kind))) {
      if (withoutEffect.has(name)) continue;
      t.not(await seen({ ...exampleContext, [name]: example }), await seen(exampleContext), name);
    }
  }
});
