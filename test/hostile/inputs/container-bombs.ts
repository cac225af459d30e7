import type { Bomb } from './bomb.ts';
import { box, boxFile, boxFileBytes, inMeta } from './boxes.ts';
import {
  be16,
  be32,
  jpegSegment,
  pngChunk,
  pngSignature,
  riffChunk,
  riffChunks,
  withSegments,
} from './chunks.ts';
import { dataSet, embedded, resourceOf } from './embed.ts';
import type { Kind } from './pictures.ts';
import { type Directory, tiffOf, tiffPicture } from './tiff.ts';

const none = Buffer.alloc(0);
const latin = (value: string) => Buffer.from(value, 'latin1');
/** A part again and again. */
const times = (count: number, part: Buffer): Buffer => Buffer.alloc(count * part.length, part);

/** What is put behind the head of a file, up to nearly the largest source. */
function inserted(file: Buffer, at: number, part: Buffer): Buffer {
  return Buffer.concat([file.subarray(0, at), part, file.subarray(at)]);
}

/** Pictures with many parts, of which most are empty. */
export function containerBombs(original: (kind: Kind) => Buffer): readonly Bomb[] {
  const [png, jpeg, gif] = [original('png'), original('jpeg'), original('gif')];
  const [webp, avif, animation] = [original('webp'), original('avif'), original('animated gif')];
  const afterHeader = pngSignature.length + 25;
  const withChunks = (type: string, count: number) =>
    inserted(png, afterHeader, times(count, pngChunk(type, none)));
  const withMany = (count: number, segment: Buffer) => withSegments(jpeg, times(count, segment));
  // Behind the global colour table.
  const table = ((gif[10] ?? 0) & 0x80) === 0 ? 13 : 13 + 3 * 2 ** (((gif[10] ?? 0) & 7) + 1);
  const inGif = (part: Buffer) => inserted(gif, table, part);
  const inWebp = (type: string, count: number) => {
    const file = Buffer.concat([webp, times(count, riffChunk([type, none]))]);
    file.writeUInt32LE(file.length - 8, 4);
    return file;
  };
  const changed = (change: (file: ReturnType<typeof boxFile>) => void) => () => {
    const file = boxFile(avif);
    change(file);
    return boxFileBytes(file);
  };
  const boxes = (count: number) => latin('\0\0\0\x08free'.repeat(count));
  const nested = (type: string, depth: number) => {
    const bytes = Buffer.alloc(8 * depth, latin(`\0\0\0\0${type}`));
    for (let at = 0; at < bytes.length; at += 8) bytes.writeUInt32BE(bytes.length - at, at);
    return bytes;
  };
  const files: Readonly<Record<string, () => Buffer>> = {
    'a PNG with 2,700,000 empty chunks': () => withChunks('prVt', 2_700_000),
    'a PNG with 2,700,000 empty texts': () => withChunks('tEXt', 2_700_000),
    'a PNG with 2,000,000 empty IDAT': () => withChunks('IDAT', 2_000_000),
    'a PNG with 2,000,000 chunks behind its end': () =>
      Buffer.concat([png, times(2_000_000, pngChunk('tEXt', none))]),
    'a JPEG with 7,000,000 empty comments': () => withMany(7_000_000, jpegSegment(0xfe, none)),
    'a JPEG with 7,000,000 empty APP1': () => withMany(7_000_000, jpegSegment(0xe1, none)),
    'a JPEG with 3,000,000 EXIF': () => withMany(3_000_000, jpegSegment(0xe1, latin('Exif\0\0'))),
    'a JPEG with 1,500,000 parts of a profile': () =>
      withMany(1_500_000, jpegSegment(0xe2, latin('ICC_PROFILE\0\x01\xff'))),
    'a JPEG with 30,000,000 fill bytes': () => withMany(30_000_000, Buffer.from([0xff])),
    'a JPEG with 15,000,000 restart markers before its frame': () =>
      withMany(15_000_000, Buffer.from([0xff, 0xd0])),
    'a JPEG with 15,000,000 starts': () => withMany(15_000_000, Buffer.from([0xff, 0xd8])),
    'a JPEG with 300,000 tables': () => withMany(300_000, jpegSegment(0xdb, Buffer.alloc(65, 1))),
    'a JPEG with 4,000,000 restart intervals': () =>
      withMany(4_000_000, jpegSegment(0xdd, be16(0))),
    'a GIF with 10,000,000 comments': () => inGif(times(10_000_000, latin('\x21\xfe\0'))),
    'a GIF with a comment in 15,000,000 parts': () =>
      inGif(Buffer.concat([latin('\x21\xfe'), times(15_000_000, latin('\x01a')), Buffer.alloc(1)])),
    'a GIF with 3,000,000 graphic controls': () =>
      inGif(times(3_000_000, latin('\x21\xf9\x04\0\0\0\0\0'))),
    'a GIF with 1,500,000 applications': () =>
      inGif(times(1_500_000, latin('\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0'))),
    'a GIF whose second frame is cut off': () =>
      animation.subarray(0, Math.floor(animation.length * 0.6)),
    'a GIF whose second frame is no image': () => {
      const copy = Buffer.from(animation);
      const second = copy.indexOf(0x2c, copy.length >> 1);
      copy.fill(0xff, second + 1, second + 9);
      return copy;
    },
    'a WebP with 3,500,000 chunks': () => inWebp('abcd', 3_500_000),
    'a WebP with 3,500,000 EXIF': () => inWebp('EXIF', 3_500_000),
    'a WebP with 1,000,000 empty frames': () => {
      const file = Buffer.concat([
        original('animated webp'),
        times(1_000_000, riffChunk(['ANMF', Buffer.alloc(16)])),
      ]);
      file.writeUInt32LE(file.length - 8, 4);
      return file;
    },
    'a WebP with 2,000,000 chunks inside of a frame': () => {
      const chunks = riffChunks(original('animated webp'));
      const parts = chunks.map(([type, data]) =>
        riffChunk([
          type,
          type === 'ANMF' ? Buffer.concat([data, times(500_000, riffChunk(['abcd', none]))]) : data,
        ]),
      );
      const all = Buffer.concat([latin('WEBP'), ...parts]);
      return Buffer.concat([latin('RIFF'), be32(all.length).reverse(), all]);
    },
    'a TIFF with 65,535 entries': () => tiffOf(manyEntries(65_535)),
    'a TIFF with 40 directories of 65,535 entries': () => {
      const first = manyEntries(65_000);
      let last = first;
      for (let left = 39; left > 0; left--) {
        last.next = manyEntries(65_000);
        last = last.next;
      }
      return tiffOf(first);
    },
    'a TIFF with 1,000,000 strips': () => {
      const picture = tiffPicture([]);
      const pixels = Buffer.alloc(8);
      const strips = new Array<Buffer>(1_000_000).fill(pixels);
      for (const entry of picture.entries) {
        if (entry.tag === 273) entry.value = strips;
        if (entry.tag === 279) entry.value = times(1_000_000, be32(8).reverse());
        if (entry.tag === 257) entry.value = be16(0xf0ff).reverse();
      }
      return tiffOf(picture);
    },
    'an AVIF with 3,900,000 boxes': () => Buffer.concat([avif, boxes(3_900_000)]),
    'an AVIF with 3,900,000 boxes before all others': () =>
      inserted(avif, avif.readUInt32BE(0), boxes(3_900_000)),
    'an AVIF with 100,000 boxes inside of one': changed((file) => {
      const { children } = inMeta(file);
      for (let left = 100_000; left > 0; left--) children?.push(box('free', none));
    }),
    'an AVIF with 9,000 boxes of properties that nest': changed((file) => {
      inMeta(file, 'iprp').children?.push(box('ipco', nested('ipco', 9_000)));
    }),
    'an AVIF with 4,000,000 boxes inside of each other': () =>
      Buffer.concat([avif, nested('moov', 3_900_000)]),
    'an AVIF with 60,000 images': changed((file) => {
      const [image] = file.items;
      if (image === undefined) throw new Error('no image');
      const entries = inMeta(file, 'iinf');
      for (let id = 1_000; id < 61_000; id++) {
        file.items.push({ id, extents: image.extents });
        const data = Buffer.concat([latin('\x02\0\0\0'), be16(id), be16(0), latin('av01\0')]);
        entries.children?.push(box('infe', data));
      }
      entries.data = Buffer.concat([be32(0), be16(entries.children?.length ?? 0)]);
    }),
    'an AVIF with an image in 65,535 extents of 100 KB': changed((file) => {
      const [image] = file.items;
      const part = Buffer.alloc(100_000);
      file.items[0] = { id: image?.id ?? 1, extents: new Array<Buffer>(65_535).fill(part) };
    }),
    'an AVIF with 65,535 associations of each of 100 images': changed((file) => {
      const entry = Buffer.concat([be16(1), Buffer.from([255]), Buffer.alloc(255, 1)]);
      const data = Buffer.concat([be32(0), be32(100_000), times(100_000, entry)]);
      inMeta(file, 'iprp').children?.push(box('ipma', data));
    }),
    'an AVIF with 100,000 properties': changed((file) => {
      const property = box('pixi', latin('\0\0\0\0\x03\x08\x08\x08'));
      inMeta(file, 'iprp', 'ipco').children?.push(...new Array(100_000).fill(property));
    }),
    'an AVIF with 1,000,000 references': changed((file) => {
      const data = Buffer.concat([be16(1), be16(65_535), times(65_535, be16(1))]);
      const references = new Array(200).fill(box('cdsc', data));
      inMeta(file).children?.push(box('iref', be32(0), references));
    }),
    'an AVIF whose length is in 64 bits': () =>
      Buffer.concat([avif, be32(1), latin('free'), be32(0x7fffffff), be32(0xffffffff)]),
    'an SVG with 200,000 filter primitives': () =>
      svg(`<filter id="f">${'<feFlood/>'.repeat(200_000)}</filter><rect filter="url(#f)"/>`),
    'an SVG with 200,000 filter functions': () =>
      svg(`<rect filter="${'blur(1) '.repeat(200_000)}"/>`),
    'an SVG with 200,000 filter functions in a style': () =>
      svg(`<rect style="filter:${'blur(1) '.repeat(200_000)}"/>`),
    'an SVG with 200,000 declarations in a style': () =>
      svg(`<rect style="${'filter:blur(1);'.repeat(200_000)}"/>`),
    'an SVG with 200,000 rules of one class': () =>
      svg(`<style>${'.a{filter:blur(1)}'.repeat(200_000)}</style><rect class="a"/>`),
    'an SVG with 200,000 classes in an element': () =>
      svg(`<rect class="${'a b '.repeat(200_000)}"/>`),
    'an SVG with 200,000 attributes': () =>
      svg(`<rect ${Array.from({ length: 200_000 }, (_, i) => `a${i}="1"`).join(' ')}/>`),
    'an SVG with 900,000 elements': () => svg('<rect/>'.repeat(900_000)),
    'an SVG with 100,000 uses of 100,000 elements': () =>
      svg(`<g id="a">${'<rect/>'.repeat(100_000)}</g>${'<use href="#a"/>'.repeat(100_000)}`),
    'an SVG 100,000 elements deep': () => svg('<g>'.repeat(100_000) + '</g>'.repeat(100_000)),
    'an SVG with 5,000,000 numbers of a kernel': () =>
      svg(
        `<filter id="f"><feConvolveMatrix kernelMatrix="${'1 '.repeat(5_000_000)}"/></filter><rect filter="url(#f)"/>`,
      ),
  };
  return Object.entries(files).map(([what, bytes]) => ({ what, bytes }));
}

/** Metadata that libraries complain of, which a strict decoder makes an error. */
export function damaged(jpeg: Buffer, png: Buffer): readonly Bomb[] {
  const damages: Readonly<Record<string, Parameters<typeof embedded.jpeg>[1]>> = {
    'cut off EXIF': { exif: latin('MM\0*\0\0\0\x08\0\x05\x01') },
    'EXIF of another order': { exif: latin('XX\0*\0\0\0\x08') },
    'EXIF whose values are outside': {
      exif: tiffOf({
        entries: [{ tag: 0x010e, type: 2, count: 0x7fffffff, value: latin('abcdefgh') }],
      }),
    },
    'IPTC that is cut off': {
      resources: resourceOf(0x0404, dataSet(2, 80, latin('abc')).subarray(0, 6)),
    },
    'IPTC of 4 thousand million bytes': {
      resources: Buffer.concat([
        resourceOf(0x0404, none).subarray(0, 8),
        be32(0xffffffff),
        latin('\x1c\x02'),
      ]),
    },
    'a resource without an end': { resources: latin('8BIM\x04\x04') },
    'a resource of another signature': { resources: latin('8BPS\x04\x04\0\0\0\0\0\0') },
    'a profile that is cut off': { icc: Buffer.alloc(40, 1) },
    'XMP that is no XML': { xmp: latin('\xff\xfe<<<') },
  };
  return Object.entries(damages).flatMap(([what, its]) =>
    (['', 'keep=copyright'] as const).flatMap((query): Bomb[] => [
      { what: `a JPEG with ${what}`, bytes: () => embedded.jpeg(jpeg, its), query },
      {
        what: `a JPEG with ${what}`,
        bytes: () => embedded.jpeg(jpeg, its),
        query,
        keepsMetadata: true,
      },
      { what: `a PNG with ${what}`, bytes: () => embedded.png(png, its), query },
    ]),
  );
}

const svg = (content: string): Buffer =>
  latin(`<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">${content}</svg>`);

function manyEntries(count: number): Directory {
  const more = Array.from({ length: count - 9 }, (_, i) => ({
    tag: 33_000 + (i % 30_000),
    type: 3,
    value: be16(1),
  }));
  return tiffPicture(more);
}
