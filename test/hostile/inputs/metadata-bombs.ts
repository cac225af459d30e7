import { crc32 } from 'node:zlib';
import type { Bomb } from './bomb.ts';
import { type PngChunk, withPngChunks, zeros } from './chunks.ts';
import { type Carrier, carriers, dataSet, embedded, type Metadata, resourceOf } from './embed.ts';
import { hostileTags, withTags } from './icc.ts';
import type { Kind } from './pictures.ts';
import {
  crossedDirectories,
  type Directory,
  type Entry,
  pointer,
  text,
  tiffOf,
  tiffPicture,
  withThumbnail,
} from './tiff.ts';

const mebibyte = 1024 * 1024;
/** A little less than the largest source. */
const mostBytes = 31 * mebibyte;
const artist = 0x013b;
const copyright = 0x8298;

const latin = (value: string) => Buffer.from(value, 'latin1');
const same = (length: number, byte: string | number) => Buffer.alloc(length, byte, 'latin1');
const repeated = (times: number, part: (index: number) => string) =>
  Array.from({ length: times }, (_, index) => part(index)).join('');

/** EXIF that is to be costly. */
const exifs: Readonly<Record<string, () => Buffer>> = {
  'EXIF whose entries name one value of 4 MB 60,000 times': () => {
    const value = same(4 * mebibyte, 'x');
    const entries = Array.from({ length: 60_000 }, (_, i): Entry => text(i, value));
    return tiffOf(withThumbnail(entries), false);
  },
  'EXIF whose directories lie inside of each other': crossedDirectories,
  'EXIF with 250 directories of 10,000 entries that name each other': () => {
    const all = Array.from({ length: 250 }, (): Directory => ({ entries: [] }));
    for (const one of all) {
      const to = (i: number) => all[i % all.length] ?? one;
      one.entries = Array.from({ length: 10_000 }, (_, i) => pointer(0x8769, to(i)));
      one.next = to(1);
    }
    return tiffOf(all[0] ?? { entries: [] });
  },
  'EXIF with 60,000 entries of one author': () => {
    const value = same(mebibyte, '\0');
    return tiffOf({ entries: Array.from({ length: 60_000 }, () => text(artist, value)) });
  },
  'EXIF whose author has 4 MB of NULs': () =>
    tiffOf({ entries: [text(artist, same(4 * mebibyte, '\0'))] }),
  'EXIF of 31 MB': () => tiffOf({ entries: [text(artist, same(mostBytes, '\0'))] }),
};

const description = (attributes: string, content: string, end = '') =>
  latin(
    `<x:xmpmeta xmlns:x="adobe:ns:meta/"><r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:d="http://purl.org/dc/elements/1.1/" xmlns:g="http://ns.adobe.com/hdr-gain-map/1.0/" g:v="1"><r:Description${attributes}>${content}</r:Description></r:RDF></x:xmpmeta>${end}`,
  );
/** XMP that is to be costly; all of it may be kept, and it names a gain map. */
const xmps: Readonly<Record<string, () => Buffer>> = {
  'XMP 100,000 elements deep': () =>
    description('', '<r:li>'.repeat(100_000) + '</r:li>'.repeat(100_000)),
  'XMP 2,500,000 elements deep that do not end': () =>
    latin(`${description('', '<r:li>').toString().split('</')[0]}${'<r:li>'.repeat(2_500_000)}`),
  'XMP 9,000 elements deep': () => description('', '<d:a>'.repeat(9_000)).subarray(0, 45_000),
  'XMP with 100,000 namespaces in one element': () =>
    description(
      repeated(100_000, (i) => ` xmlns:n${i}="n:${i}"`),
      '',
    ),
  'XMP with 10,000 namespaces inside of each other': () =>
    description(
      '',
      repeated(10_000, (i) => `<r:li xmlns:n${i}="n:${i}">`) + '</r:li>'.repeat(10_000),
    ),
  'XMP with 100,000 attributes': () =>
    description(
      repeated(100_000, (i) => ` d:n${i}="${i}"`),
      '',
    ),
  'XMP with 300,000 authors': () => description('', '<d:creator>a</d:creator>'.repeat(300_000)),
  'XMP with a text of 31 MB': () =>
    description('', `<d:creator>${'&amp;'.repeat(6_000_000)}</d:creator>`),
  'XMP with 31 MB of what is left out': () => description('', `<r:li>${'\0'.repeat(30_000_000)}`),
  'XMP with a processing instruction of 30 MB': () => latin(`<?x ${'?'.repeat(30_000_000)}`),
  'XMP with a comment of 30 MB': () => description('', `<!--${'- '.repeat(15_000_000)}-->`),
  'XMP with 3,000,000 entities': () => description('', '&#x41;'.repeat(3_000_000)),
};

const iptcs: Readonly<Record<string, () => Metadata>> = {
  'IPTC with 3,000,000 authors': () => {
    const iptc = same(
      8 * 3_000_000,
      latin(dataSet(2, 80, latin('abc')).toString('latin1')).toString('latin1'),
    );
    return { iptc };
  },
  'Photoshop resources that are 2,000,000 empty ones': () => ({
    resources: same(12 * 2_000_000, resourceOf(0x0405, latin('')).toString('latin1')),
  }),
  'Photoshop resources of 31 MB without a signature': () => ({ resources: same(mostBytes, '8BI') }),
  'Photoshop resources with IPTC of 30 MB': () => ({
    resources: resourceOf(0x0404, same(30_000_000, dataSet(2, 116, latin('')).toString('latin1'))),
  }),
};

/** Metadata of each kind in each format that can have so much of it. */
export function metadataBombs(
  original: (kind: Kind) => Buffer,
  honestIcc: Buffer,
): readonly Bomb[] {
  const carrying = (
    what: string,
    make: () => Metadata,
    most: Partial<Record<Carrier, number>>,
    more: Partial<Bomb>,
  ): Bomb[] =>
    carriers
      .filter((carrier) => most[carrier] !== 0)
      .map((carrier) => ({
        what: `${carrier} with ${what}`,
        ...more,
        bytes: () => embedded[carrier](original(carrier === 'tiff' ? 'png' : carrier), make()),
      }));
  const asCopyright = { query: 'keep=copyright' };
  const asKept = { keepsMetadata: true };
  const ofTiff = (
    what: string,
    entries: () => Entry[],
    more: Partial<Bomb> = asCopyright,
  ): Bomb => ({
    what: `tiff with ${what}`,
    ...more,
    bytes: () => tiffOf(tiffPicture(entries())),
  });
  const nul = (megabytes: number) => same(megabytes * 1_000_000, '\0');
  return [
    ...[20, 31].map((megabytes) =>
      ofTiff(`an author of ${megabytes} MB of NULs`, () => [text(artist, nul(megabytes))]),
    ),
    ofTiff('a copyright of 31 MB of NULs', () => [text(copyright, nul(31))]),
    ofTiff('an author of 31 MB of spaces and NULs', () => [text(artist, same(31_000_000, ' \0'))]),
    ofTiff('an author of 31 MB of broken UTF-8', () => [text(artist, same(31_000_000, 0xc3))]),
    ofTiff('60,000 authors of 31 MB', () => {
      const value = same(30_000_000, '\0');
      return Array.from({ length: 60_000 }, () => text(artist, value));
    }),
    ...Object.entries(hostileTags()).flatMap(([what, tags]) => {
      const isLarge = /4,000,000|15,000,000|30 MB|12 MB|2,000,000/.test(what);
      return carrying(
        `a profile with ${what}`,
        () => ({ icc: withTags(honestIcc, tags()) }),
        { jpeg: isLarge ? 0 : 1 },
        {},
      );
    }),
    ...Object.entries(exifs).flatMap(([what, make]) =>
      [asCopyright, asKept].flatMap((how) =>
        carrying(what, () => ({ exif: make() }), { jpeg: 0, tiff: 0 }, how),
      ),
    ),
    ...Object.entries(xmps).flatMap(([what, make]) =>
      [asCopyright, asKept].flatMap((how) =>
        carrying(what, () => ({ xmp: make() }), { jpeg: / 9,000/.test(what) ? 1 : 0 }, how),
      ),
    ),
    ...Object.entries(iptcs).flatMap(([what, make]) =>
      carrying(what, make, { jpeg: 0, png: 0, webp: 0, avif: 0 }, asCopyright),
    ),
    ...searches(original),
    ...texts(original('png')),
  ];
}

/**
 * EXIF that a search compares with all of its zeros at each of millions of places. Node searches from the
 * end of what it looks for once it has found so many beginnings of it (V8's Boyer-Moore-Horspool).
 */
function searches(original: (kind: Kind) => Buffer): Bomb[] {
  const exif = () => tiffOf(withThumbnail([text(0x010e, same(mebibyte, '\0'))]));
  const before = () => {
    const almost = Buffer.concat([exif().subarray(0, mebibyte - 9), latin('x')]);
    return Buffer.concat([...new Array<Buffer>(5).fill(almost), same(6 * mebibyte, '\0')]);
  };
  const bomb = (what: string, bytes: () => Buffer): Bomb => ({
    what: `${what} with EXIF of 1 MB that is searched in 12 MB`,
    keepsMetadata: true,
    bytes,
  });
  return [
    bomb('png', () =>
      withPngChunks(original('png'), [
        { type: 'prVt', data: before() },
        { type: 'eXIf', data: exif() },
      ]),
    ),
    bomb('webp', () => embedded.webp(original('webp'), { icc: before(), exif: exif() })),
    bomb('avif', () => {
      const avif = embedded.avif(original('avif'), { xmp: before() });
      return embedded.avif(avif, { exif: exif() });
    }),
  ];
}

/** Texts of a PNG that are compressed about a thousandfold. */
function texts(png: Buffer): Bomb[] {
  const inflating = (count: number, megabytes: number, type: string, head: string): PngChunk[] => {
    const data = Buffer.concat([latin(head), zeros(megabytes * 1_000_000)]);
    return new Array<PngChunk>(count).fill({ type, data });
  };
  const bomb = (what: string, chunks: () => PngChunk[], query?: string): Bomb => ({
    what: `png with ${what}`,
    bytes: () => withPngChunks(png, chunks()),
    ...(query === undefined ? {} : { query }),
  });
  return [
    bomb('20 zTXt of 50 MB', () => inflating(20, 50, 'zTXt', 'Comment\0\0')),
    bomb('20 zTXt of 8 MB', () => inflating(20, 8, 'zTXt', 'Comment\0\0')),
    bomb('20 iTXt of 50 MB', () => inflating(20, 50, 'iTXt', 'Comment\0\x01\0\0\0')),
    bomb('20 XMP of 50 MB', () => inflating(20, 50, 'iTXt', 'XML:com.adobe.xmp\0\x01\0\0\0')),
    bomb('an author of 200 MB', () => inflating(1, 200, 'zTXt', 'Author\0\0'), 'keep=copyright'),
    bomb('an iCCP of 60 MB', () => inflating(1, 60, 'iCCP', 'p\0\0')),
    bomb('20 iCCP of 60 MB', () => inflating(20, 60, 'iCCP', 'p\0\0')),
    bomb('300,000 texts', () =>
      Array.from({ length: 300_000 }, (_, i) => ({ type: 'tEXt', data: latin(`k${i}\0v`) })),
    ),
    bomb(
      'a profile of IPTC in a text',
      () => inflating(1, 60, 'zTXt', 'Raw profile type iptc\0\0'),
      'keep=copyright',
    ),
    bomb('a text with a wrong checksum', () => [
      { type: 'tEXt', data: latin(`a\0${crc32('a')}`).subarray(1) },
    ]),
  ];
}
