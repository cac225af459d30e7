import { sniff } from './sniff.ts';

/** RIFF and its size, WEBP. */
const headBytes = 12;
/** A chunk's type and size (RFC 9649, 2.3). */
const chunkHeadBytes = 8;
/** `ANMF`: one frame of an animation. */
const frameChunk = 0x414e4d46;

/**
 * The frames of an animated WebP; 0 for other files. libwebp compares each frame with all others when
 * it opens a file, which takes minutes for the frames that fit in 32 MB.
 */
export function countWebpFrames(bytes: Uint8Array): number {
  if (sniff(bytes) !== 'webp') return 0;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let frames = 0;
  for (let at = headBytes; at + chunkHeadBytes <= bytes.byteLength; ) {
    if (view.getUint32(at) === frameChunk) frames += 1;
    const size = view.getUint32(at + 4, true);
    at += chunkHeadBytes + size + (size % 2);
  }
  return frames;
}
