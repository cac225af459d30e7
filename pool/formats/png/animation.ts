import sharp from 'sharp';
import { asBuffer, parseOrDefault } from '../bytes.ts';
import { corrupt } from '../errors.ts';
import type { RawPixels } from '../raw-pixels.ts';
import { pngChunk, pngParts, pngSignature } from './parts.ts';

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

/** A frame of an animated PNG (third edition, 11.3.7.2). */
interface PngFrame {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  /** In ms. */
  readonly delay: number;
  /** What becomes of its area before the next frame. */
  readonly dispose: 'kept' | 'cleared' | 'restored';
  /** True if transparent pixels show the frames before. */
  readonly blends: boolean;
  /** Compressed pixels, in the pieces of its chunks. */
  readonly data: Buffer[];
}

export interface PngAnimation {
  readonly width: number;
  readonly height: number;
  /** Number of repetitions; 0 is infinite. */
  readonly loop: number;
  readonly frames: readonly PngFrame[];
  /** The data of IHDR. */
  readonly header: Buffer;
  /** The chunks that the pixels of all frames need, whole. */
  readonly shared: readonly Buffer[];
}

/** Bytes of IHDR, of the sequence number of fdAT, and before the data of a chunk. */
const bytes = { header: 13, sequence: 4, dataAt: 8 };
const disposals = ['kept', 'cleared', 'restored'] as const;
/** Each frame copies the palette and its transparency. */
const maxShared = { chunks: 2, bytes: 12 + 3 * 256 };
/** Denominator for delays that state 0. */
const hundredths = 100;

/**
 * Reads a PNG's frames. The still image counts as a frame only after a frame control.
 *
 * @returns null for a PNG that shows only its still image, and for invalid frames or another number
 *   of frames than declared
 */
export const pngAnimation = (source: Uint8Array): PngAnimation | null =>
  parseOrDefault(null, () => readAnimation(asBuffer(source)));

/** @throws RangeError for a truncated chunk */
function readAnimation(file: Buffer): PngAnimation | null {
  const headerAt = pngSignature.length + bytes.dataAt;
  const header = file.subarray(headerAt, headerAt + bytes.header);
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const frames: PngFrame[] = [];
  const shared: Buffer[] = [];
  let declared: Buffer | null = null;
  let hasOthers = false;
  for (const { from, to } of pngParts(file)) {
    const type = file.toString('latin1', from + 4, from + bytes.dataAt);
    const data = file.subarray(from + bytes.dataAt, to - 4);
    if (type === 'acTL') declared ??= data;
    if (type === 'IDAT' && declared === null) return null;
    const isShared = (type === 'PLTE' || type === 'tRNS') && to - from <= maxShared.bytes;
    if (isShared && shared.length < maxShared.chunks) shared.push(file.subarray(from, to));
    if (type === 'fcTL') frames.push(readFrame(data));
    if (type === 'IDAT') frames[0]?.data.push(data);
    if (type === 'fdAT') {
      hasOthers = true;
      frames.at(-1)?.data.push(data.subarray(bytes.sequence));
    }
  }
  if (declared === null || !hasOthers) return null;
  const isComplete = frames.length === declared.readUInt32BE(0);
  const isInside = frames.every(
    (frame) =>
      Math.min(frame.width, frame.height, frame.data.length) > 0 &&
      frame.left + frame.width <= width &&
      frame.top + frame.height <= height,
  );
  const loop = declared.readUInt32BE(4);
  return isComplete && isInside ? { width, height, loop, frames, header, shared } : null;
}

/** @throws RangeError for truncated data */
function readFrame(control: Buffer): PngFrame {
  const denominator = control.readUInt16BE(22) || hundredths;
  return {
    width: control.readUInt32BE(4),
    height: control.readUInt32BE(8),
    left: control.readUInt32BE(12),
    top: control.readUInt32BE(16),
    delay: Math.round((1_000 * control.readUInt16BE(20)) / denominator),
    dispose: disposals[control.readUInt8(24)] ?? 'kept',
    blends: control.readUInt8(25) === 1,
    data: [],
  };
}
