import { asBuffer } from '../bytes.ts';
import { block, gifParts, tableBytes } from './parts.ts';

/** Maximum missing bytes at the end, and the tolerance of their estimate. */
const maxMissing = 16;
const tolerance = 2;
/** Maximum codes to read per frame: some 6 MB. */
const maxCodes = 4_000_000;

/**
 * Completes a GIF that lacks only its trailer or a few more bytes, in a copy; returns the same
 * bytes for other files. As in browsers, missing pixels are pixels that no frame has drawn.
 */
export function completedGif(source: Uint8Array): Uint8Array {
  const file = asBuffer(source);
  let end = 0;
  let frames = 0;
  for (const { role, to } of gifParts(file)) {
    if (role === 'end') return source;
    if (role === 'frame') frames += 1;
    end = to;
  }
  const trailer = Buffer.from([block.trailer]);
  if (end === file.length && frames > 0) return Buffer.concat([file, trailer]);
  if (file[end] !== block.image || end + 10 > file.length) return source;
  const codeSizeAt = end + 10 + tableBytes(file[end + 9]);
  const { data, last } = dataFrom(file, codeSizeAt + 1);
  const coded = codedPixels(data, file[codeSizeAt] ?? 0);
  const missing = file.readUInt16LE(end + 5) * file.readUInt16LE(end + 7) - coded.all;
  const perByte = Math.max(coded.byLast / maxMissing, coded.all / data.length);
  if (coded.all === 0 || missing > tolerance * maxMissing * perByte) return source;
  const copy = Buffer.concat([file, Buffer.of(0), trailer]);
  copy.writeUInt8(file.length - last - 1, last);
  return copy;
}

/** Returns the sub-blocks' data up to the file's end, and the last sub-block's offset. */
function dataFrom(file: Buffer, from: number): { readonly data: Buffer; readonly last: number } {
  const blocks: Buffer[] = [];
  let last = from;
  for (let at = from; at < file.length; at += 1 + (file[at] ?? 0)) {
    blocks.push(file.subarray(at + 1, at + 1 + (file[at] ?? 0)));
    last = at;
  }
  return { data: Buffer.concat(blocks), last };
}

/**
 * Returns the number of pixels that LZW codes stand for (GIF89a specification, appendix F), in all
 * data and in the last bytes; 0 if the data is invalid.
 */
function codedPixels(
  data: Buffer,
  rootBits: number,
): { readonly all: number; readonly byLast: number } {
  const none = { all: 0, byLast: 0 };
  if (rootBits < 2 || rootBits > 8) return none;
  const clear = 2 ** rootBits;
  /** Pixels per code. */
  const lengths = new Uint16Array(4096).fill(1, 0, clear);
  let [next, bits, previous, at] = [clear + 2, rootBits + 1, 0, 0];
  let [all, byLast] = [0, 0];
  const lastAt = 8 * (data.length - maxMissing);
  for (let codes = 0; at + bits <= 8 * data.length; codes += 1) {
    if (codes === maxCodes) return none;
    const byte = at >> 3;
    const word = (data[byte] ?? 0) | ((data[byte + 1] ?? 0) << 8) | ((data[byte + 2] ?? 0) << 16);
    const code = (word >> (at & 7)) & (2 ** bits - 1);
    at += bits;
    if (code === clear) [next, bits, previous] = [clear + 2, rootBits + 1, 0];
    else if (code > next || code === clear + 1) return { all, byLast };
    else {
      // The next code is the previous code plus a pixel.
      if (previous > 0 && next < 4096) {
        lengths[next] = previous + 1;
        next += 1;
        if (next === 2 ** bits && bits < 12) bits += 1;
      }
      previous = lengths[code] ?? 0;
      all += previous;
      if (at > lastAt) byLast += previous;
    }
  }
  return { all, byLast };
}
