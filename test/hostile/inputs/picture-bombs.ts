import { gzipSync } from 'node:zlib';
import type { Bomb } from './bomb.ts';
import {
  be32,
  jpegMarkers,
  jpegSegment,
  pngChunk,
  pngSignature,
  type RiffChunk,
  riff,
  riffChunks,
  withPngChunks,
  withSegments,
  zeros,
} from './chunks.ts';
import type { Kind } from './pictures.ts';
import { progressiveScans } from './scans.ts';

const mebibyte = 1024 * 1024;

/** Pictures of which decoders make very much. @param scale as of `bombs` */
export function pictureBombs(original: (kind: Kind) => Buffer, scale: number): readonly Bomb[] {
  const [png, jpeg, webp] = [original('png'), original('jpeg'), original('webp')];
  const keyword = (text: string) => Buffer.from(`${text}\0\0`, 'latin1');
  const text = (keywordOf: string, data: Buffer) => Buffer.concat([keyword(keywordOf), data]);
  const icc = Buffer.alloc(65_000, 'acsp');
  const app = 0xe0;
  return [
    {
      what: 'a PNG with a text that inflates a thousandfold',
      bytes: () =>
        withPngChunks(png, [{ type: 'zTXt', data: text('Comment', zeros(30 * scale * mebibyte)) }]),
    },
    {
      what: 'a PNG with many of them',
      bytes: () =>
        withPngChunks(
          png,
          Array.from({ length: 200 * scale }, () => ({
            type: 'zTXt',
            data: text('Comment', zeros(mebibyte / 2)),
          })),
        ),
    },
    {
      what: 'a PNG with a colour profile that inflates a thousandfold',
      bytes: () =>
        withPngChunks(withoutChunks(png, 'iCCP'), [
          { type: 'iCCP', data: text('p', zeros(30 * scale * mebibyte)) },
        ]),
    },
    {
      what: 'a PNG with 1,000 texts',
      bytes: () =>
        withPngChunks(
          png,
          Array.from({ length: 1_000 * scale }, (_, i) => ({
            type: 'tEXt',
            data: Buffer.from(`k${i}\0${'v'.repeat(50)}`),
          })),
        ),
    },
    { what: 'a PNG with more rows than it has', bytes: () => hugePng(90_000_000) },
    {
      what: 'a PNG of 2 thousand million pixels a side',
      bytes: () => hugePng(0x7fffffff, 0x7fffffff),
    },
    {
      what: 'a JPEG with 255 parts of a colour profile',
      bytes: () =>
        segments(jpeg, 255, (i) =>
          jpegSegment(
            app + 2,
            Buffer.concat([
              Buffer.from(`ICC_PROFILE\0${String.fromCharCode(i + 1)}\xff`, 'latin1'),
              icc,
            ]),
          ),
        ),
    },
    {
      what: 'a JPEG with EXIF that points to itself',
      bytes: () => segments(jpeg, 1, () => jpegSegment(app + 1, loopingExif())),
    },
    {
      what: 'a JPEG with EXIF of 4 thousand million entries',
      bytes: () =>
        segments(jpeg, 1, () =>
          jpegSegment(app + 1, exif(Buffer.from('ffff0300', 'hex'), 0xffffffff)),
        ),
    },
    {
      what: 'a JPEG with 500 comments of 64 KB',
      bytes: () => segments(jpeg, 50 * scale, () => jpegSegment(0xfe, icc)),
    },
    {
      what: 'a JPEG with as many scans as there can be',
      bytes: () => progressiveScans(1_024, 882),
    },
    {
      what: 'a large JPEG with many scans',
      bytes: () => progressiveScans(scale === 1 ? 2_048 : 4_096, 90),
    },
    {
      what: 'the largest JPEG with as many scans as there can be',
      bytes: () => progressiveScans(9_216, 882),
    },
    {
      what: 'a JPEG that ends with the same scan again and again',
      bytes: () => manyScans(original('progressive jpeg'), 300 * scale),
    },
    { what: 'a GIF with as many frames as are allowed', bytes: () => gif(10, 10, 1_000, 10) },
    { what: 'a GIF with more of them', bytes: () => gif(10, 10, 3_000 * scale, 10) },
    { what: 'a GIF with a huge screen', bytes: () => gif(65_535, 65_535, 1, 10) },
    {
      what: 'a GIF with a huge screen and many frames',
      bytes: () => gif(1_000, 1_000, 9 * scale, 1),
    },
    {
      what: 'an animated WebP with thousands of frames',
      bytes: () => webpFrames(original('animated webp'), 1_000 * scale),
    },
    {
      what: 'a WebP with a canvas of 16 million pixels a side',
      bytes: () => webpCanvas(original('animated webp')),
    },
    {
      what: 'a WebP with a profile of zeros',
      bytes: () => riff([...riffChunks(webp), ['ICCP', Buffer.alloc(mebibyte)]]),
    },
    {
      what: 'a TIFF whose directories point in a circle',
      bytes: () => tiffCircle(original('tiff')),
    },
    { what: 'a TIFF with thousands of pages', bytes: () => tiffPages(3_000 * scale) },
    { what: 'an AVIF with a huge size', bytes: () => avifSize(original('avif')) },
    { what: 'an SVG with a huge size', bytes: () => svg('<rect width="9" height="9"/>', 100_000) },
    {
      what: 'a deep SVG',
      bytes: () => svg('<g>'.repeat(5_000 * scale) + '</g>'.repeat(5_000 * scale), 9),
    },
    {
      what: 'an SVG with entities',
      bytes: () =>
        Buffer.from(
          `<!DOCTYPE svg [<!ENTITY a "${'lol'.repeat(99)}"><!ENTITY b "${'&a;'.repeat(99)}">]>${svg('<text>&b;</text>', 9)}`,
        ),
    },
    { what: 'an SVG in gzip', bytes: () => gzipSync(svg(' '.repeat(30 * scale * mebibyte), 9)) },
  ];
}

const svg = (content: string, side: number): Buffer =>
  Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${side}" height="${side}">${content}</svg>`,
  );

const segments = (jpeg: Buffer, count: number, segment: (i: number) => Buffer): Buffer =>
  withSegments(jpeg, ...Array.from({ length: count }, (_, i) => segment(i)));

function withoutChunks(png: Buffer, type: string): Buffer {
  const at = png.indexOf(type);
  if (at === -1) return png;
  const length = png.readUInt32BE(at - 4);
  return Buffer.concat([png.subarray(0, at - 4), png.subarray(at + 8 + length)]);
}

function hugePng(height: number, width = 1): Buffer {
  const header = Buffer.concat([be32(width), be32(height), Buffer.from([8, 0, 0, 0, 0])]);
  const data = zeros(10_000);
  return Buffer.concat([
    pngSignature,
    pngChunk('IHDR', header),
    pngChunk('IDAT', data),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

/** EXIF 2.32, 4.5: a TIFF in big-endian, with one directory of one entry. */
function exif(tagAndType: Buffer, count: number, next = 0): Buffer {
  const entry = Buffer.concat([tagAndType, be32(count), be32(8)]);
  const tiff = Buffer.concat([
    Buffer.from('MM\0*', 'latin1'),
    be32(8),
    Buffer.from([0, 1]),
    entry,
    be32(next),
  ]);
  return Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), tiff]);
}

/** The EXIF directory (tag 0x8769) is the one that names it, and so is the next one. */
const loopingExif = (): Buffer => exif(Buffer.from('87690004', 'hex'), 1, 8);

/** Repeats the last scan of a progressive JPEG. */
function manyScans(jpeg: Buffer, times: number): Buffer {
  const scan = jpegMarkers(jpeg, 0xda).at(-1) ?? 0;
  const end = jpegMarkers(jpeg, 0xd9).at(-1) ?? jpeg.length;
  const repeated = new Array<Buffer>(times).fill(jpeg.subarray(scan, end));
  return Buffer.concat([jpeg.subarray(0, end), ...repeated, jpeg.subarray(end)]);
}

/** GIF89a; every frame is one block that fills a part of the screen with one colour. */
function gif(width: number, height: number, frames: number, side: number): Buffer {
  const le16 = (value: number) => Buffer.from([value & 0xff, value >> 8]);
  const head = Buffer.concat([
    Buffer.from('GIF89a'),
    le16(width),
    le16(height),
    // A global table of two colours.
    Buffer.from([0x80, 0, 0, 0, 0, 0, 255, 255, 255]),
  ]);
  const control = Buffer.from([0x21, 0xf9, 4, 0, 1, 0, 0, 0]);
  const descriptor = Buffer.concat([
    Buffer.from([0x2c, 0, 0, 0, 0]),
    le16(side),
    le16(side),
    Buffer.from([0]),
  ]);
  // LZW: clear, 0, end; a decoder fills up what is missing.
  const data = Buffer.from([2, 2, 0x44, 0x01, 0]);
  const frame = Buffer.concat([control, descriptor, data]);
  return Buffer.concat([head, ...new Array<Buffer>(frames).fill(frame), Buffer.from([0x3b])]);
}

function webpFrames(webp: Buffer, times: number): Buffer {
  const chunks = riffChunks(webp);
  const frame = chunks.find(([type]) => type === 'ANMF');
  if (frame === undefined) throw new Error('no frame');
  return riff([...chunks, ...new Array<RiffChunk>(times).fill(frame)]);
}

function webpCanvas(webp: Buffer): Buffer {
  const copy = Buffer.from(webp);
  copy.fill(0xff, copy.indexOf('VP8X') + 12, copy.indexOf('VP8X') + 18);
  return copy;
}

function tiffCircle(tiff: Buffer): Buffer {
  const copy = Buffer.from(tiff);
  const directory = copy.readUInt32LE(4);
  copy.writeUInt32LE(directory, directory + 2 + 12 * copy.readUInt16LE(directory));
  return copy;
}

/** TIFF 6.0: directories of a picture of one pixel, one after the other. */
function tiffPages(count: number): Buffer {
  const tags: readonly [tag: number, type: number, value: number][] = [
    [256, 3, 1],
    [257, 3, 1],
    [258, 3, 8],
    [259, 3, 1],
    [262, 3, 1],
    [273, 4, 8],
    [277, 3, 1],
    [278, 3, 1],
    [279, 4, 1],
  ];
  const size = 2 + 12 * tags.length + 4;
  const first = 12;
  const bytes = Buffer.alloc(first + size * count);
  bytes.write('II*\0', 0, 'latin1');
  bytes.writeUInt32LE(first, 4);
  for (let page = 0; page < count; page++) {
    const at = first + page * size;
    bytes.writeUInt16LE(tags.length, at);
    for (const [index, [tag, type, value]] of tags.entries()) {
      const entry = at + 2 + 12 * index;
      bytes.writeUInt16LE(tag, entry);
      bytes.writeUInt16LE(type, entry + 2);
      bytes.writeUInt32LE(1, entry + 4);
      bytes.writeUInt32LE(value, entry + 8);
    }
    bytes.writeUInt32LE(page === count - 1 ? 0 : at + size, at + size - 4);
  }
  return bytes;
}

/** ISO/IEC 14496-12: ispe has a version and flags before the size. */
function avifSize(avif: Buffer): Buffer {
  const copy = Buffer.from(avif);
  const at = copy.indexOf('ispe');
  copy.writeUInt32BE(60_000, at + 8);
  copy.writeUInt32BE(60_000, at + 12);
  return copy;
}
