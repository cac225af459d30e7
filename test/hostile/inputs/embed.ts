import { deflateSync } from 'node:zlib';
import { addItem, addProperty, box, boxFile, boxFileBytes } from './boxes.ts';
import {
  be16,
  be32,
  jpegSegment,
  le32,
  type PngChunk,
  pngChunks,
  pngOf,
  riff,
  riffChunks,
  withSegments,
} from './chunks.ts';
import { type Entry, tiffOf, tiffPicture } from './tiff.ts';

/** Puts metadata into pictures of each format. */

export interface Metadata {
  readonly icc?: Buffer;
  /** A TIFF. */
  readonly exif?: Buffer;
  readonly xmp?: Buffer;
  /** Resources of Photoshop. */
  readonly resources?: Buffer;
  /** IPTC-IIM without anything around it. */
  readonly iptc?: Buffer;
}

export const carriers = ['jpeg', 'png', 'webp', 'tiff', 'avif'] as const;
export type Carrier = (typeof carriers)[number];

const latin = (text: string) => Buffer.from(text, 'latin1');
/** The longest content of a JPEG's segment. */
export const segmentBytes = 65_533;

function inJpeg(jpeg: Buffer, { icc, exif, xmp, resources }: Metadata): Buffer {
  const segment = (marker: number, name: string, data: Buffer) =>
    jpegSegment(marker, Buffer.concat([latin(name), data]));
  const segments: Buffer[] = [];
  if (exif) segments.push(segment(0xe1, 'Exif\0\0', exif));
  if (xmp) segments.push(segment(0xe1, 'http://ns.adobe.com/xap/1.0/\0', xmp));
  const partBytes = segmentBytes - 14;
  const parts = icc ? Math.ceil(icc.length / partBytes) : 0;
  for (let part = 0; part < parts; part++) {
    const data = icc?.subarray(part * partBytes, (part + 1) * partBytes) ?? latin('');
    segments.push(segment(0xe2, `ICC_PROFILE\0${String.fromCharCode(part + 1, parts)}`, data));
  }
  if (resources) segments.push(segment(0xed, 'Photoshop 3.0\0', resources));
  return withSegments(withoutMetadata(jpeg), ...segments);
}

/** Decoders read the first metadata of each kind, or none where there are two. */
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
  const [header, ...rest] = pngChunks(png);
  if (header === undefined) throw new Error('no PNG');
  const chunk = (type: string, before: string, data: Buffer): PngChunk => ({
    type,
    data: Buffer.concat([latin(before), data]),
  });
  const added: PngChunk[] = [];
  if (icc) added.push(chunk('iCCP', 'p\0\0', deflateSync(icc)));
  if (exif) added.push(chunk('eXIf', '', exif));
  if (xmp) added.push(chunk('iTXt', 'XML:com.adobe.xmp\0\x01\0\0\0', deflateSync(xmp)));
  const replaced = new Set(added.map(({ type }) => type));
  const others = rest.filter(({ type }) => !replaced.has(type));
  return pngOf([header, ...added, ...others]);
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

/** EXIF of a TIFF is in its own directories: `tiffPicture` takes entries. */
function inTiff(_: Buffer, { icc, xmp, resources, iptc }: Metadata): Buffer {
  const entry = (tag: number, value: Buffer | undefined, type = 7): Entry[] =>
    value === undefined ? [] : [{ tag, type, value }];
  const entries = [...entry(700, xmp, 1), ...entry(33_723, iptc), ...entry(34_377, resources, 1)];
  // The colours of a profile are three.
  const colours = icc ? [...entry(34_675, icc)] : [];
  const { entries: all } = tiffPicture([...entries, ...colours]);
  if (icc) {
    const values: Readonly<Record<number, number>> = { 262: 2, 277: 3, 278: 2 };
    for (const one of all) {
      const value = values[one.tag];
      if (value !== undefined) one.value = le32(value).subarray(0, 2);
      if (one.tag === 257) one.value = le32(2).subarray(0, 2);
      if (one.tag === 279) one.value = le32(48);
      if (one.tag === 258)
        one.value = Buffer.concat([8, 8, 8].map((bits) => le32(bits).subarray(0, 2)));
    }
  }
  return tiffOf({ entries: all });
}

function inAvif(avif: Buffer, { icc, exif, xmp }: Metadata): Buffer {
  const file = boxFile(avif);
  if (icc) addProperty(file, box('colr', Buffer.concat([latin('prof'), icc])));
  // EXIF has the offset of the TIFF before it (ISO/IEC 23008-12, A.2.1).
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

/** A resource of Photoshop, such as 0x0404, IPTC-IIM. */
export function resourceOf(id: number, data: Buffer): Buffer {
  const padding = Buffer.alloc(data.length & 1);
  return Buffer.concat([latin('8BIM'), be16(id), be16(0), be32(data.length), data, padding]);
}

/** A data set of IPTC-IIM 4.2 (1.5), such as 2:80, the by-line. */
export const dataSet = (record: number, number: number, data: Buffer): Buffer =>
  Buffer.concat([Buffer.from([0x1c, record, number]), be16(data.length), data]);
