import sharp from 'sharp';
import t from 'tap';
import { readHeif } from '../../../pool/formats/heif/header.ts';
import {
  allFormats,
  readableFormats,
  requireSupportedFormat,
} from '../../../pool/formats/source-formats.ts';
import { be32, pngChunk, withPngChunks } from '../../hostile/inputs/chunks.ts';
import { createTiff, type Entry, pointer, shorts, tiffPicture } from '../../hostile/inputs/tiff.ts';
import { drawn, plain } from '../rendering/drawn.ts';
import { near, noise, tiffOfPages, watermark } from '../rendering/pictures.ts';
import { withCodes } from './colour-codes.ts';

const unsupported = { code: 'source_unsupported' };
const still = await plain(20, 10, [200, 60, 40]);

const withProfile = sharp(still).withIccProfile('p3');
const avifWith = async (transfer: number): Promise<Buffer> =>
  withCodes(await withProfile.clone().avif().toBuffer(), 9, transfer);
const pngWith = (transfer: number): Buffer => withCodes(still, 9, transfer);

t.test('rejects HDR colours only if they lack a profile', async (t) => {
  for (const source of [await avifWith(16), pngWith(16)]) {
    await t.rejects(drawn(source), { ...unsupported, message: /HDR image \(PQ\)/ });
  }
  await t.rejects(drawn(pngWith(18)), { ...unsupported, message: /HDR image \(HLG\)/ });
  for (const source of [await avifWith(13), pngWith(13)]) {
    t.same((await drawn(source)).size, [20, 10]);
  }
  const both = withPngChunks(await withProfile.clone().png().toBuffer(), [
    { type: 'cICP', data: Buffer.from([9, 16, 0, 1]) },
  ]);
  t.ok(near((await drawn(both)).at(5, 5), [200, 60, 40]));
});

const box = (content: Buffer, type: string): Buffer =>
  Buffer.concat([be32(8 + content.length), Buffer.from(type), content]);

t.test('uses the still image of an AVIF sequence', async (t) => {
  const sequence = await sharp(still).avif({ lossless: true }).toBuffer();
  sequence.write('avis', 8, 'latin1');
  t.ok(near((await drawn(sequence)).at(5, 5), [200, 60, 40]));
  const table = Buffer.concat([be32(0), be32(0), be32(7)]);
  const movie = ['stsz', 'stbl', 'minf', 'mdia', 'trak', 'moov'].reduce(box, table);
  t.equal(readHeif(Buffer.concat([sequence, movie])).frames, 7);
  const mark = watermark({ position: 'center', scale: 50 });
  const marked = await drawn(await noise(40, 20).png().toBuffer(), { layers: mark }, sequence);
  t.ok(near(marked.at(20, 10), [200, 60, 40]), 'also as a watermark');
});

t.test('rejects an AVIF sequence that lacks a still image as unsupported', async (t) => {
  const withoutStill = Buffer.concat([
    Buffer.from('\0\0\0\x18ftypavis\0\0\0\0avismsf1', 'latin1'),
    Buffer.from('\0\0\0\x08moov', 'latin1'),
  ]);
  await t.rejects(drawn(withoutStill), { ...unsupported, message: /only a sequence/ });
});

t.test('names the detected format and a remedy in the error', async (t) => {
  const formats: Readonly<Record<string, readonly [string, RegExp]>> = {
    'JPEG 2000': ['\xff\x4f\xff\x51\0', /JPEG 2000.*convert/],
    mini: ['\0\0\0\x10ftypmif3avif\0\0\0\x59mini', /a low-overhead HEIF image.*convert/],
    video: ['\0\0\0\x18ftypmp42\0\0\0\0', /a video.*frame/],
    'compressed SVG': ['\x1f\x8b\x08\0', /gzip.*Content-Encoding/],
    JSON: ['\xef\xbb\xbf {"error": "none"}', /a JSON document/],
    HTML: ['\xef\xbb\xbf<!doctype HTML>', /an HTML page\.$/],
    'HTML without doctype': ['\n<head>\n<title>Log in</title>', /an HTML page\.$/],
    'HTML after a comment': ['<!-- 1.4 --><body class="a">', /an HTML page\.$/],
    text: ['hello', /not a JPEG, PNG, .*, HEIC, TIFF, .*, ICO, PDF or JPEG XL\.$/],
  };
  for (const [name, [bytes, message]] of Object.entries(formats)) {
    await t.rejects(drawn(Buffer.from(bytes, 'latin1')), { ...unsupported, message }, name);
  }
});

t.test('reads only the formats that the operator allows', (t) => {
  t.ok(readableFormats(allFormats).includes('HEIC'));
  const readable = readableFormats({ heic: false, pdf: false });
  t.equal(readable.join(), 'JPEG,PNG,WebP,GIF,AVIF,TIFF,SVG,BMP,ICO,JPEG XL');
  t.end();
});

t.test('rejects a PDF unless the operator allows it', (t) => {
  const source = { bytes: Buffer.from('%PDF-1.7'), contentType: 'application/pdf' };
  requireSupportedFormat(source, allFormats);
  const message = /a PDF document; its content type is application\/pdf.*To use it/;
  const allowed = { ...allFormats, pdf: false };
  t.throws(() => requireSupportedFormat(source, allowed), { ...unsupported, message });
  t.end();
});

t.test('lets an operator refuse HEIC', (t) => {
  const bytes = Buffer.from('\0\0\0\x18ftypheic\0\0\0\0mif1heic', 'latin1');
  const source = { bytes, contentType: 'image/heic' };
  requireSupportedFormat(source, allFormats);
  const message =
    /HEIC or HEIF image, which this service is configured not to accept; its content type is image\/heic\. To use it: convert it/;
  const allowed = { ...allFormats, heic: false, pdf: false };
  t.throws(() => requireSupportedFormat(source, allowed), { ...unsupported, message });
  t.end();
});

const tiffWith = (...entries: readonly Entry[]) => createTiff(tiffPicture(entries));

t.test('does not call a TIFF in an unsupported encoding corrupt', async (t) => {
  const rgb = [shorts(262, 2), shorts(277, 3), shorts(258, 12, 12, 12)];
  for (const [source, message] of [
    [tiffWith(shorts(259, 34_925)), /LZMA compression.*To use it/],
    // JPEG compression from before TIFF 6.0.
    [tiffWith(shorts(259, 6)), /JPEG compression.*To use it/],
    [tiffWith(shorts(259, 34_712)), /JPEG 2000 compression/],
    [tiffWith(...rgb), /\(3 samples of 12 bits\)/],
  ] as const) {
    await t.rejects(drawn(source), { ...unsupported, message });
  }
  const truncated = (await noise(16, 16).tiff().toBuffer()).subarray(0, 300);
  const damaged = await noise(16, 16).tiff({ compression: 'lzw' }).toBuffer();
  damaged.fill(0xff, 8, 800);
  for (const source of [truncated, damaged]) {
    await t.rejects(drawn(source), { code: 'source_corrupt' });
  }
});

t.test('rejects a TIFF with tiles of separate planes as unsupported', async (t) => {
  const tiles = await noise(64, 64).tiff({ tile: true, tileWidth: 16, tileHeight: 16 }).toBuffer();
  const directory = tiles.readUInt32LE(4);
  // Value 2 of the tag PlanarConfiguration means separate planes.
  const tag = Buffer.from([284 & 255, 284 >> 8, 3, 0, 1, 0, 0, 0]);
  const planarConfiguration = tiles.indexOf(tag, directory);
  t.same((await drawn(tiles)).size, [64, 64]);
  tiles.writeUInt16LE(2, planarConfiguration + 8);
  const message = /tiles in separate planes/;
  await t.rejects(drawn(tiles), { ...unsupported, message });
});

t.test('rejects a TIFF with tiles of old-style JPEG as unsupported', async (t) => {
  // YCbCr as in TIFF 6.0, section 22. libvips takes such a file for transparent pixels.
  const tiles = [shorts(262, 6), shorts(277, 3), shorts(258, 8, 8, 8), shorts(322, 16)];
  const tiled = [shorts(323, 16), pointer(324, Buffer.alloc(64)), shorts(325, 64)];
  const source = tiffWith(shorts(259, 6), ...tiles, ...tiled);
  await t.rejects(drawn(source), { ...unsupported, message: /tiles of old-style JPEG/ });
});

t.test('rejects a TIFF with 8-bit L*a*b* colours as unsupported', async (t) => {
  const lab = [shorts(262, 8), shorts(277, 3), shorts(258, 8, 8, 8)];
  await t.rejects(drawn(tiffWith(...lab)), { ...unsupported, message: /L\*a\*b\* colours/ });
});

t.test('returns the same TIFF error next to concurrent errors', async (t) => {
  const file = tiffWith(shorts(259, 34_925));
  const corrupt = (await noise(64, 64).png().toBuffer()).subarray(0, 900);
  const findCode = (source: Buffer) =>
    drawn(source).then(
      () => 'none',
      ({ code }) => code,
    );
  // All threads share one buffer for libvips messages, and each thread empties it.
  const codes = await Promise.all(
    Array.from({ length: 300 }, async (_, index) => {
      const isTiff = index % 2 === 0;
      return `${isTiff ? 'TIFF' : 'PNG'} ${await findCode(isTiff ? file : corrupt)}`;
    }),
  );
  t.same([...new Set(codes)].sort(), ['PNG source_corrupt', 'TIFF source_unsupported']);
});

t.test('rejects every page of a TIFF if one page uses an unsupported encoding', async (t) => {
  const pages = tiffOfPages(3);
  const { length } = pages;
  // Compression is the fourth of eight tags of the last page.
  const [tag, directory] = [12, 2 + 8 * 12 + 4];
  pages.writeUInt32LE(34_925, length - directory + 2 + 3 * tag + 8);
  for (const page of [null, 1, 2]) {
    await t.rejects(drawn(pages, { page }), { ...unsupported, message: /LZMA/ });
  }
});

t.test('names the JPEG, PNG and TIFF encodings that it does not read', async (t) => {
  const jpeg = await noise(20, 10).jpeg().toBuffer();
  const frame = jpeg.indexOf(Buffer.from([0xff, 0xc0]));
  const changed = (at: number, value: number) => {
    const copy = Buffer.from(jpeg);
    copy[frame + at] = value;
    return copy;
  };
  const xcode = withPngChunks(still, []);
  const samples = Buffer.alloc(8 * 8 * 7, 99);
  const colours = [shorts(258, 8, 8, 8, 8, 8, 8, 8), shorts(262, 2), pointer(273, samples)];
  const sizes = [shorts(277, 7), shorts(278, 8), shorts(279, samples.length)];
  for (const [name, source] of [
    ['lossless', changed(1, 0xc3)],
    ['12 bits', changed(4, 12)],
    [
      'CgBI',
      Buffer.concat([xcode.subarray(0, 8), pngChunk('CgBI', Buffer.alloc(4)), xcode.subarray(8)]),
    ],
    ['floating-point', sampledTiff(32, 2, shorts(277, 3), shorts(339, 3, 3, 3))],
    ['floating-point', sampledTiff(16, 1, shorts(277, 1), shorts(339, 3))],
    ['signed samples', sampledTiff(16, 1, shorts(277, 1), shorts(339, 2))],
    ['32-bit integers', sampledTiff(32, 1, shorts(277, 1))],
    ['L\\*a\\*b\\* colours with alpha', sampledTiff(16, 8, shorts(277, 4))],
    ['YCbCr', sampledTiff(8, 6, shorts(277, 3))],
    ['7 samples per pixel', createTiff(tiffPicture([...colours, ...sizes]))],
  ] as const) {
    await t.rejects(drawn(source), { ...unsupported, message: new RegExp(name) }, name);
  }
});

/**
 * Returns an 8 × 8 TIFF.
 * @param bits bits per sample, for up to four samples
 */
function sampledTiff(bits: number, colours: number, ...tags: readonly Entry[]): Buffer {
  const samples = Buffer.alloc(8 * 8 * 4 * 4, 99);
  const depths = shorts(258, ...new Array<number>(4).fill(bits));
  const sizes = [shorts(278, 8), shorts(279, samples.length)];
  return createTiff(
    tiffPicture([depths, shorts(262, colours), pointer(273, samples), ...tags, ...sizes]),
  );
}
