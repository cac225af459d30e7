import sharp from 'sharp';
import t from 'tap';
import { picture } from '../../../demo/origin/pictures.ts';
import type { Area, Layer, Variant } from '../../../pool/variant.ts';
import { noChromium, startChromium } from '../../service/chromium.ts';
import { rendered } from './drawn.ts';

const duotone = `<svg width="0" height="0" style="position: absolute">
  <filter id="duotone" color-interpolation-filters="sRGB">
  <feColorMatrix values="${'.2126 .7152 .0722 0 0 '.repeat(3)} 0 0 0 1 0"/>
  <feComponentTransfer><feFuncR type="table" tableValues="${0x1b / 255} 1"/>
  <feFuncG type="table" tableValues="${0x2a / 255} ${0xd2 / 255}"/>
  <feFuncB type="table" tableValues="${0x6b / 255} ${0x7f / 255}"/></feComponentTransfer></filter></svg>`;
const stops = Array.from(
  { length: 21 },
  (_, at) => `rgb(0 0 0 / ${0.7 * (at / 20) ** 2}) ${at * 5}%`,
);
const vignette = `position: absolute; inset: 0; background: radial-gradient(farthest-corner, ${stops})`;

interface Effect {
  readonly options: Partial<Variant>;
  /** Files of the variant's layers. */
  readonly layers?: readonly Uint8Array[];
  /** The style of the same effect in CSS. */
  readonly style?: string;
  /** Elements above the image. */
  readonly above?: string;
  /** What to compare, if not all but the edges. */
  readonly area?: Area;
}

const spot = { left: 60, top: 30, width: 96, height: 80 };
const badge = await sharp(await picture('coast.jpg'))
  .resize(80, 60)
  .png()
  .toBuffer();
const badgeLayer: Layer = {
  kind: 'image',
  url: 'https://a.example/badge.png',
  position: 'northwest',
  offsetX: { amount: 60, unit: 'px' },
  offsetY: { amount: 30, unit: 'px' },
  width: { amount: 80, unit: 'px' },
  height: null,
  scale: 20,
  opacity: 70,
  radius: { topLeft: 24, topRight: 24, bottomRight: 24, bottomLeft: 24 },
  tiled: false,
  rotate: 0,
  blend: 'over',
  isWatermark: false,
};

/** Places an element over an area. */
const at = ({ left, top, width, height }: Area) =>
  `position: absolute; left: ${left}px; top: ${top}px; width: ${width}px; height: ${height}px`;
const mosaic = (area: Area, side: number) =>
  `<canvas width="${area.width / side}" height="${area.height / side}" style="${at(area)}; image-rendering: pixelated"></canvas>`;
const whole = { left: 0, top: 0, width: 240, height: 160 };

const effects: readonly Effect[] = [
  { options: { contrast: 60 }, style: 'filter: contrast(1.6)' },
  { options: { contrast: -40 }, style: 'filter: contrast(0.6)' },
  { options: { sepia: 100 }, style: 'filter: sepia(1)' },
  { options: { sepia: 45 }, style: 'filter: sepia(0.45)' },
  { options: { contrast: 30, sepia: 50 }, style: 'filter: contrast(1.3) sepia(0.5)' },
  {
    options: { duotone: { dark: '#1b2a6bff', light: '#ffd27fff' } },
    style: 'filter: url(#duotone)',
  },
  {
    options: { vignette: 70 },
    above: `<i style="${vignette}"></i>`,
  },
  { options: { blur: 4 }, style: 'filter: blur(4px)' },
  { options: { pixelate: 8 }, above: mosaic(whole, 8) },
  { options: { pixelatearea: [spot] }, above: mosaic(spot, 16), area: spot },
  {
    options: { blurarea: [spot] },
    above: `<i style="${at(spot)}; backdrop-filter: blur(16px)"></i>`,
    area: spot,
  },
  {
    options: { layers: [badgeLayer] },
    layers: [badge],
    above: `<img style="${at({ ...spot, width: 80, height: 60 })}; opacity: 0.7; border-radius: 24px" src="${toUrl(badge)}">`,
    area: { left: 50, top: 20, width: 100, height: 80 },
  },
];

function toUrl(png: Buffer): string {
  return `data:image/png;base64,${png.toString('base64')}`;
}

/** Largest mean difference, in levels of 0..255. */
const tolerance = 3;

/** Without the edges, where CSS blurs the image with transparency. */
const inside = { left: 16, top: 16, width: 208, height: 128 };

async function meanDifference(a: Uint8Array, b: Uint8Array, area: Area): Promise<number> {
  const read = (image: Uint8Array) => sharp(image).removeAlpha().extract(area).raw().toBuffer();
  const [first, second] = await Promise.all([read(a), read(b)]);
  return (
    first.reduce((sum, level, at) => sum + Math.abs(level - (second[at] ?? 0)), 0) / first.length
  );
}

/** Draws what is below a canvas with a pixel for each square. */
const drawSquares = `for (const canvas of document.querySelectorAll('canvas')) {
  const context = canvas.getContext('2d');
  context.imageSmoothingQuality = 'high';
  const { offsetLeft, offsetTop, offsetWidth, offsetHeight } = canvas;
  context.drawImage(document.images[0], offsetLeft, offsetTop, offsetWidth, offsetHeight, 0, 0, canvas.width, canvas.height);
}`;

t.test('looks as CSS in Chromium', { skip: noChromium }, async (t) => {
  const browser = await startChromium(t);
  const page = await browser.newPage({ viewport: { width: 400, height: 400 } });
  const source = await sharp(await picture('landscape.jpg'))
    .resize(240, 160)
    .png()
    .toBuffer();
  for (const { options, layers = [], style = '', above = '', area = inside } of effects) {
    await page.setContent(
      `${duotone}<body style="margin: 0"><div style="width: max-content; overflow: hidden; display: flex; position: relative">
      <img style="${style}" src="${toUrl(source)}">${above}</div>`,
    );
    await page.evaluate('Promise.all([...document.images].map((image) => image.decode()))');
    await page.evaluate(drawSquares);
    const expected = await page.locator('div').screenshot();
    const { body } = await rendered(source, options, ...layers);
    const difference = await meanDifference(body, expected, area);
    const name = Object.keys(options).join();
    t.ok(difference <= tolerance, `${name}: ${difference.toFixed(2)}`);
    t.ok((await meanDifference(source, expected, area)) > tolerance, 'the effect is visible');
  }
});

t.test('shows a blurred copy as two images in Chromium', { skip: noChromium }, async (t) => {
  const page = await (await startChromium(t)).newPage({ viewport: { width: 400, height: 400 } });
  const landscape = sharp(await picture('landscape.jpg')).resize(240, 160);
  const source = await landscape.png().toBuffer();
  for (const [width, height, blur] of [
    [240, 360, 10],
    [360, 160, 4],
    [240, 240, 40],
    [240, 220, 1.5],
  ] as const) {
    // CSS fades the copy out at the edge of the box: several on top of each other do not.
    const all = `position: absolute; inset: 0; width: 100%; height: 100%`;
    const src = toUrl(source);
    const copy = `<img style="${all}; object-fit: cover; filter: blur(${blur}px)" src="${src}">`;
    await page.setContent(
      `<body style="margin: 0"><div style="position: relative; overflow: hidden; width: ${width}px; height: ${height}px">
      ${copy.repeat(12)}<img style="${all}; object-fit: contain" src="${src}"></div>`,
    );
    await page.evaluate('Promise.all([...document.images].map((image) => image.decode()))');
    const expected = await page.locator('div').screenshot();
    const box = { width, height, fit: 'contain' } as const;
    const whole = { left: 0, top: 0, width, height };
    const difference = async (options: Partial<Variant>) =>
      meanDifference((await rendered(source, { ...box, ...options })).body, expected, whole);
    const name = `${width} x ${height}, blur(${blur}px)`;
    const mean = await difference({ backdrop: { blur } });
    t.ok(mean <= tolerance, `${name}: ${mean.toFixed(2)}`);
    t.ok((await difference({ background: '#808080ff' })) > tolerance, 'the copy is visible');
  }
});
