import { crc32 } from 'node:zlib';
import type { Bomb, FindOriginal } from './bomb.ts';
import { latin1, repeated, repeatedText } from './bytes.ts';
import { be32, type PngChunk, withPngChunks, zeros } from './chunks.ts';
import {
  type Carrier,
  carriers,
  createResource,
  dataSet,
  embedded,
  type Metadata,
} from './embed.ts';
import { hostileTags, withTags } from './icc.ts';
import {
  createTiff,
  crossedDirectories,
  type Directory,
  type Entry,
  pointer,
  text,
  tiffPicture,
} from './tiff.ts';

const mebibyte = 2 ** 20;
/** Slightly less than the largest source. */
const maxBytes = 31 * mebibyte;
const artist = 0x013b;
const copyright = 0x8298;

const filled = (length: number, bytes: string | number) => Buffer.alloc(length, bytes, 'latin1');
/** EXIF with an empty directory for a thumbnail. */
const withThumbnail = (entries: Entry[]): Directory => ({ entries, next: { entries: [] } });

/** Expensive EXIF. */
const exifs: Readonly<Record<string, () => Buffer>> = {
  'EXIF whose entries share one value of 4 MB 60,000 times': () => {
    const value = filled(4 * mebibyte, 'x');
    return createTiff(
      withThumbnail(Array.from({ length: 60_000 }, (_, i) => text(i, value))),
      false,
    );
  },
  'EXIF with overlapping directories': crossedDirectories,
  'EXIF with 250 directories of 10,000 entries that refer to each other': () => {
    const all = Array.from({ length: 250 }, (): Directory => ({ entries: [] }));
    for (const bomb of all) {
      const to = (i: number) => all[i % all.length] ?? bomb;
      bomb.entries = Array.from({ length: 10_000 }, (_, i) => pointer(0x8769, to(i)));
      bomb.next = to(1);
    }
    return createTiff(all[0] ?? { entries: [] });
  },
  'EXIF with 60,000 entries of one author': () => {
    const value = filled(mebibyte, '\0');
    return createTiff({ entries: Array.from({ length: 60_000 }, () => text(artist, value)) });
  },
  'EXIF with an author of 4 MB of NULs': () =>
    createTiff({ entries: [text(artist, filled(4 * mebibyte, '\0'))] }),
  'EXIF of 31 MB': () => createTiff({ entries: [text(artist, filled(maxBytes, '\0'))] }),
};

const packet = (attributes: string, content: string) =>
  `<x:xmpmeta xmlns:x="adobe:ns:meta/"><r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:d="http://purl.org/dc/elements/1.1/" xmlns:g="http://ns.adobe.com/hdr-gain-map/1.0/" g:v="1"><r:Description${attributes}>${content}</r:Description></r:RDF></x:xmpmeta>`;
/** Expensive XMP in allowed namespaces, with a gain map's. */
const xmps: Readonly<Record<string, () => string>> = {
  'XMP 100,000 elements deep': () =>
    packet('', '<r:li>'.repeat(100_000) + '</r:li>'.repeat(100_000)),
  'XMP 2,500,000 unclosed elements deep': () =>
    `${packet('', '<r:li>').split('</')[0]}${'<r:li>'.repeat(2_500_000)}`,
  'XMP 9,000 elements deep': () => packet('', '<d:a>'.repeat(9_000)).slice(0, 45_000),
  'XMP with 100,000 namespaces in one element': () =>
    packet(
      repeatedText(100_000, (i) => ` xmlns:n${i}="n:${i}"`),
      '',
    ),
  'XMP with 10,000 nested namespaces': () =>
    packet(
      '',
      repeatedText(10_000, (i) => `<r:li xmlns:n${i}="n:${i}">`) + '</r:li>'.repeat(10_000),
    ),
  'XMP with 100,000 attributes': () =>
    packet(
      repeatedText(100_000, (i) => ` d:n${i}="${i}"`),
      '',
    ),
  'XMP with 300,000 authors': () => packet('', '<d:creator>a</d:creator>'.repeat(300_000)),
  'XMP with a text of 31 MB': () =>
    packet('', `<d:creator>${'&amp;'.repeat(6_000_000)}</d:creator>`),
  'XMP with 31 MB to remove': () => packet('', `<r:li>${'\0'.repeat(30_000_000)}`),
  'XMP with a processing instruction of 30 MB': () => `<?x ${'?'.repeat(30_000_000)}`,
  'XMP with a comment of 30 MB': () => packet('', `<!--${'- '.repeat(15_000_000)}-->`),
  'XMP with 3,000,000 entities': () => packet('', '&#x41;'.repeat(3_000_000)),
};

/** Expensive IPTC and Photoshop resources. */
const iptcs: Readonly<Record<string, () => Metadata>> = {
  'IPTC with 3,000,000 authors': () => ({
    iptc: repeated(3_000_000, dataSet(2, 80, latin1('abc'))),
  }),
  '2,000,000 empty Photoshop resources': () => ({
    resources: repeated(2_000_000, createResource(0x0405, latin1(''))),
  }),
  'Photoshop resources of 31 MB without a signature': () => ({
    resources: filled(maxBytes, '8BI'),
  }),
  'Photoshop resources with IPTC of 30 MB': () => ({
    resources: createResource(0x0404, repeated(6_000_000, dataSet(2, 116, latin1('')))),
  }),
};

const forCopyright = { query: 'keep=copyright' };
const forKeeping = { keepsMetadata: true };

/** Returns bombs with metadata of each kind, in each format that can contain so much. */
export function metadataBombs(original: FindOriginal, icc: Buffer): Bomb[] {
  const inEach = (
    formats: readonly Carrier[],
    what: string,
    make: () => Metadata,
    ...requests: readonly Partial<Bomb>[]
  ): Bomb[] =>
    formats.flatMap((format) => {
      const picture = format === 'tiff' ? 'png' : format;
      const bytes = () => embedded[format](original(picture), make());
      return requests.map((request) => ({ what: `${format} with ${what}`, ...request, bytes }));
    });
  const exceptJpeg = carriers.filter((carrier) => carrier !== 'jpeg');
  const exifFormats = exceptJpeg.filter((carrier) => carrier !== 'tiff');
  return [
    ...tiffTexts(),
    ...Object.entries(hostileTags()).flatMap(([what, tags]) => {
      const isLarge = /4,000,000|15,000,000|30 MB|12 MB|2,000,000/.test(what);
      const make = () => ({ icc: withTags(icc, tags()) });
      return inEach(isLarge ? exceptJpeg : carriers, `a profile with ${what}`, make, {});
    }),
    ...Object.entries(exifs).flatMap(([what, make]) =>
      inEach(exifFormats, what, () => ({ exif: make() }), forCopyright, forKeeping),
    ),
    ...Object.entries(xmps).flatMap(([what, make]) => {
      const formats = / 9,000/.test(what) ? carriers : exceptJpeg;
      return inEach(formats, what, () => ({ xmp: latin1(make()) }), forCopyright, forKeeping);
    }),
    ...Object.entries(iptcs).flatMap(([what, make]) => inEach(['tiff'], what, make, forCopyright)),
    ...searches(original),
    ...pngTexts(original('png')),
  ];
}

/** Texts in the first directory of a TIFF. */
function tiffTexts(): Bomb[] {
  const texts: Readonly<Record<string, () => Entry[]>> = {
    'an author of 20 MB of NULs': () => [text(artist, filled(20_000_000, '\0'))],
    'an author of 31 MB of NULs': () => [text(artist, filled(31_000_000, '\0'))],
    'a copyright of 31 MB of NULs': () => [text(copyright, filled(31_000_000, '\0'))],
    'an author of 31 MB of spaces and NULs': () => [text(artist, filled(31_000_000, ' \0'))],
    'an author of 31 MB of invalid UTF-8': () => [text(artist, filled(31_000_000, 0xc3))],
    '60,000 authors of 31 MB': () => {
      const value = filled(30_000_000, '\0');
      return Array.from({ length: 60_000 }, () => text(artist, value));
    },
  };
  return Object.entries(texts).map(([what, entries]) => ({
    what: `tiff with ${what}`,
    ...forCopyright,
    bytes: () => createTiff(tiffPicture(entries())),
  }));
}

/**
 * Returns EXIF of zeros in a file of almost equal bytes. A search compares all of them at each of
 * millions of offsets (V8's Boyer-Moore-Horspool, after many partial matches).
 */
function searches(original: FindOriginal): Bomb[] {
  const exif = () => createTiff(withThumbnail([text(0x010e, filled(mebibyte, '\0'))]));
  const before = () => {
    const almost = Buffer.concat([exif().subarray(0, mebibyte - 9), latin1('x')]);
    return Buffer.concat([repeated(5, almost), filled(6 * mebibyte, '\0')]);
  };
  const files: Readonly<Record<string, () => Buffer>> = {
    png: () =>
      withPngChunks(original('png'), [
        { type: 'prVt', data: before() },
        { type: 'eXIf', data: exif() },
      ]),
    webp: () => embedded.webp(original('webp'), { icc: before(), exif: exif() }),
    avif: () => embedded.avif(embedded.avif(original('avif'), { xmp: before() }), { exif: exif() }),
  };
  return Object.entries(files).map(([format, bytes]) => ({
    what: `${format} with EXIF of 1 MB that is searched in 12 MB`,
    ...forKeeping,
    bytes,
  }));
}

/** Texts of a PNG that inflate a thousandfold. */
function pngTexts(png: Buffer): Bomb[] {
  const inflating = (count: number, megabytes: number, type: string, head: string) => () => {
    const data = Buffer.concat([latin1(head), zeros(megabytes * 1_000_000)]);
    return new Array<PngChunk>(count).fill({ type, data });
  };
  const chunks: readonly (readonly [what: string, () => PngChunk[], request?: Partial<Bomb>])[] = [
    ['20 zTXt of 50 MB', inflating(20, 50, 'zTXt', 'Comment\0\0')],
    ['20 zTXt of 8 MB', inflating(20, 8, 'zTXt', 'Comment\0\0')],
    ['20 iTXt of 50 MB', inflating(20, 50, 'iTXt', 'Comment\0\x01\0\0\0')],
    ['20 XMP of 50 MB', inflating(20, 50, 'iTXt', 'XML:com.adobe.xmp\0\x01\0\0\0')],
    ['an author of 200 MB', inflating(1, 200, 'zTXt', 'Author\0\0'), forCopyright],
    ['an iCCP of 60 MB', inflating(1, 60, 'iCCP', 'p\0\0')],
    ['20 iCCP of 60 MB', inflating(20, 60, 'iCCP', 'p\0\0')],
    [
      '300,000 texts',
      () => Array.from({ length: 300_000 }, (_, i) => ({ type: 'tEXt', data: latin1(`k${i}\0v`) })),
    ],
    [
      'a profile of IPTC in a text',
      inflating(1, 60, 'zTXt', 'Raw profile type iptc\0\0'),
      forCopyright,
    ],
    [
      'a text without a keyword',
      () => [{ type: 'tEXt', data: latin1(`a\0${crc32('a')}`).subarray(1) }],
    ],
  ];
  return chunks.map(([what, make, request]) => ({
    what: `png with ${what}`,
    bytes: () => withPngChunks(png, make()),
    ...request,
  }));
}

/** Returns malformed metadata, which strict decoders reject. */
export function damagedMetadata(original: FindOriginal): Bomb[] {
  const [jpeg, png] = [original('jpeg'), original('png')];
  const damages: Readonly<Record<string, Metadata>> = {
    'truncated EXIF': { exif: latin1('MM\0*\0\0\0\x08\0\x05\x01') },
    'EXIF of an unknown byte order': { exif: latin1('XX\0*\0\0\0\x08') },
    'EXIF with values outside of the file': {
      exif: createTiff({ entries: [{ ...text(0x010e, latin1('abcdefgh')), count: 0x7fffffff }] }),
    },
    'truncated IPTC': {
      resources: createResource(0x0404, dataSet(2, 80, latin1('abc')).subarray(0, 6)),
    },
    'IPTC of 4 thousand million bytes': {
      resources: Buffer.concat([
        createResource(0x0404, latin1('')).subarray(0, 8),
        be32(0xffffffff),
        latin1('\x1c\x02'),
      ]),
    },
    'a truncated resource': { resources: latin1('8BIM\x04\x04') },
    'a resource with an unknown signature': { resources: latin1('8BPS\x04\x04\0\0\0\0\0\0') },
    'a truncated profile': { icc: Buffer.alloc(40, 1) },
    'XMP that is not XML': { xmp: latin1('\xff\xfe<<<') },
  };
  return Object.entries(damages).flatMap(([what, metadata]) =>
    ['', 'keep=copyright'].flatMap((query): Bomb[] => {
      const inJpeg = {
        what: `a JPEG with ${what}`,
        bytes: () => embedded.jpeg(jpeg, metadata),
        query,
      };
      const inPng = { what: `a PNG with ${what}`, bytes: () => embedded.png(png, metadata), query };
      return [inJpeg, { ...inJpeg, keepsMetadata: true }, inPng];
    }),
  );
}
