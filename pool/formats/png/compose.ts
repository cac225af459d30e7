import sharp from 'sharp';
import { corrupt } from '../errors.ts';
import type { RawPixels } from '../raw-pixels.ts';
import type { PngAnimation, PngFrame } from './animation.ts';
import { pngChunk, pngSignature } from './chunks.ts';

/**
 * Draws an animated PNG's frames up to `to`, and returns the frames from `from` on, stacked, as
 * RGBA without colour conversion (third edition, 12.1).
 *
 * @throws ServiceError source_corrupt
 */
export async function composeFrames(
  animation: PngAnimation,
  { from, to, lenient }: { readonly from: number; readonly to: number; readonly lenient: boolean },
): Promise<RawPixels> {
  const { width, height, frames } = animation;
  const raw = { width, height, channels: 4 } as const;
  let canvas = Buffer.alloc(4 * width * height);
  const frameBytes = canvas.length;
  const result = Buffer.alloc(frameBytes * (to - from));
  for (const [index, frame] of frames.slice(0, to).entries()) {
    const { left, top, dispose, blends } = frame;
    const before = canvas;
    if (!blends) canvas = withoutArea(canvas, width, frame);
    const input = framePng(animation, frame);
    const overlay = { input, left, top, failOn: lenient ? 'none' : 'error' } as const;
    const drawn = sharp(canvas, { raw, limitInputPixels: false }).composite([overlay]).raw();
    canvas = await drawn.toBuffer().catch((error) => {
      throw corrupt(`Frame ${index} of the PNG cannot be decoded completely.`, error);
    });
    if (index >= from) result.set(canvas, (index - from) * frameBytes);
    if (dispose === 'restored') canvas = before;
    if (dispose === 'cleared') canvas = withoutArea(canvas, width, frame);
  }
  const stacked = { ...raw, data: result, height: height * (to - from) };
  return to - from === 1 ? stacked : { ...stacked, pageHeight: height };
}

/** Returns a separate PNG of a frame. */
function framePng({ header, shared }: PngAnimation, { width, height, data }: PngFrame): Buffer {
  const own = Buffer.from(header);
  own.writeUInt32BE(width, 0);
  own.writeUInt32BE(height, 4);
  const pixels = pngChunk('IDAT', ...data);
  const chunks = [...pngChunk('IHDR', own), ...shared, ...pixels, ...pngChunk('IEND')];
  return Buffer.concat([pngSignature, ...chunks]);
}

/** Returns a copy of a canvas with a transparent area in place of a frame. */
function withoutArea(canvas: Buffer, width: number, frame: PngFrame): Buffer<ArrayBuffer> {
  const copy = Buffer.from(canvas);
  for (let row = frame.top; row < frame.top + frame.height; row += 1) {
    const start = 4 * (row * width + frame.left);
    copy.fill(0, start, start + 4 * frame.width);
  }
  return copy;
}
