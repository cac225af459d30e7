import sharp from 'sharp';
import type { Size } from '../../geometry.ts';
import type { TextLayer } from '../../variant.ts';
import { renderText } from './render-text.ts';

/** The words of a layer as a PNG, which is transformed as the image of a layer is. @param frame in pixels */
export async function textImage(layer: TextLayer, frame: Size): Promise<Uint8Array> {
  const { words, font, background, width, height, ...style } = layer;
  const isTransparent = background.endsWith('00');
  const side = (percent: number, whole: number) => Math.max(1, Math.round((whole * percent) / 100));
  const box = { width: side(width, frame.width), height: side(height, frame.height) };
  const { pixels, ...size } = await renderText(
    { ...style, fontFamily: font, background: isTransparent ? null : background },
    words,
    box,
  );
  const raw = { width: size.width, height: size.height, channels: 4 as const };
  return sharp(pixels, { raw }).png({ compressionLevel: 0 }).toBuffer();
}
