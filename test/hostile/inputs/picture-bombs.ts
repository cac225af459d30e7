import { gzipSync } from 'node:zlib';
import { claimingPng, tiffOfPages } from '../../pool/rendering/pictures.ts';
import { type Bomb, createBombs, type Files, type FindOriginal } from './bomb.ts';
import { latin1, repeated } from './bytes.ts';
import {
  be32,
  createPng,
  jpegSegment,
  le16,
  type PngChunk,
  pngChunks,
  type RiffChunk,
  riff,
  riffChunks,
  withPngChunks,
  withSegments,
  zeros,
} from './chunks.ts';
import { embedded } from './embed.ts';
import { progressiveScans } from './scans.ts';
import { svg } from './svgs.ts';
import { createTiff, type Directory, pointer, tiffPicture } from './tiff.ts';

const mebibyte = 2 ** 20;
const sized = (side: number) => `width="${side}" height="${side}"`;

/**
 * Returns small files that decode to very large images.
 * @param scale see `bombs`
 */
export function pictureBombs(original: FindOriginal, scale: number): Bomb[] {
  const [png, jpeg, animation] = [original('png'), original('jpeg'), original('animated webp')];
  const compressed = (type: string, keyword: string, bytes: number): PngChunk => ({
    type,
    data: Buffer.concat([latin1(`${keyword}\0\0`), zeros(bytes)]),
  });
  const text = (bytes: number) => compressed('zTXt', 'Comment', bytes);
  const withoutProfile = createPng(pngChunks(png).filter(({ type }) => type !== 'iCCP'));
  const profilePart = (part: number) => {
    const head = latin1(`ICC_PROFILE\0${String.fromCharCode(part + 1)}\xff`);
    return jpegSegment(0xe2, Buffer.concat([head, Buffer.alloc(65_000, 'acsp')]));
  };
  const files: Files = {
    'a PNG with a text that inflates a thousandfold': () =>
      withPngChunks(png, [text(30 * scale * mebibyte)]),
    'a PNG with many such texts': () =>
      withPngChunks(png, new Array<PngChunk>(200 * scale).fill(text(mebibyte / 2))),
    'a PNG with a colour profile that inflates a thousandfold': () =>
      withPngChunks(withoutProfile, [compressed('iCCP', 'p', 30 * scale * mebibyte)]),
    'a PNG with 1,000 texts': () =>
      withPngChunks(
        png,
        Array.from({ length: 1_000 * scale }, (_, i) => ({
          type: 'tEXt',
          data: latin1(`k${i}\0${'v'.repeat(50)}`),
        })),
      ),
    'a PNG with fewer rows than its header claims': () => claimingPng(1, 90_000_000, 5_000),
    'a PNG of 2 thousand million pixels a side': () => claimingPng(0x7fffffff, 0x7fffffff, 0),
    'a JPEG with 255 parts of a colour profile': () =>
      withSegments(jpeg, ...Array.from({ length: 255 }, (_, part) => profilePart(part))),
    'a JPEG with EXIF that refers to itself': () => {
      const directory: Directory = { entries: [] };
      directory.entries.push(pointer(0x8769, directory));
      directory.next = directory;
      return embedded.jpeg(jpeg, { exif: createTiff(directory, false) });
    },
    'a JPEG with EXIF of 4 thousand million entries': () => {
      const entries = [{ tag: 0xffff, type: 3, count: 0xffffffff, value: be32(8) }];
      return embedded.jpeg(jpeg, { exif: createTiff({ entries }, false) });
    },
    'a JPEG with 500 comments of 64 KB': () =>
      withSegments(jpeg, repeated(50 * scale, jpegSegment(0xfe, Buffer.alloc(65_000)))),
    'a JPEG with the most possible scans': () => progressiveScans(1_024, 882),
    'a large JPEG with many scans': () => progressiveScans(scale === 1 ? 2_048 : 4_096, 90),
    'the largest JPEG with the most possible scans': () => progressiveScans(9_216, 882),
    'a JPEG whose last scan is repeated': () =>
      manyScans(original('progressive jpeg'), 300 * scale),
    'a GIF with the most allowed frames': () => gif(10, 10, 1_000, 10),
    'a GIF with more frames': () => gif(10, 10, 3_000 * scale, 10),
    'a GIF with a huge screen': () => gif(65_535, 65_535, 1, 10),
    'a GIF with a huge screen and many frames': () => gif(1_000, 1_000, 9 * scale, 1),
    'an animated WebP with thousands of frames': () => {
      const chunks = riffChunks(animation);
      const frames = chunks.filter(([type]) => type === 'ANMF').slice(0, 1);
      return riff([...chunks, ...new Array<RiffChunk[]>(1_000 * scale).fill(frames).flat()]);
    },
    'a WebP with a canvas of 16 million pixels a side': () => {
      const at = animation.indexOf('VP8X');
      return Buffer.from(animation).fill(0xff, at + 12, at + 18);
    },
    'a WebP with a profile of zeros': () =>
      riff([...riffChunks(original('webp')), ['ICCP', Buffer.alloc(mebibyte)]]),
    'a TIFF whose directories form a circle': () => {
      const directory = tiffPicture([]);
      directory.next = directory;
      return createTiff(directory);
    },
    'a TIFF with thousands of pages': () => tiffOfPages(3_000 * scale),
    'an AVIF with a huge size': () => {
      const copy = Buffer.from(original('avif'));
      // ispe contains a version and flags before the size (ISO/IEC 23008-12, 6.5.3).
      const size = Buffer.concat([be32(60_000), be32(60_000)]);
      copy.set(size, copy.indexOf('ispe') + 8);
      return copy;
    },
    'an SVG with a huge size': () => latin1(svg('<rect width="9" height="9"/>', sized(100_000))),
    'a deep SVG': () =>
      latin1(svg('<g>'.repeat(5_000 * scale) + '</g>'.repeat(5_000 * scale), sized(9))),
    'an SVG with entities': () =>
      latin1(
        `<!DOCTYPE svg [<!ENTITY a "${'lol'.repeat(99)}"><!ENTITY b "${'&a;'.repeat(99)}">]>${svg('<text>&b;</text>', sized(9))}`,
      ),
    'an SVG in gzip': () => gzipSync(svg(' '.repeat(30 * scale * mebibyte), sized(9))),
  };
  return createBombs(files);
}

/** Repeats the last scan of a progressive JPEG. */
function manyScans(jpeg: Buffer, times: number): Buffer {
  // Entropy-coded data never contains these two bytes.
  const scan = jpeg.lastIndexOf('ffda', undefined, 'hex');
  const end = jpeg.lastIndexOf('ffd9', undefined, 'hex');
  const all = repeated(times + 1, jpeg.subarray(scan, end));
  return Buffer.concat([jpeg.subarray(0, scan), all, jpeg.subarray(end)]);
}

/** Returns a GIF89a. Each frame is a single block that fills part of the screen with one colour. */
function gif(width: number, height: number, frames: number, side: number): Buffer {
  // A global table of two colours.
  const table = Buffer.from([0x80, 0, 0, 0, 0, 0, 255, 255, 255]);
  const control = Buffer.from([0x21, 0xf9, 4, 0, 1, 0, 0, 0]);
  const position = Buffer.from([0x2c, 0, 0, 0, 0]);
  // LZW: clear, 0, end; decoders fill the missing pixels.
  const data = Buffer.from([0, 2, 2, 0x44, 0x01, 0]);
  const frame = Buffer.concat([control, position, le16(side), le16(side), data]);
  const head = [latin1('GIF89a'), le16(width), le16(height), table];
  return Buffer.concat([...head, repeated(frames, frame), Buffer.from([0x3b])]);
}
