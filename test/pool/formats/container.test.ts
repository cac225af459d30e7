import sharp from 'sharp';
import t from 'tap';
import {
  containerFormats,
  maxMetadataParts,
  maxParts,
  maxThreadMetadataBytes,
  openContainer,
} from '../../../pool/formats/container/container.ts';
import { type MetadataRole, metadataRoles } from '../../../pool/formats/container/parts.ts';
import { IsolationRequired } from '../../../pool/formats/isolation.ts';
import { render } from '../../../pool/rendering/render.ts';
import { jpegSegment, pngChunk, riffChunk } from '../../hostile/inputs/chunks.ts';
import { embedded } from '../../hostile/inputs/embed.ts';
import { withTags } from '../../hostile/inputs/icc.ts';
import { text, tiffOf, tiffPicture } from '../../hostile/inputs/tiff.ts';
import { limits } from '../rendering/drawn.ts';
import { noise, shared, variant } from '../rendering/pictures.ts';

const none = Buffer.alloc(0);
const latin = (value: string) => Buffer.from(value, 'latin1');
const inserted = (file: Buffer, at: number, ...parts: readonly Buffer[]) =>
  Buffer.concat([file.subarray(0, at), ...parts, file.subarray(at)]);

const picture = noise(20, 10);
const jpeg = await picture.clone().jpeg().toBuffer();
const png = await picture.clone().png().toBuffer();
const gif = await picture.clone().gif().toBuffer();
const webp = await picture.clone().withXmp('<x/>').webp().toBuffer();
const avif = await picture.clone().avif({ effort: 0 }).toBuffer();

const behindHeader = { jpeg: 2, png: 33, gif: 13 + 3 * 2 ** (((gif[10] ?? 0) & 7) + 1) };
const withSize = (file: Buffer) => {
  file.writeUInt32LE(file.length - 8, 4);
  return file;
};

/** JPEG segments of a kind that have some bytes together. */
function segments(marker: number, name: string, bytes: number): Buffer {
  const most = 65_000;
  const parts: Buffer[] = [];
  for (let left = bytes; left > 0; left -= most) {
    const data = Buffer.alloc(Math.min(left, most) - 4, name, 'latin1');
    parts.push(jpegSegment(marker, data));
  }
  return Buffer.concat(parts);
}
const inJpeg = (marker: number, name: string) => (bytes: number) =>
  inserted(jpeg, behindHeader.jpeg, segments(marker, name, bytes));

const inPng = (type: string, name: string) => (bytes: number) =>
  inserted(png, behindHeader.png, pngChunk(type, Buffer.alloc(bytes - 12, latin(name))));

const inWebp = (type: string) => (bytes: number) =>
  withSize(inserted(webp, webp.length, riffChunk([type, Buffer.alloc(bytes - 8)])));

/** GIF comments in sub-blocks of 255 bytes, and one of the rest. */
function comment(bytes: number): Buffer {
  const whole = Buffer.alloc(256, 'a');
  whole[0] = 255;
  const rest = bytes - 3;
  const last = Buffer.alloc(rest % 256, 'a');
  if (last.length > 0) last[0] = last.length - 1;
  return Buffer.concat([
    latin('\x21\xfe'),
    ...new Array<Buffer>(Math.floor(rest / 256)).fill(whole),
    last,
    Buffer.alloc(1),
  ]);
}

const ofTiff = (tag: number, type: number) => (bytes: number) =>
  tiffOf(tiffPicture([{ tag, type, value: Buffer.alloc(bytes) }]));

type Make = (bytes: number) => Buffer;

/** A picture with metadata of each role that a format can have, by the bytes of its parts. */
const makers: Partial<Record<keyof typeof containerFormats, Partial<Record<MetadataRole, Make>>>> =
  {
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
    gif: { text: (bytes) => inserted(gif, behindHeader.gif, comment(bytes)) },
    webp: { profile: inWebp('ICCP'), exif: inWebp('EXIF'), xmp: inWebp('XMP ') },
    tiff: {
      profile: ofTiff(34_675, 7),
      xmp: ofTiff(700, 1),
      iptc: ofTiff(33_723, 7),
      text: (bytes) => tiffOf(tiffPicture([text(0x010e, Buffer.alloc(bytes, 'a'))])),
    },
    avif: {
      profile: (bytes) => embedded.avif(avif, { icc: Buffer.alloc(bytes - 4) }),
      exif: (bytes) => embedded.avif(avif, { exif: Buffer.alloc(bytes - 4) }),
      xmp: (bytes) => embedded.avif(avif, { xmp: Buffer.alloc(bytes) }),
    },
  };

const onThread = { ...limits, isolated: false };
const open = (source: Buffer, asked = {}) =>
  render(shared(source), null, variant({ formats: ['png'], ...asked }), onThread);

t.test('each kind of metadata is ordinary up to its limit, and not above it', async (t) => {
  for (const [kind, format] of Object.entries(containerFormats)) {
    const its = makers[kind as keyof typeof containerFormats] ?? {};
    if (format !== null && kind !== 'heif') t.ok(Object.keys(its).length > 0, kind);
    for (const [role, make] of Object.entries(its)) {
      const most = maxThreadMetadataBytes[role as MetadataRole];
      // The webp has XMP, and profiles of a JPEG are in several segments.
      const before = openContainer(make(64)).excessMetadata.size;
      t.equal(before, 0, `${kind} ${role}`);
      const fits = most - (kind === 'webp' && role === 'xmp' ? 12 : 0);
      t.same([...openContainer(make(fits)).excessMetadata], [], `${kind} ${role} of ${fits} bytes`);
      const above = make(fits + 1 + (kind === 'webp' ? 1 : 0));
      t.same([...openContainer(above).excessMetadata], [role], `${kind} ${role} of more`);
      const isCut = format?.sequential && ['xmp', 'iptc', 'text'].includes(role);
      if (isCut) {
        t.equal((await open(above)).width, 20, `${kind} ${role}: left out`);
        for (const kept of [{ stripMetadata: false }, { copyright: true }]) {
          await t.rejects(open(above, kept), IsolationRequired, `${kind} ${role}: is asked for`);
        }
      } else await t.rejects(open(above), IsolationRequired, `${kind} ${role}: in a process`);
    }
  }
});

t.test('compressed text and profiles are judged before they are decompressed', async (t) => {
  const profile = Buffer.alloc(2 ** 20 + 1);
  profile.writeUInt32BE(profile.length);
  const large = embedded.png(png, { icc: profile });
  t.ok(large.length < png.length + 2_000);
  t.same([...openContainer(large).excessMetadata], ['profile']);
  const small = embedded.png(png, { icc: Buffer.alloc(100) });
  t.same([...openContainer(small).excessMetadata], []);
  const packed = embedded.png(png, { xmp: latin('<x/>') });
  t.same([...openContainer(packed).excessMetadata], ['xmp']);
  const zipped = inserted(png, behindHeader.png, pngChunk('zTXt', latin('a\0\0')));
  t.same([...openContainer(zipped).excessMetadata], ['text']);
  t.equal((await open(zipped)).width, 20);
});

t.test('many parts are refused, and many of metadata are left out', async (t) => {
  const many = (count: number): Record<string, Buffer> => ({
    jpeg: inserted(jpeg, 2, ...new Array(count).fill(jpegSegment(0xfe, none))),
    png: inserted(png, 33, ...new Array(count).fill(pngChunk('prVt', none))),
    gif: inserted(gif, behindHeader.gif, ...new Array(count).fill(latin('\x21\xfe\0'))),
    webp: withSize(
      inserted(webp, webp.length, ...new Array(count).fill(riffChunk(['abcd', none]))),
    ),
    tiff: tiffOf(tiffPicture(Array.from({ length: count }, () => text(40_000, latin('a'))))),
  });
  for (const [kind, source] of Object.entries(many(maxMetadataParts - 5))) {
    t.equal(openContainer(source).excessMetadata.size, 0, kind);
  }
  for (const [kind, source] of Object.entries(many(maxMetadataParts + 5))) {
    t.equal(openContainer(source).excessMetadata.size, 1, kind);
    if (kind !== 'tiff') t.equal((await open(source)).width, 20, kind);
  }
  for (const [kind, source] of Object.entries(many(maxParts - 50))) {
    t.ok(openContainer(source), kind);
  }
  const refused = { code: 'source_too_large', message: /more than 50000 parts/ };
  for (const [kind, source] of Object.entries(many(maxParts + 1))) {
    t.throws(() => openContainer(source), refused, kind);
  }
});

t.test('bytes that many parts share, and malformed boxes, are for a process', async (t) => {
  const value = Buffer.alloc(10_000, 'a');
  const entries = Array.from({ length: 20 }, (_, index) => text(40_000 + index, value));
  const tiff = tiffOf(tiffPicture(entries));
  t.equal(openContainer(tiff).inconsistent, true);
  await t.rejects(open(tiff), IsolationRequired);
  t.equal(openContainer(avif).inconsistent, false);
  const boxes = Buffer.concat([avif, Buffer.alloc(8 * 10_001, '\0\0\0\x08free', 'latin1')]);
  t.throws(() => openContainer(boxes), {
    code: 'source_too_large',
    message: /more than 10000 parts/,
  });
  const malformed = Buffer.concat([avif, latin('\0\0\0\x02free')]);
  t.equal(openContainer(malformed).inconsistent, true);
  await t.rejects(open(malformed), IsolationRequired);
});

t.test(
  'profiles that may take long are for a process, and those that would are refused',
  async (t) => {
    const honest = (
      await sharp(await picture.clone().withIccProfile('p3').png().toBuffer()).metadata()
    ).icc as Buffer;
    const elements = (count: number) => {
      const data = Buffer.alloc(64);
      data.write('mpet', 0, 'latin1');
      data.writeUInt32BE(count, 12);
      return embedded.png(png, { icc: withTags(honest, [{ signature: 'D2B0', data }]) });
    };
    await t.rejects(open(elements(32)), IsolationRequired);
    await t.rejects(open(elements(33)), {
      code: 'source_unsupported',
      message: /33 processing elements in one tag; at most 32/,
    });
    const long = Buffer.alloc(9 * 2 ** 20);
    const large = embedded.png(png, { icc: withTags(honest, [{ signature: 'wtpt', data: long }]) });
    const inProcess = { ...onThread, isolated: true };
    await t.rejects(render(shared(large), null, variant(), inProcess), {
      code: 'source_unsupported',
      message: /at most 8388608 are allowed/,
    });
    await t.resolves(open(embedded.png(png, { icc: honest })));
  },
);

t.test('a picture with rows of much memory is for a process', async (t) => {
  const wide = (width: number) =>
    sharp({ create: { width, height: 1, channels: 3, background: 'red' } })
      .png()
      .toBuffer();
  t.equal((await open(await wide(65_535), { width: 9 })).width, 9);
  await t.rejects(open(await wide(65_536), { width: 9 }), IsolationRequired);
});

t.test('what separates no parts is read in a bounded number of steps', async (t) => {
  const refused = { code: 'source_too_large', message: /more than 4000000 parts/ };
  t.throws(() => openContainer(inserted(jpeg, 2, Buffer.alloc(5_000_000, 0xff))), refused);
  const blocks = Buffer.concat([latin('\x21\xfe'), Buffer.alloc(10_000_000, '\x01a'), latin('\0')]);
  t.throws(() => openContainer(inserted(gif, behindHeader.gif, blocks)), refused);
});

t.test('a JPEG segment shorter than its own length hides nothing', async (t) => {
  const short = Buffer.from('ffe10000', 'hex');
  const source = inserted(jpeg, 2, short, segments(0xfe, 'a', 70_000));
  t.equal((await sharp(source).metadata()).width, 20, 'a decoder goes on behind it');
  t.same([...openContainer(source).excessMetadata], ['text']);
});

t.test('every role of metadata has a limit', (t) => {
  t.same(Object.keys(maxThreadMetadataBytes), metadataRoles);
  t.end();
});
