import sharp from 'sharp';
import t from 'tap';
import { lineHeight, type TextStyle } from '../../../../pool/rendering/text/render-text.ts';
import { noChromium, startChromium } from '../../../service/chromium.ts';
import { type Bounds, DrawnText, plainStyle, text, useFonts } from './drawn-text.ts';
import { arabic, openSans } from './font-files.ts';

const box = { width: 400, height: 300 };

const fontFace = (family: string, bytes: Buffer, range: string) =>
  `@font-face { font-family: '${family}'; font-weight: 300 800; unicode-range: ${range};
    src: url(data:font/woff2;base64,${bytes.toString('base64')}) }`;

/** The page's style: the same font files as the renderer has. */
const faces = [
  fontFace('Open Sans', await openSans('latin'), 'U+0-24F, U+2026'),
  fontFace('Open Sans', await openSans('cyrillic'), 'U+400-45F'),
  fontFace('Open Sans', await openSans('hebrew'), 'U+590-5FF'),
  fontFace('Noto Sans Arabic', arabic, 'U+20, U+600-6FF'),
].join('\n');

const boundsNames = ['left', 'top', 'right', 'bottom'] as const;

t.test('draws texts like Chromium', { skip: noChromium }, async (t) => {
  await useFonts(t, { 'arabic.woff2': arabic });
  const page = await (await startChromium(t)).newPage({ viewport: box });

  /** Returns a screenshot of the element on a page with the box's size. */
  async function inBrowser(words: string, style: TextStyle): Promise<DrawnText> {
    const size = Number(style.size);
    // Chromium breaks lines even if the text is less than a pixel too wide.
    await page.setContent(`<meta charset="utf-8"><style>${faces}
      body { margin: 0 }
      div { box-sizing: border-box; width: fit-content; max-width: ${box.width}px;
        padding: ${style.padding}px; color: ${style.color};
        background: ${style.background}; text-align: ${style.align};
        font: ${style.weight} ${size}px/${Math.round(size * lineHeight)}px '${style.font}', 'Open Sans';
        white-space: pre-wrap; overflow-wrap: anywhere }</style><div dir="auto"></div>`);
    await page.evaluate(
      `document.querySelector('div').textContent = ${JSON.stringify(words)}; document.fonts.ready`,
    );
    const { data, info } = await sharp(await page.screenshot({ omitBackground: true }))
      .ensureAlpha()
      .raw()
      .toBuffer({ resolveWithObject: true });
    return new DrawnText({ ...info, pixels: data });
  }

  const cases: Readonly<Record<string, readonly [words: string, style: Partial<TextStyle>]>> = {
    plain: ['Hamburgefonts', {}],
    small: ['Hamburgefonts, 1234567890', { size: 16 }],
    large: ['Hgß', { size: 150 }],
    light: ['Hamburgefonts', { weight: 300 }],
    bold: ['Hamburgefonts', { weight: 700 }],
    coloured: ['Hamburgefonts', { color: '#cc2200ff' }],
    padded: ['Hamburgefonts', { padding: 23 }],
    'broken lines': ['The quick brown fox jumps over the lazy dog', {}],
    centred: ['A longer line\nfox', { align: 'center' }],
    'on the right': ['A longer line\nfox', { align: 'right' }],
    'a broken word': ['Donaudampfschifffahrtsgesellschaft', {}],
    markup: ['<b>a & b</b>', {}],
    Cyrillic: ['Съешь ещё', {}],
    Hebrew: ['שלום עולם!', {}],
    'Hebrew lines on the left': ['שלום עולם\nשלום', { align: 'left' }],
    'two directions': ['abc שלום 123 עולם', {}],
    'an override': ['ab\u202ecdef\u202cgh', {}],
    Arabic: ['مرحبا بالعالم', { font: 'Noto Sans Arabic' }],
  };
  for (const [name, [words, changes]] of Object.entries(cases)) {
    const style = { ...plainStyle, ...changes };
    const [ours, theirs] = [await text(words, style, box), await inBrowser(words, style)];
    const [a, b] = [ours.ink(), theirs.ink()];
    const off = boundsNames.map((edge: keyof Bounds) => Math.abs(a[edge] - b[edge]));
    // Pango rounds the widths of letters to pixels, and Chromium does not.
    t.ok(Math.max(...off) <= 3, `${name}: edges differ by ${off.join(', ')}`);
    const ratio = ours.darkness / theirs.darkness;
    t.ok(ratio > 0.9 && ratio < 1.1, `${name}: ${ratio.toFixed(2)} x the ink`);
    const mean = difference(ours, theirs);
    t.ok(mean < 0.08, `${name}: a mean difference of ${mean.toFixed(3)}`);
  }
});

/** Side of the compared cells. Letters can be off by a fraction of a cell. */
const cell = 10;

/** Returns the mean opacity of a cell, 0..1. */
function opacity({ width, height, pixels }: DrawnText, left: number, top: number): number {
  let sum = 0;
  for (let y = top; y < Math.min(height, top + cell); y += 1) {
    for (let x = left; x < Math.min(width, left + cell); x += 1) {
      sum += pixels[4 * (y * width + x) + 3] ?? 0;
    }
  }
  return sum / 255 / cell ** 2;
}

/** Returns the mean difference in opacity between cells with ink, 0..1. */
function difference(ours: DrawnText, theirs: DrawnText): number {
  const differences: number[] = [];
  for (let top = 0; top < box.height; top += cell) {
    for (let left = 0; left < box.width; left += cell) {
      const [a, b] = [opacity(ours, left, top), opacity(theirs, left, top)];
      if (Math.max(a, b) > 0) differences.push(Math.abs(a - b));
    }
  }
  return (
    differences.reduce((sum, glyphDifference) => sum + glyphDifference, 0) / differences.length
  );
}
