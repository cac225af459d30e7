import { type Bomb, createBombs, type Files, type FindOriginal } from './bomb.ts';
import { box, boxFile, boxFileBytes, inMeta } from './boxes.ts';
import { inserted, latin1, none, repeated } from './bytes.ts';
import {
  be16,
  be32,
  jpegSegment,
  le32,
  pngChunk,
  riff,
  riffChunk,
  riffChunks,
  withSegments,
} from './chunks.ts';
import { svg as svgOf } from './svgs.ts';
import { createTiff, type Directory, shorts, tiffPicture } from './tiff.ts';

const svg = (content: string) => latin1(svgOf(content, 'width="9" height="9"'));

/** Returns images with many parts, most of them empty. */
export function containerBombs(original: FindOriginal): Bomb[] {
  const [png, jpeg, gif] = [original('png'), original('jpeg'), original('gif')];
  const [webp, avif, animation] = [original('webp'), original('avif'), original('animated gif')];
  const withChunks = (type: string, count: number) =>
    inserted(png, 33, repeated(count, pngChunk(type, none)));
  const withMany = (count: number, segment: Buffer) => withSegments(jpeg, repeated(count, segment));
  const table = ((gif[10] ?? 0) & 0x80) === 0 ? 13 : 13 + 3 * 2 ** (((gif[10] ?? 0) & 7) + 1);
  const inGif = (part: Buffer) => inserted(gif, table, part);
  const withChunksBehind = (webp: Buffer, count: number, type: string, data = none) => {
    const file = Buffer.concat([webp, repeated(count, riffChunk([type, data]))]);
    file.writeUInt32LE(file.length - 8, 4);
    return file;
  };
  const changed = (change: (file: ReturnType<typeof boxFile>) => void) => () => {
    const file = boxFile(avif);
    change(file);
    return boxFileBytes(file);
  };
  const boxes = (count: number) => latin1('\0\0\0\x08free'.repeat(count));
  const nested = (type: string, depth: number) => {
    const bytes = Buffer.alloc(8 * depth, latin1(`\0\0\0\0${type}`));
    for (let at = 0; at < bytes.length; at += 8) bytes.writeUInt32BE(bytes.length - at, at);
    return bytes;
  };
  const files: Files = {
    'a PNG with 2,700,000 empty chunks': () => withChunks('prVt', 2_700_000),
    'a PNG with 2,700,000 empty texts': () => withChunks('tEXt', 2_700_000),
    'a PNG with 2,000,000 empty IDAT': () => withChunks('IDAT', 2_000_000),
    'a PNG with 2,000,000 chunks after its end': () =>
      Buffer.concat([png, repeated(2_000_000, pngChunk('tEXt', none))]),
    'a JPEG with 7,000,000 empty comments': () => withMany(7_000_000, jpegSegment(0xfe, none)),
    'a JPEG with 7,000,000 empty APP1': () => withMany(7_000_000, jpegSegment(0xe1, none)),
    'a JPEG with 3,000,000 EXIF': () => withMany(3_000_000, jpegSegment(0xe1, latin1('Exif\0\0'))),
    'a JPEG with 1,500,000 parts of a profile': () =>
      withMany(1_500_000, jpegSegment(0xe2, latin1('ICC_PROFILE\0\x01\xff'))),
    'a JPEG with 30,000,000 fill bytes': () => withMany(30_000_000, Buffer.from([0xff])),
    'a JPEG with 15,000,000 restart markers before its frame': () =>
      withMany(15_000_000, Buffer.from([0xff, 0xd0])),
    'a JPEG with 15,000,000 starts': () => withMany(15_000_000, Buffer.from([0xff, 0xd8])),
    'a JPEG with 300,000 tables': () => withMany(300_000, jpegSegment(0xdb, Buffer.alloc(65, 1))),
    'a JPEG with 4,000,000 restart intervals': () =>
      withMany(4_000_000, jpegSegment(0xdd, be16(0))),
    'a GIF with 10,000,000 comments': () => inGif(repeated(10_000_000, latin1('\x21\xfe\0'))),
    'a GIF with a comment in 15,000,000 parts': () =>
      inGif(
        Buffer.concat([latin1('\x21\xfe'), repeated(15_000_000, latin1('\x01a')), Buffer.alloc(1)]),
      ),
    'a GIF with 3,000,000 graphic controls': () =>
      inGif(repeated(3_000_000, latin1('\x21\xf9\x04\0\0\0\0\0'))),
    'a GIF with 1,500,000 applications': () =>
      inGif(repeated(1_500_000, latin1('\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0'))),
    'a GIF with a truncated second frame': () =>
      animation.subarray(0, Math.floor(animation.length * 0.6)),
    'a GIF with an invalid second frame': () => {
      const copy = Buffer.from(animation);
      const second = copy.indexOf(0x2c, copy.length >> 1);
      copy.fill(0xff, second + 1, second + 9);
      return copy;
    },
    'a WebP with 3,500,000 chunks': () => withChunksBehind(webp, 3_500_000, 'abcd'),
    'a WebP with 3,500,000 EXIF': () => withChunksBehind(webp, 3_500_000, 'EXIF'),
    'a WebP with 1,000,000 empty frames': () =>
      withChunksBehind(original('animated webp'), 1_000_000, 'ANMF', Buffer.alloc(16)),
    'a WebP with 2,000,000 chunks inside of a frame': () =>
      riff(
        riffChunks(original('animated webp')).map(([type, data]) => {
          const more = type === 'ANMF' ? repeated(500_000, riffChunk(['abcd', none])) : none;
          return [type, Buffer.concat([data, more])];
        }),
      ),
    'a TIFF with 65,535 entries': () => createTiff(manyEntries(65_535)),
    'a TIFF with 40 directories of 65,535 entries': () => {
      const first = manyEntries(65_000);
      let last = first;
      for (let left = 39; left > 0; left--) {
        last.next = manyEntries(65_000);
        last = last.next;
      }
      return createTiff(first);
    },
    'a TIFF with 1,000,000 strips': () => {
      const strips = new Array<Buffer>(1_000_000).fill(Buffer.alloc(8));
      return createTiff(
        tiffPicture([
          shorts(257, 0xf0ff),
          { tag: 273, type: 4, value: strips },
          { tag: 279, type: 4, value: repeated(1_000_000, le32(8)) },
        ]),
      );
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
        const data = Buffer.concat([latin1('\x02\0\0\0'), be16(id), be16(0), latin1('av01\0')]);
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
      const data = Buffer.concat([be32(0), be32(100_000), repeated(100_000, entry)]);
      inMeta(file, 'iprp').children?.push(box('ipma', data));
    }),
    'an AVIF with 100,000 properties': changed((file) => {
      const property = box('pixi', latin1('\0\0\0\0\x03\x08\x08\x08'));
      inMeta(file, 'iprp', 'ipco').children?.push(...new Array(100_000).fill(property));
    }),
    'an AVIF with 1,000,000 references': changed((file) => {
      const data = Buffer.concat([be16(1), be16(65_535), repeated(65_535, be16(1))]);
      const references = new Array(200).fill(box('cdsc', data));
      inMeta(file).children?.push(box('iref', be32(0), references));
    }),
    'an AVIF whose length is in 64 bits': () =>
      Buffer.concat([avif, be32(1), latin1('free'), be32(0x7fffffff), be32(0xffffffff)]),
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
  return createBombs(files);
}

const manyEntries = (count: number): Directory =>
  tiffPicture(Array.from({ length: count - 9 }, (_, i) => shorts(33_000 + (i % 30_000), 1)));
