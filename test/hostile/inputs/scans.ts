import { jpegSegment } from './chunks.ts';

const blockSide = 8;
/** Number of blocks that a single EOB14 code with 14 zero bits ends. */
const blocksOfRun = 2 ** 14;
const bitsOfRun = 15;
const highestBit = 13;
const coefficients = 63;

/**
 * Returns a grey progressive JPEG with up to 882 scans that obey ITU-T T.81: one scan per bit of
 * every coefficient. All bits are zero, so a scan takes few bytes, but a decoder visits all blocks
 * in every scan.
 * @param side a multiple of 1,024 pixels
 */
export function progressiveScans(side: number, scans: number): Buffer {
  const blocks = (side / blockSide) ** 2;
  const be16 = (value: number) => [value >> 8, value & 0xff];
  const frame = Buffer.from([8, ...be16(side), ...be16(side), 1, 1, 0x11, 0]);
  const quantisation = Buffer.from([0, ...new Array<number>(64).fill(1)]);
  // A single one-bit code: zero.
  const table = (tableClass: number, symbol: number) =>
    Buffer.from([tableClass << 4, 1, ...new Array<number>(15).fill(0), symbol]);
  const zeroBits = (count: number) => {
    const bytes = Buffer.alloc(Math.ceil(count / 8));
    // Fill the last byte with ones (F.1.2.3).
    if (count % 8 > 0) bytes[bytes.length - 1] = 0xff >> (count % 8);
    return bytes;
  };
  const scan = (coefficient: number, before: number, bit: number, bits: number) =>
    Buffer.concat([
      jpegSegment(0xda, Buffer.from([1, 1, 0, coefficient, coefficient, (before << 4) | bit])),
      zeroBits(bits),
    ]);
  const runBits = (blocks / blocksOfRun) * bitsOfRun;
  const bitScans = Array.from({ length: highestBit + 1 }, (_, step) => highestBit - step);
  const all = Array.from({ length: coefficients }, (_, index) =>
    bitScans.map((bit) => scan(index + 1, bit === highestBit ? 0 : bit + 1, bit, runBits)),
  ).flat();
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    jpegSegment(0xdb, quantisation),
    jpegSegment(0xc2, frame),
    jpegSegment(0xc4, table(0, 0)),
    jpegSegment(0xc4, table(1, 0xe0)),
    scan(0, 0, 0, blocks),
    ...all.slice(0, scans),
    Buffer.from([0xff, 0xd9]),
  ]);
}
