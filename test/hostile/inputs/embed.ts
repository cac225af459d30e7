import { deflateSync } from 'node:zlib';
import { addItem, addProperty, box, boxFile, boxFileBytes } from './boxes.ts';
import { latin1 } from './bytes.ts';
import {
  be16,
  be32,
  createPng,
  jpegSegment,
  type PngChunk,
  pngChunks,
  riff,
  riffChunks,
  withPngChunks,
  withSegments,
} from './chunks.ts';
import { createTiff, type Entry, shorts, tiffPicture } from './tiff.ts';

/** Embeds metadata in images of each format. */

export interface Metadata {
  readonly icc?: Buffer;
  /** A TIFF. */
  readonly exif?: Buffer;
  readonly xmp?: Buffer;
  /** Photoshop resources. */
  readonly resources?: Buffer;
  /** Bare IPTC-IIM. */
  readonly iptc?: Buffer;
}

export const carriers = ['jpeg', 'png', 'webp', 'tiff', 'avif'] as const;
export type Carrier = (typeof carriers)[number];

/** The longest content of a JPEG segment. */
const segmentBytes = 65_533;

function inJpeg(jpeg: Buffer, { icc, exif, xmp, resources }: Metadata): Buffer {
  const segment = (marker: number, name: string, data: Buffer) =>
    jpegSegment(marker, Buffer.concat([latin1(name), data]));
  const segments: Buffer[] = [];
  if (exif) segments.push(segment(0xe1, 'Exif\0\0', exif));
  if (xmp) segments.push(segment(0xe1, 'http://ns.adobe.com/xap/1.0/\0', xmp));
  const partBytes = segmentBytes - 14;
  const parts = icc ? Math.ceil(icc.length / partBytes) : 0;
  for (let part = 0; part < parts; part++) {
    const data = icc?.subarray(part * partBytes, (part + 1) * partBytes) ?? latin1('');
    segments.push(segment(0xe2, `ICC_PROFILE\0${String.fromCharCode(part + 1, parts)}`, data));
  }
  if (resources) segments.push(segment(0xed, 'Photoshop 3.0\0', resources));
  return withSegments(withoutMetadata(jpeg), ...segments);
}

/** Removes existing metadata, because decoders read the first of a kind or ignore duplicates. */
function withoutMetadata(jpeg: Buffer): Buffer {
  const parts = [jpeg.subarray(0, 2)];
  let at = 2;
  while (jpeg[at] === 0xff && jpeg[at + 1] !== 0xda) {
    const end = at + 2 + jpeg.readUInt16BE(at + 2);
    if (![0xe1, 0xe2, 0xed].includes(jpeg[at + 1] ?? 0)) parts.push(jpeg.subarray(at, end));
    at = end;
  }
  return Buffer.concat([...parts, jpeg.subarray(at)]);
}

function inPng(png: Buffer, { icc, exif, xmp }: Metadata): Buffer {
  const added: PngChunk[] = [];
  const add = (type: string, before: string, data: Buffer) =>
    added.push({ type, data: Buffer.concat([latin1(before), data]) });
  if (icc) add('iCCP', 'p\0\0', deflateSync(icc));
  if (exif) add('eXIf', '', exif);
  if (xmp) add('iTXt', 'XML:com.adobe.xmp\0\x01\0\0\0', deflateSync(xmp));
  const replaced = new Set(added.map(({ type }) => type));
  return withPngChunks(createPng(pngChunks(png).filter(({ type }) => !replaced.has(type))), added);
}

const webpFlags = { icc: 0x20, exif: 0x08, xmp: 0x04 };

/** @param webp one with the chunk VP8X */
function inWebp(webp: Buffer, { icc, exif, xmp }: Metadata): Buffer {
  const replaced = new Set(['VP8X', 'ICCP', 'EXIF', 'XMP ']);
  const [, canvas = Buffer.alloc(10)] = riffChunks(webp).find(([type]) => type === 'VP8X') ?? [];
  const head = Buffer.from(canvas);
  head[0] = (icc ? webpFlags.icc : 0) | (exif ? webpFlags.exif : 0) | (xmp ? webpFlags.xmp : 0);
  return riff([
    ['VP8X', head] as const,
    ...(icc ? [['ICCP', icc] as const] : []),
    ...riffChunks(webp).filter(([type]) => !replaced.has(type)),
    ...(exif ? [['EXIF', exif] as const] : []),
    ...(xmp ? [['XMP ', xmp] as const] : []),
  ]);
}

/** Omits EXIF, which a TIFF stores in its own directories. */
function inTiff(_: Buffer, { icc, xmp, resources, iptc }: Metadata): Buffer {
  const entries: Entry[] = [];
  if (xmp) entries.push({ tag: 700, type: 1, value: xmp });
  if (iptc) entries.push({ tag: 33_723, type: 7, value: iptc });
  if (resources) entries.push({ tag: 34_377, type: 1, value: resources });
  if (icc) {
    entries.push({ tag: 34_675, type: 7, value: icc });
    // Two rows of RGB, for the profile's colours.
    entries.push(shorts(257, 2), shorts(258, 8, 8, 8), shorts(262, 2));
    entries.push(shorts(277, 3), shorts(278, 2), shorts(279, 48));
  }
  return createTiff(tiffPicture(entries));
}

function inAvif(avif: Buffer, { icc, exif, xmp }: Metadata): Buffer {
  const file = boxFile(avif);
  if (icc) addProperty(file, box('colr', Buffer.concat([latin1('prof'), icc])));
  // EXIF starts with the TIFF offset (ISO/IEC 23008-12, A.2.1).
  if (exif) addItem(file, 'Exif', '', Buffer.concat([be32(0), exif]));
  if (xmp) addItem(file, 'mime', 'application/rdf+xml\0', xmp);
  return boxFileBytes(file);
}

export const embedded: Readonly<Record<Carrier, (picture: Buffer, its: Metadata) => Buffer>> = {
  jpeg: inJpeg,
  png: inPng,
  webp: inWebp,
  tiff: inTiff,
  avif: inAvif,
};

/** Returns a Photoshop resource, such as 0x0404, IPTC-IIM. */
export function createResource(id: number, data: Buffer): Buffer {
  const padding = Buffer.alloc(data.length & 1);
  return Buffer.concat([latin1('8BIM'), be16(id), be16(0), be32(data.length), data, padding]);
}

/** Returns a data set of IPTC-IIM 4.2 (1.5), such as 2:80, the by-line. */
export const dataSet = (record: number, number: number, data: Buffer): Buffer =>
  Buffer.concat([Buffer.from([0x1c, record, number]), be16(data.length), data]);
