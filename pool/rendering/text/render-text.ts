import sharp from 'sharp';
import type { Size } from '../../geometry.ts';
import type { Alignment, Colour } from '../../variant.ts';
import { rgba } from '../background.ts';

/** How words are drawn. */
export interface TextStyle {
  readonly fontFamily: string;
  /** The path of a checked font file; null for a family of the system. */
  readonly fontFile: string | null;
  /** 100..900. */
  readonly weight: number;
  /** Pixels of the output, or `fit` for the largest size with which the words fit the box. */
  readonly size: number | 'fit';
  readonly color: Colour;
  /** Null for none. */
  readonly background: Colour | null;
  /** Between the words and the edges of the background, in pixels. */
  readonly padding: number;
  readonly align: Alignment;
  /** Null for no limit. */
  readonly maxLines: number | null;
}

/** Words as raw RGBA, straight alpha. */
export interface RenderedText extends Size {
  readonly pixels: Buffer;
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Draws words in a box, in pixels. Only in a process that can be killed. */
export async function renderText(
  style: TextStyle,
  words: string,
  box: Size,
): Promise<RenderedText> {
  const { fontFamily, weight, size, padding, align, background } = style;
  const width = Math.max(1, box.width - 2 * padding);
  const height = Math.max(1, box.height - 2 * padding);
  const fixed = size === 'fit' ? '' : ` size="${size * 1024}"`;
  const { data: drawn, info } = await sharp({
    text: {
      text: `<span foreground="${style.color}" weight="${weight}"${fixed}>${escaped(words)}</span>`,
      font: fontFamily,
      rgba: true,
      width,
      ...(size === 'fit' ? { height } : { dpi: 72 }),
      align: align === 'center' ? 'centre' : align,
      wrap: 'word-char',
    },
  })
    .raw()
    .toBuffer({ resolveWithObject: true });
  const raw = { width: info.width, height: info.height, channels: 4 as const };
  const { data, info: whole } = await sharp({
    create: {
      width: info.width + 2 * padding,
      height: info.height + 2 * padding,
      channels: 4,
      background: background === null ? { r: 0, g: 0, b: 0, alpha: 0 } : rgba(background),
    },
  })
    .composite([{ input: drawn, raw, left: padding, top: padding }])
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { pixels: data, width: whole.width, height: whole.height };
}
