import { bounded, bytesOf } from './bmp.ts';
import { type BitmapHeader, corrupt, readBitmapHeader } from './header.ts';
import { decodePixels, isVisible, type RawPixels, stride } from './pixels.ts';

/** The largest picture of an ICO or CUR: a whole PNG, or a bitmap without a file header. */
export type Icon =
  | { readonly png: Buffer }
  | { readonly png: null; readonly bytes: Buffer; readonly header: BitmapHeader };

const directoryBytes = 6;
const entryBytes = 16;
const pngSignature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

/** @throws ServiceError source_unsupported, source_corrupt */
export function readIcon(source: Uint8Array): Icon {
  return bounded(() => {
    const file = bytesOf(source);
    let best: { bytes: Buffer; pixels: number; bits: number } | null = null;
    for (let entry = 0; entry < file.readUInt16LE(4); entry += 1) {
      const at = directoryBytes + entryBytes * entry;
      const from = file.readUInt32LE(at + 12);
      // Some writers' lengths are wrong, and no decoder needs them.
      const bytes = file.subarray(from);
      const found = { bytes, ...sizeOf(bytes) };
      const larger = best === null || found.pixels > best.pixels;
      if (larger || (found.pixels === best?.pixels && found.bits > best.bits)) best = found;
    }
    if (best === null) throw corrupt('has no picture');
    const { bytes } = best;
    if (isPng(bytes)) return { png: bytes };
    return { png: null, bytes, header: readBitmapHeader(bytes, 0, true) };
  });
}

const isPng = (bytes: Buffer) => bytes.subarray(0, 8).equals(pngSignature);

/** What the picture itself says: the directory has one byte for a side, and may be wrong. */
function sizeOf(bytes: Buffer): { pixels: number; bits: number } {
  if (isPng(bytes)) {
    return { pixels: bytes.readUInt32BE(16) * bytes.readUInt32BE(20), bits: 32 };
  }
  const pixels = Math.abs((bytes.readInt32LE(4) * bytes.readInt32LE(8)) / 2);
  return { pixels, bits: bytes.readUInt16LE(14) };
}

/**
 * The pixels of a bitmap in an ICO, with the transparency of its mask where it has none of its own.
 *
 * @throws ServiceError source_corrupt
 */
export function decodeIcon({ bytes, header }: Extract<Icon, { png: null }>): RawPixels {
  return bounded(() => {
    const { width, height, bits } = header;
    const colours = decodePixels(bytes, header.pixelsAt, header);
    const own = colours.channels === 4;
    // Icons from before there was transparency leave the fourth byte 0 everywhere.
    if (own && isVisible(colours)) return colours;
    const data = own ? colours.data : withAlpha(colours.data);
    const maskAt = header.pixelsAt + stride(width, bits) * height;
    const rowBytes = stride(width, 1);
    for (let row = 0; row < height; row += 1) {
      const to = (height - 1 - row) * width;
      for (let x = 0; x < width; x += 1) {
        // A mask that is not there hides nothing.
        const byte = bytes[maskAt + row * rowBytes + (x >> 3)] ?? 0;
        data[4 * (to + x) + 3] = (byte >> (7 - (x & 7))) & 1 ? 0 : 255;
      }
    }
    return { data, width, height, channels: 4 };
  });
}

function withAlpha(data: Buffer): Buffer {
  const pixels = data.length / 3;
  const wide = Buffer.alloc(4 * pixels);
  for (let pixel = 0; pixel < pixels; pixel += 1) {
    data.copy(wide, 4 * pixel, 3 * pixel, 3 * pixel + 3);
  }
  return wide;
}
