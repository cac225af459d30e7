import sharp from 'sharp';
import t from 'tap';
import type { Variant } from '../../../pool/variant.ts';
import { noChromium, startChromium } from '../../service/chromium.ts';
import { rendered } from './drawn.ts';
import { gradient } from './pictures.ts';

const source = await gradient(120, 80);
const image = `data:image/png;base64,${source.toString('base64')}`;
const all = (radius: number) => ({
  topLeft: radius,
  topRight: radius,
  bottomRight: radius,
  bottomLeft: radius,
});

/** An image element's style that shows the same as a variant, in a box of the variant's size. */
interface Case {
  readonly variant: Partial<Variant>;
  readonly css: string;
}

const cases: Readonly<Record<string, Case>> = {
  radius: { variant: { radius: all(20) }, css: 'border-radius: 20px' },
  'a radius for each corner': {
    variant: { radius: { topLeft: 60, topRight: 0, bottomRight: 9, bottomLeft: 33 } },
    css: 'border-radius: 60px 0 9px 33px',
  },
  'overlapping radii': {
    variant: { radius: { topLeft: 120, topRight: 40, bottomRight: 80, bottomLeft: 10 } },
    css: 'border-radius: 120px 40px 80px 10px',
  },
  'radius=max': { variant: { radius: 'max' }, css: 'border-radius: 999px' },
  outline: {
    variant: { outline: { width: 5, colour: '#ff6347ff' } },
    css: 'box-shadow: none; outline: 5px solid #ff6347; outline-offset: -5px',
  },
  'radius around the padding': {
    variant: {
      radius: all(25),
      width: 80,
      height: 120,
      fit: 'contain',
      background: '#0a84ffff',
    },
    css: 'border-radius: 25px; width: 80px; height: 120px; object-fit: contain; background: #0a84ff',
  },
};

/** Maximum mean difference of the premultiplied channels, 0..255. */
const maxError = 3;

const toPixels = (png: Uint8Array) => sharp(png).ensureAlpha().raw().toBuffer();

function meanError(a: Buffer, b: Buffer): number {
  let sum = 0;
  for (let index = 0; index < a.length; index += 1) {
    const alpha = index - (index % 4) + 3;
    const isAlpha = index === alpha;
    const premultiplied = (pixels: Buffer) =>
      isAlpha ? (pixels[index] ?? 0) : ((pixels[index] ?? 0) * (pixels[alpha] ?? 0)) / 255;
    sum += Math.abs(premultiplied(a) - premultiplied(b));
  }
  return sum / a.length;
}

t.test('draws shapes like CSS in Chromium', { skip: noChromium }, async (t) => {
  const page = await (await startChromium(t)).newPage({ viewport: { width: 400, height: 300 } });
  for (const [name, { variant, css }] of Object.entries(cases)) {
    await page.setContent(
      `<style>body { margin: 0; background: none } img { display: block; ${css} }</style><img src="${image}">`,
    );
    const shot = await page.locator('img').screenshot({ omitBackground: true });
    const { body, width, height } = await rendered(source, variant);
    const size = await sharp(shot).metadata();
    t.same([width, height], [size.width, size.height], name);
    const error = meanError(await toPixels(body), await toPixels(shot));
    t.ok(error <= maxError, `${name}: a mean error of ${error.toFixed(2)}`);
  }
});
