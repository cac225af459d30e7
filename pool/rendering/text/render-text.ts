import sharp from 'sharp';
import { ServiceError } from '../../../contract/errors.ts';
import { isTransparent } from '../../colour.ts';
import { escapeXml } from '../../escape-xml.ts';
import type { Size } from '../../geometry.ts';
import type { Length, TextLayer } from '../../variant.ts';
import { type LayerFrame, type RgbaImage, toPixels } from '../layer.ts';
import { draw, type RenderedText } from './draw.ts';
import { preparedFonts } from './font-folder.ts';
import { isRightToLeft, splitCharacters } from './words.ts';

/**
 * A text's appearance. Uses the family's nearest weight; reduces the size until a line fits the
 * box; without `maxLines`, draws as many lines as fit.
 */
export interface TextStyle
  extends Pick<TextLayer, 'font' | 'weight' | 'color' | 'background' | 'align' | 'maxLines'> {
  /** In output pixels, possibly fractional. */
  readonly size: number | 'fit';
  /** In output pixels. */
  readonly padding: number;
}

/** Height of a line in font sizes, the usual `line-height: normal` of fonts for several scripts. */
export const lineHeight = 1.4;

/**
 * Range of `fit` sizes, in CSS pixels. At the smallest size, words that do not fit end with an
 * ellipsis.
 */
const [minFitted, maxFitted] = [4, 1000];

/** Maximum size in output pixels. Each different letter takes up to its square in memory. */
const maxSize = 3000;

/** Ink can extend below its line by this fraction of the line height. */
const descent = 0.1;

/** The narrowest letters, `i` and `l`, advance by a quarter of the size. */
const minAdvance = 0.2;

const ellipsis = '…';

/**
 * Returns a layer's words as a PNG, which the caller transforms like a layer's image.
 * @param frame in pixels
 */
export async function textImage(layer: TextLayer, frame: LayerFrame): Promise<Uint8Array> {
  const side = (percent: number, whole: number) => Math.max(1, Math.round((whole * percent) / 100));
  const box = { width: side(layer.width, frame.width), height: side(layer.height, frame.height) };
  const { cssPixel } = frame;
  const pixelsIn = (length: Length) => toPixels(length, frame.width, cssPixel);
  const size = layer.size === 'fit' ? layer.size : pixelsIn(layer.size);
  const style = { ...layer, size, padding: Math.round(pixelsIn(layer.padding)) };
  const { pixels, width, height } = await renderText(style, layer.words, box, cssPixel);
  const raw = { width, height, channels: 4 as const };
  return sharp(pixels, { raw }).png({ compressionLevel: 0 }).toBuffer();
}

/**
 * Draws words in a box: breaks lines at the box's width. The image is as large as the longest line,
 * all lines and the padding, but at most as large as the box. The first letter sets the direction
 * for all lines, like HTML's `dir=auto`; `align` is absolute. A character missing from all prepared
 * fonts is drawn as a box with its code.
 *
 * @param cssPixel output pixels per CSS pixel
 * @throws Error without prepared fonts: only killable processes let FreeType and HarfBuzz read
 *   them
 * @throws ServiceError parameter_invalid for too many characters or an unknown family
 */
export async function renderText(
  style: TextStyle,
  words: string,
  box: Size,
  cssPixel = 1,
): Promise<RgbaImage> {
  const { folder, families } = preparedFonts();
  if (!families.has(style.font)) {
    const message = `The font family ${style.font} is not available.`;
    throw new ServiceError('parameter_invalid', message);
  }
  const characters = splitCharacters(words);
  const padding = Math.min(style.padding, Math.floor((Math.min(box.width, box.height) - 1) / 2));
  const inner = { width: box.width - 2 * padding, height: box.height - 2 * padding };
  const layout = new Layout(folder, style, inner);
  const size =
    style.size === 'fit'
      ? await layout.fittingSize(characters, cssPixel)
      : Math.max(1, Math.min(style.size, layout.highestSize));
  const text = await layout.fittingText(characters, size);
  const placed = await layout.place(text, size);
  if (placed === null) return { pixels: Buffer.alloc(4), width: 1, height: 1 };
  return paint(placed, style.background, padding);
}

/** Ink in an area of the lines' size. */
interface Placed extends Size {
  readonly ink: RenderedText;
}

class Layout {
  /** Folder for the files of `draw`. */
  readonly #folder: string;
  readonly #style: TextStyle;
  readonly #inner: Size;

  constructor(folder: string, style: TextStyle, inner: Size) {
    this.#folder = folder;
    this.#style = style;
    this.#inner = inner;
  }

  /** The largest size that lets a line fit the box. */
  get highestSize(): number {
    return Math.max(1, Math.min(maxSize, Math.floor(this.#inner.height / lineHeight)));
  }

  /** Returns the largest size that lets all characters fit without breaking words. */
  async fittingSize(characters: readonly string[], cssPixel: number): Promise<number> {
    const { width, height } = this.#inner;
    // Larger sizes cannot fit, and would take much memory.
    const largest = Math.sqrt((width * height) / (minAdvance * Math.max(1, characters.length)));
    const inPixels = (size: number) => Math.max(1, Math.round(size * cssPixel));
    const highest = Math.min(inPixels(maxFitted), this.highestSize, Math.floor(largest));
    const text = characters.join('');
    return lastTrue(Math.min(inPixels(minFitted), this.highestSize), highest, async (size) => {
      const ink = await this.#draw(text, size, { breakWords: false, underlined: true });
      // Pango breaks lines before it rounds their widths.
      return ink === null || (this.#hasRoom(ink, size) && ink.left + ink.width < width);
    });
  }

  /** Returns all characters, or as many as fit with an ellipsis. */
  async fittingText(characters: readonly string[], size: number): Promise<string> {
    const possible = this.#possible(characters, size);
    const whole = possible.join('');
    const fits = async (text: string) => {
      const ink = await this.#draw(text, size);
      return ink === null || this.#hasRoom(ink, size);
    };
    if (possible.length === characters.length && (await fits(whole))) return whole;
    const shortened = (count: number) => possible.slice(0, count).join('').trimEnd() + ellipsis;
    return shortened(await lastTrue(0, possible.length, (count) => fits(shortened(count))));
  }

  /** Returns the ink's position in the area of its lines; null for inkless text. */
  async place(text: string, size: number): Promise<Placed | null> {
    const { align } = this.#style;
    const ink = await this.#draw(text, size, { align });
    // An underline is ink, and as wide as the letters with the space around them.
    const underlined = await this.#draw(text, size, { underlined: true });
    if (ink === null || underlined === null) return null;
    const width = Math.min(this.#inner.width, Math.max(1, underlined.left + underlined.width));
    const free = this.#inner.width - width;
    const before = { left: 0, center: Math.floor(free / 2), right: free }[align];
    const height = Math.min(this.#inner.height, this.#lines(ink, size) * toLineHeight(size));
    return { width, height, ink: { ...ink, left: ink.left - before } };
  }

  /** Returns the characters that could fit, to avoid drawing an image much larger than the box. */
  #possible(characters: readonly string[], size: number): readonly string[] {
    const lines = this.#maxLines(size) + 1;
    const perLine = Math.ceil(this.#inner.width / (minAdvance * size)) + 1;
    const possible: string[] = [];
    let breaks = 0;
    for (const character of characters.slice(0, lines * perLine)) {
      if (character === '\n') breaks += 1;
      if (breaks >= lines) break;
      possible.push(character);
    }
    return possible;
  }

  #maxLines(size: number): number {
    const fitting = Math.max(1, Math.floor(this.#inner.height / toLineHeight(size)));
    return Math.min(this.#style.maxLines ?? fitting, fitting);
  }

  #lines(ink: RenderedText, size: number): number {
    return Math.max(1, Math.ceil((ink.top + ink.height) / toLineHeight(size) - descent));
  }

  #hasRoom(ink: RenderedText, size: number): boolean {
    return this.#lines(ink, size) <= this.#maxLines(size);
  }

  async #draw(
    text: string,
    size: number,
    { align = 'left', breakWords = true, underlined = false }: DrawChoices = {},
  ): Promise<RenderedText | null> {
    if (text === '') return null;
    const { font, weight, color } = this.#style;
    // Pango determines each line's direction from its first letter or mark.
    const isReversed = isRightToLeft(text);
    const mark = isReversed ? '\u200f' : '\u200e';
    const lines = text.split('\n').map((line) => mark + line);
    const attributes = {
      font_family: font,
      weight,
      // Thousand and twenty-fourths of a point, which is a pixel at 72 dpi.
      size: Math.round(size * 1024),
      line_height: toLineHeight(size) * 1024,
      insert_hyphens: false,
      foreground: color.slice(0, 7),
      // 0 is not allowed.
      alpha: Math.max(1, Math.round((Number.parseInt(color.slice(7), 16) / 255) * 65_535)),
      lang: 'en',
      ...(underlined ? { underline: 'single' } : {}),
    };
    const span = Object.entries(attributes).map(
      ([name, value]) => `${name}="${escapeXml(String(value))}"`,
    );
    return draw(this.#folder, {
      markup: `<span ${span.join(' ')}>${escapeXml(lines.join('\n'))}</span>`,
      font,
      width: this.#inner.width,
      // Pango exchanges left and right in lines from right to left.
      align: isReversed ? opposite[align] : align,
      breakWords,
    });
  }
}

interface DrawChoices {
  readonly align?: TextStyle['align'];
  readonly breakWords?: boolean;
  readonly underlined?: boolean;
}

const opposite = { left: 'right', center: 'center', right: 'left' } as const;

/** Returns a whole number, because Pango places lines at whole pixels. */
const toLineHeight = (size: number): number => Math.max(2, Math.round(size * lineHeight));

/**
 * Returns the last number that passes the test, which must pass for all smaller numbers; else the
 * lowest.
 */
async function lastTrue(
  lowest: number,
  highest: number,
  test: (number: number) => Promise<boolean>,
): Promise<number> {
  let [low, high] = [lowest, highest];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (await test(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

async function paint(
  { ink, width, height }: Placed,
  background: TextStyle['background'],
  padding: number,
): Promise<RgbaImage> {
  const size = { width: width + 2 * padding, height: height + 2 * padding };
  const pixels = Buffer.alloc(4 * size.width * size.height);
  // Accents and slanted letters can extend beyond the lines, into the padding or out of the image.
  const left = Math.max(0, padding + ink.left);
  const right = Math.min(size.width, padding + ink.left + ink.width);
  for (let row = 0; row < ink.height; row += 1) {
    const y = padding + ink.top + row;
    if (y < 0 || y >= size.height || right <= left) continue;
    const from = 4 * (row * ink.width + left - padding - ink.left);
    ink.pixels.copy(pixels, 4 * (y * size.width + left), from, from + 4 * (right - left));
  }
  if (isTransparent(background)) return { ...size, pixels };
  const raw = { ...size, channels: 4 as const };
  const { data } = await sharp({ create: { ...raw, background } })
    .composite([{ input: pixels, raw }])
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { ...size, pixels: data };
}
