import { be16, be32, createPng, type PngChunk, pngChunks } from '../../hostile/inputs/chunks.ts';

/** A frame of an animated PNG. */
export interface ApngFrame {
  readonly png: Buffer;
  readonly left?: number;
  readonly top?: number;
  /** Delay in ms. */
  readonly delay?: number;
  /** 0 keeps the frame, 1 clears its area, 2 restores the previous contents. */
  readonly dispose?: number;
  readonly blends?: boolean;
}

/**
 * Returns an animated PNG (third edition, 11.3.7). The first frame covers the canvas, and all
 * frames share a colour type.
 * @param still the still image, if it is not a frame
 */
export function apng(frames: readonly ApngFrame[], loop = 0, still?: Buffer): Buffer {
  const [header, ...others] = pngChunks(still ?? frames[0]?.png ?? Buffer.of());
  const end = others.pop();
  if (header === undefined || end === undefined) throw new Error('no PNG');
  const isData = ({ type }: PngChunk) => type === 'IDAT';
  const control = { type: 'acTL', data: Buffer.concat([be32(frames.length), be32(loop)]) };
  let sequence = 0;
  const numbered = (data: Buffer) => {
    sequence += 1;
    return Buffer.concat([be32(sequence - 1), data]);
  };
  const animated = frames.flatMap((frame, index): PngChunk[] => {
    const { png, left = 0, top = 0, delay = 100, dispose = 0, blends = false } = frame;
    const area = [png.readUInt32BE(16), png.readUInt32BE(20), left, top].map(be32);
    const timing = [be16(delay), be16(1_000), Buffer.of(dispose, blends ? 1 : 0)];
    const fcTL = { type: 'fcTL', data: numbered(Buffer.concat([...area, ...timing])) };
    const data = pngChunks(png).filter(isData);
    if (index === 0 && still === undefined) return [fcTL, ...data];
    return [fcTL, ...data.map((chunk) => ({ type: 'fdAT', data: numbered(chunk.data) }))];
  });
  const stillData = still === undefined ? [] : others.filter(isData);
  const before = others.filter((chunk) => !isData(chunk));
  return createPng([header, control, ...before, ...stillData, ...animated, end]);
}
