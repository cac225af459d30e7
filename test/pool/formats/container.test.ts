import sharp from 'sharp';
import t from 'tap';
import {
  type MetadataRole,
  maxMetadataParts,
  maxParts,
  maxThreadMetadataBytes,
} from '../../../pool/formats/container/examination.ts';
import { openContainer, sourceFormats } from '../../../pool/formats/source-formats.ts';
import { type Box, boxFile, boxFileBytes, inMeta } from '../../hostile/inputs/boxes.ts';
import { inserted, latin1, none, repeated } from '../../hostile/inputs/bytes.ts';
import {
  jpegSegment,
  pngChunk,
  type RiffChunk,
  riff,
  riffChunks,
} from '../../hostile/inputs/chunks.ts';
import { embedded } from '../../hostile/inputs/embed.ts';
import { withTags } from '../../hostile/inputs/icc.ts';
import { progressiveScans } from '../../hostile/inputs/scans.ts';
import { svg } from '../../hostile/inputs/svgs.ts';
import { createTiff, text, tiffPicture } from '../../hostile/inputs/tiff.ts';
import { openPool, patient } from '../execution/pools.ts';
import { drawn, renderedIfLight } from '../rendering/drawn.ts';
import { filled, noise, shared, variant } from '../rendering/pictures.ts';
import { withCodes } from './colour-codes.ts';

const picture = noise(20, 10);
const jpeg = await picture.clone().jpeg().toBuffer();
const png = await picture.clone().png().toBuffer();
const gif = await picture.clone().gif().toBuffer();
const webp = await picture.clone().withXmp('<x/>').webp().toBuffer();
const avif = await picture.clone().avif({ effort: 0 }).toBuffer();

const afterHeader = { jpeg: 2, png: 33, gif: 13 + 3 * 2 ** (((gif[10] ?? 0) & 7) + 1) };
const behindWebp = (...chunks: RiffChunk[]) => riff([...riffChunks(webp), ...chunks]);

/** Returns JPEG segments of a kind with a total size. */
function segments(marker: number, name: string, bytes: number): Buffer {
  const max = 65_000;
  const parts: Buffer[] = [];
  for (let left = bytes; left > 0; left -= max) {
    parts.push(jpegSegment(marker, Buffer.alloc(Math.min(left, max) - 4, name, 'latin1')));
  }
  return Buffer.concat(parts);
}
const inJpeg = (marker: number, name: string) => (bytes: number) =>
  inserted(jpeg, afterHeader.jpeg, segments(marker, name, bytes));

const inPng = (type: string, name: string) => (bytes: number) =>
  inserted(png, afterHeader.png, pngChunk(type, Buffer.alloc(bytes - 12, latin1(name))));

const inWebp = (type: string) => (bytes: number) => behindWebp([type, Buffer.alloc(bytes - 8)]);

/** Returns a GIF comment in sub-blocks of up to 255 bytes. */
function comment(bytes: number): Buffer {
  const content = Buffer.alloc(bytes - 3, 'a');
  for (let at = 0; at < content.length; at += 256) {
    content[at] = Math.min(255, content.length - at - 1);
  }
  return Buffer.concat([latin1('\x21\xfe'), content, Buffer.alloc(1)]);
}

const ofTiff = (tag: number, type: number) => (bytes: number) =>
  createTiff(tiffPicture([{ tag, type, value: Buffer.alloc(bytes) }]));

type Make = (bytes: number) => Buffer;
const findExcess = (source: Buffer) => [...openContainer(source).excessMetadata];

/** Create images with metadata of each role, by the total size of its parts. */
const makers: Readonly<Record<string, Partial<Record<MetadataRole, Make>>>> = {
  jpeg: {
    profile: inJpeg(0xe2, 'ICC_PROFILE\0\x01\x01'),
    exif: inJpeg(0xe1, 'Exif\0\0'),
    xmp: inJpeg(0xe1, 'http://ns.adobe.com/xap/1.0/\0'),
    iptc: inJpeg(0xed, 'Photoshop 3.0\0'),
    text: inJpeg(0xfe, 'a'),
  },
  png: {
    exif: inPng('eXIf', 'II*\0'),
    xmp: inPng('iTXt', 'XML:com.adobe.xmp\0\0\0\0\0'),
    text: inPng('tEXt', 'Comment\0a'),
  },
  gif: { text: (bytes) => inserted(gif, afterHeader.gif, comment(bytes)) },
  webp: { profile: inWebp('ICCP'), exif: inWebp('EXIF'), xmp: inWebp('XMP ') },
  tiff: {
    profile: ofTiff(34_675, 7),
    xmp: ofTiff(700, 1),
    iptc: ofTiff(33_723, 7),
    text: (bytes) => createTiff(tiffPicture([text(0x010e, Buffer.alloc(bytes, 'a'))])),
  },
  avif: {
    profile: (bytes) => embedded.avif(avif, { icc: Buffer.alloc(bytes - 4) }),
    exif: (bytes) => embedded.avif(avif, { exif: Buffer.alloc(bytes - 4) }),
    xmp: (bytes) => embedded.avif(avif, { xmp: Buffer.alloc(bytes) }),
  },
};

const rendered = { width: 20 };
const placedInProcess = { isolated: true, cost: { bytes: 2 ** 28, isMemoryCapped: true } };

t.test("removes metadata above its kind's limit, or reads it in a process", async (t) => {
  for (const { name: kind, container: format } of sourceFormats) {
    const its = makers[kind] ?? {};
    if (format !== null && kind !== 'heif') t.ok(Object.keys(its).length > 0, kind);
    for (const [role, make] of Object.entries(its)) {
      const max = maxThreadMetadataBytes[role as MetadataRole];
      // The WebP has XMP already.
      const fits = max - (kind === 'webp' && role === 'xmp' ? 12 : 0);
      t.same(findExcess(make(fits)), [], `${kind} ${role} of ${fits} bytes`);
      const above = make(fits + 1 + (kind === 'webp' ? 1 : 0));
      t.same(findExcess(above), [role], `${kind} ${role} of more`);
      const isCut = format?.sequential && ['xmp', 'iptc', 'text'].includes(role);
      if (isCut) {
        t.match(await renderedIfLight(above), rendered, `${kind} ${role}: removed`);
        for (const kept of [{ stripMetadata: false }, { copyright: true }]) {
          t.match(
            await renderedIfLight(above, kept),
            placedInProcess,
            `${kind} ${role}: requested`,
          );
        }
      } else
        t.match(await renderedIfLight(above), placedInProcess, `${kind} ${role}: in a process`);
    }
  }
});

t.test('limits compressed text and profiles by their decompressed size', async (t) => {
  const profile = Buffer.alloc(2 ** 20 + 1);
  profile.writeUInt32BE(profile.length);
  const large = embedded.png(png, { icc: profile });
  t.ok(large.length < png.length + 2_000);
  t.same(findExcess(large), ['profile']);
  const small = embedded.png(png, { icc: Buffer.alloc(100) });
  t.same(findExcess(small), []);
  const packed = embedded.png(png, { xmp: latin1('<x/>') });
  t.same(findExcess(packed), ['xmp']);
  const zipped = inserted(png, afterHeader.png, pngChunk('zTXt', latin1('a\0\0')));
  t.same(findExcess(zipped), ['text']);
  t.match(await renderedIfLight(zipped), rendered);
});

t.test('rejects files with many parts, and removes many parts of metadata', async (t) => {
  const many = (count: number): Record<string, Buffer> => ({
    jpeg: inserted(jpeg, afterHeader.jpeg, repeated(count, jpegSegment(0xfe, none))),
    png: inserted(png, afterHeader.png, repeated(count, pngChunk('prVt', none))),
    gif: inserted(gif, afterHeader.gif, repeated(count, latin1('\x21\xfe\0'))),
    webp: behindWebp(...new Array<RiffChunk>(count).fill(['abcd', none])),
    tiff: createTiff(tiffPicture(Array.from({ length: count }, () => text(40_000, latin1('a'))))),
  });
  for (const [kind, source] of Object.entries(many(maxMetadataParts - 5))) {
    t.equal(findExcess(source).length, 0, kind);
  }
  for (const [kind, source] of Object.entries(many(maxMetadataParts + 5))) {
    t.equal(findExcess(source).length, 1, kind);
    if (kind !== 'tiff') t.match(await renderedIfLight(source), rendered, kind);
  }
  for (const source of Object.values(many(maxParts - 50))) openContainer(source);
  const refused = { code: 'source_too_large', message: /more than 50000 parts/ };
  for (const [kind, source] of Object.entries(many(maxParts + 1))) {
    t.throws(() => openContainer(source), refused, kind);
  }
});

t.test('opens files with shared bytes or malformed boxes in a process', async (t) => {
  const value = Buffer.alloc(10_000, 'a');
  const entries = Array.from({ length: 20 }, (_, index) => text(40_000 + index, value));
  const tiff = createTiff(tiffPicture(entries));
  t.equal(openContainer(tiff).inconsistent, true);
  t.match(await renderedIfLight(tiff), placedInProcess);
  t.equal(openContainer(avif).inconsistent, false);
  const boxes = Buffer.concat([avif, Buffer.alloc(8 * 10_001, '\0\0\0\x08free', 'latin1')]);
  const refused = { code: 'source_too_large', message: /more than 10000 parts/ };
  t.throws(() => openContainer(boxes), refused);
  const malformed = Buffer.concat([avif, latin1('\0\0\0\x02free')]);
  t.equal(openContainer(malformed).inconsistent, true);
  t.match(await renderedIfLight(malformed), placedInProcess);
});

t.test('uses costly profiles in a process, and rejects profiles that are too costly', async (t) => {
  const p3 = await picture.clone().withIccProfile('p3').png().toBuffer();
  const { icc = none } = await sharp(p3).metadata();
  const elements = (count: number) => {
    const data = Buffer.alloc(64);
    data.write('mpet', 0, 'latin1');
    data.writeUInt32BE(count, 12);
    return embedded.png(png, { icc: withTags(icc, [{ signature: 'D2B0', data }]) });
  };
  t.match(await renderedIfLight(elements(32)), placedInProcess);
  await t.rejects(renderedIfLight(elements(33)), {
    code: 'source_unsupported',
    message: /33 processing elements in one tag; at most 32/,
  });
  const long = Buffer.alloc(9 * 2 ** 20);
  const large = embedded.png(png, { icc: withTags(icc, [{ signature: 'wtpt', data: long }]) });
  await t.rejects(drawn(large), {
    code: 'source_unsupported',
    message: /at most 8388608 are allowed/,
  });
  t.match(await renderedIfLight(embedded.png(png, { icc })), rendered);
});

t.test('opens an image with wide rows in a process', async (t) => {
  const wide = (width: number) => filled(width, 1, 'red').png().toBuffer();
  t.match(await renderedIfLight(await wide(65_535), { width: 9 }), { width: 9 });
  t.match(await renderedIfLight(await wide(65_536), { width: 9 }), placedInProcess);
});

t.test('reads the bytes in and between parts in a bounded number of steps', async (t) => {
  const refused = { code: 'source_too_large', message: /more than 4000000 parts/ };
  t.throws(() => openContainer(inserted(jpeg, 2, Buffer.alloc(5_000_000, 0xff))), refused);
  const blocks = Buffer.concat([
    latin1('\x21\xfe'),
    Buffer.alloc(10_000_000, '\x01a'),
    latin1('\0'),
  ]);
  t.throws(() => openContainer(inserted(gif, afterHeader.gif, blocks)), refused);
});

t.test('adds profiles to a bounded number of images in a file', async (t) => {
  const coded = await picture.clone().withIccProfile('p3').avif({ effort: 0 }).toBuffer();
  const withAssociations = (bytes: number): Buffer => {
    const file = boxFile(withCodes(coded, 12, 13));
    const padded = (box: Box): Box =>
      box.type === 'ipma' ? { ...box, data: Buffer.concat([box.data, Buffer.alloc(bytes)]) } : box;
    const properties = inMeta(file, 'iprp');
    Object.assign(properties, { children: properties.children?.map(padded) });
    return boxFileBytes(file);
  };
  const isCompleted = (source: Buffer): boolean => {
    const { bytes, deliverable } = openContainer(source);
    return bytes !== deliverable;
  };
  t.ok(isCompleted(withAssociations(1_000)));
  t.notOk(isCompleted(withAssociations(2 ** 18)));
});

t.test('finds metadata after a JPEG segment of an invalid length', async (t) => {
  const short = Buffer.from('ffe10000', 'hex');
  const source = inserted(jpeg, 2, short, segments(0xfe, 'a', 70_000));
  t.equal((await sharp(source).metadata()).width, 20, 'a decoder continues behind it');
  t.same(findExcess(source), ['text']);
});

const countScans = (bytes: Uint8Array) => openContainer(bytes).scans;

t.test('counts the scans of a JPEG', async (t) => {
  const baseline = await noise(64, 64).jpeg({ quality: 100 }).toBuffer();
  const progressive = await noise(64, 64).jpeg({ progressive: true }).toBuffer();
  t.equal(countScans(baseline), 1);
  t.equal(countScans(progressive), 10);
  t.equal(countScans(progressiveScans(1_024, 882)), 883);
  const thumbnail = jpegSegment(0xe1, progressive);
  const behind = (added: Buffer) => inserted(baseline, 2, added);
  t.equal(countScans(behind(thumbnail)), 1, 'without those of a thumbnail');
  t.equal(countScans(behind(Buffer.from('ffffff00', 'hex'))), 1, 'fill bytes are skipped');
  const two = Buffer.concat([baseline, progressive]);
  t.equal(countScans(two), 1, 'without those of another picture behind it');
  const begin = (all: Buffer) => all.indexOf(Buffer.from('ffda', 'hex'));
  const scan = (all: Buffer) => all.subarray(begin(all), -2);
  const twice = (all: Buffer) => Buffer.concat([all.subarray(0, -2), scan(all), all.subarray(-2)]);
  t.equal(countScans(twice(baseline)), 1, 'without those behind a scan with all components');
  t.equal(countScans(twice(progressive)), 20);
  const apart = Buffer.from(baseline);
  apart[begin(apart) + 4] = 1;
  t.equal(countScans(twice(apart)), 2, 'each scan of single components');
  t.equal(countScans(baseline.subarray(0, 100)), 0);
});

t.test('rejects a JPEG with too many scans for its size', async (t) => {
  const pool = openPool(t, { sourceMaxPixels: 4_000_000 });
  // One megapixel allows four times as many scans as the largest image.
  const transform = (bytes: Uint8Array | string) =>
    pool.transform(shared(bytes), variant({ width: 9 }), patient);
  const allowed = [
    progressiveScans(1_024, 120),
    await noise(300, 200).jpeg({ mozjpeg: true }).toBuffer(),
  ];
  for (const source of allowed) t.equal((await transform(source)).width, 9);
  const refused = {
    code: 'source_too_large',
    message: 'The JPEG has 123 scans; with its 1048576 pixels, at most 122 are allowed.',
  };
  const many = progressiveScans(1_024, 122);
  await t.rejects(transform(many), refused);
  const image = `<image href="data:image/jpeg;base64,${many.toString('base64')}"/>`;
  await t.rejects(transform(svg(image, 'width="9" height="9"')), refused, 'also in an SVG');
});
