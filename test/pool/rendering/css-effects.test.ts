import sharp from 'sharp';
import t from 'tap';
import { picture } from '../../../demo/origin/pictures.ts';
import type { Variant } from '../../../pool/variant.ts';
import { noChromium, startChromium } from '../../service/chromium.ts';
import { rendered } from './drawn.ts';

/** Our variants, and the style of the same effect in CSS. */
const effects: readonly (readonly [Partial<Variant>, string])[] = [
  [{ contrast: 60 }, 'filter: contrast(1.6)'],
  [{ contrast: -40 }, 'filter: contrast(0.6)'],
  [{ sepia: 100 }, 'filter: sepia(1)'],
  [{ sepia: 45 }, 'filter: sepia(0.45)'],
  [{ contrast: 30, sepia: 50 }, 'filter: contrast(1.3) sepia(0.5)'],
  [{ duotone: { dark: '#1b2a6bff', light: '#ffd27fff' } }, 'filter: url(#duotone)'],
  [{ vignette: 70 }, ''],
  [{ blur: 4 }, 'filter: blur(4px)'],
];

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

/** Largest mean difference, in levels of 0..255. */
const tolerance = 3;

/** Without the edges, where CSS blurs the image with transparency. */
const inside = { left: 16, top: 16, width: 208, height: 128 };

async function meanDifference(a: Uint8Array, b: Uint8Array, area = inside): Promise<number> {
  const read = (image: Uint8Array) => sharp(image).removeAlpha().extract(area).raw().toBuffer();
  const [first, second] = await Promise.all([read(a), read(b)]);
  return (
    first.reduce((sum, level, at) => sum + Math.abs(level - (second[at] ?? 0)), 0) / first.length
  );
}

t.test('looks as CSS in Chromium', { skip: noChromium }, async (t) => {
  const browser = await startChromium(t);
  const page = await browser.newPage({ viewport: { width: 400, height: 400 } });
  const source = await sharp(await picture('landscape.jpg'))
    .resize(240, 160)
    .png()
    .toBuffer();
  for (const [options, style] of effects) {
    const layer = 'vignette' in options ? `<i style="${vignette}"></i>` : '';
    await page.setContent(
      `${duotone}<body style="margin: 0"><div style="width: max-content; overflow: hidden; display: flex; position: relative">
      <img style="${style}" src="data:image/png;base64,${source.toString('base64')}">${layer}</div>`,
    );
    await page.evaluate('document.images[0].decode()');
    const expected = await page.locator('div').screenshot();
    const { body } = await rendered(source, options);
    const difference = await meanDifference(body, expected);
    t.ok(difference <= tolerance, `${style}: ${difference.toFixed(2)}`);
    t.ok((await meanDifference(source, expected)) > tolerance, 'the effect is visible');
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
    [240, 170, 1.5],
  ] as const) {
    // CSS fades the copy out at the edge of the box: several on top of each other do not.
    const all = `position: absolute; inset: 0; width: 100%; height: 100%`;
    const src = `data:image/png;base64,${source.toString('base64')}`;
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
