import { deflateSync, inflateSync } from 'node:zlib';
import { type Box, boxFile, withItems } from './boxes.ts';
import { latin1, latin1Text } from './bytes.ts';
import { be16, be32, le32, pngChunk, pngChunks, pngSignature, riffChunks } from './chunks.ts';
import { icc, resources, xml } from './metadata-formats.ts';
import { encodedParts, type Format, opened, type Part, readContent, written } from './part-tree.ts';
import { tiff } from './tiff-format.ts';

const deflated = [inflateSync, (bytes: Buffer) => deflateSync(bytes, { level: 1 })] as const;

const pngText = /^(?:XML:com\.adobe\.xmp)\0/;

export const png: Format = {
  read: (bytes) => [
    { type: 'head', data: pngSignature },
    ...pngChunks(bytes).map(({ type, data }): Part => {
      if (type === 'iCCP') return opened(type, data, data.indexOf(0) + 2, icc, deflated);
      if (type === 'eXIf') return opened(type, data, 0, tiff);
      if (type === 'zTXt') return opened(type, data, data.indexOf(0) + 2, raw, deflated);
      if (type === 'iTXt' && pngText.test(latin1Text(data.subarray(0, 40)))) {
        return opened(type, data, 22, xml, data[18] === 1 ? deflated : undefined);
      }
      return type === 'IDAT' ? opened(type, data, 0, raw, deflated) : { type, data };
    }),
  ],
  encodePart: ({ type, statedLength }, content, isChecked) => {
    if (type === 'head') return content;
    const chunk = pngChunk(type.padEnd(4).slice(0, 4), content);
    if (statedLength !== undefined) chunk.writeUInt32BE(statedLength >>> 0);
    if (!isChecked) chunk.writeUInt32BE(0, chunk.length - 4);
    return chunk;
  },
};

/** Unstructured bytes. */
const raw: Format = { read: (data) => [{ type: 'bytes', data }] };

const hex = (value: number) => value.toString(16).padStart(2, '0');

export const jpeg: Format = {
  read: (bytes) => {
    const parts: Part[] = [{ type: 'head', data: bytes.subarray(0, 2) }];
    for (let at = 2; at + 4 <= bytes.length && bytes[at] === 0xff; ) {
      const type = hex(bytes[at + 1] ?? 0);
      const end = at + 2 + bytes.readUInt16BE(at + 2);
      parts.push(segment(type, bytes.subarray(at + 4, end)));
      at = end;
      if (type !== 'da') continue;
      // Coded data ends at a marker other than stuffing or a restart.
      while (at < bytes.length && !/^ff(?!00|d[0-7])/.test(bytes.toString('hex', at, at + 2))) at++;
      parts.push({ type: 'head', data: bytes.subarray(end, at) });
      if (bytes[at + 1] === 0xd9) {
        parts.push({ type: 'head', data: bytes.subarray(at) });
        break;
      }
    }
    return parts;
  },
  encodePart: ({ type, statedLength }, content) => {
    if (type === 'head') return content;
    const length = be16((statedLength ?? content.length + 2) & 0xffff);
    return Buffer.concat([latin1('\xff'), Buffer.from(type.slice(0, 2), 'hex'), length, content]);
  },
};

function segment(type: string, data: Buffer): Part {
  const start = latin1Text(data.subarray(0, 30));
  if (start.startsWith('Exif\0\0')) return opened(type, data, 6, tiff);
  if (start.startsWith('http://ns.adobe.com/xap/1.0/\0')) return opened(type, data, 29, xml);
  if (start.startsWith('ICC_PROFILE\0')) return opened(type, data, 14, icc);
  if (start.startsWith('Photoshop 3.0\0')) return opened(type, data, 14, resources);
  return { type, data };
}

const subBlocks: Format = {
  read: (bytes) => {
    const parts: Part[] = [];
    for (let at = 0; at < bytes.length; at += 1 + (bytes[at] ?? 0)) {
      parts.push({ type: 'block', data: bytes.subarray(at + 1, at + 1 + (bytes[at] ?? 0)) });
    }
    return parts;
  },
  encodePart: ({ statedLength }, content) => {
    const length = Math.min(255, content.length);
    return Buffer.concat([
      Buffer.from([(statedLength ?? length) & 0xff]),
      content.subarray(0, length),
    ]);
  },
};

export const gif: Format = {
  read: (bytes) => {
    const table = (packed = 0) => ((packed & 0x80) === 0 ? 0 : 3 * 2 ** ((packed & 7) + 1));
    const first = 13 + table(bytes[10]);
    const parts: Part[] = [{ type: 'head', data: bytes.subarray(0, first) }];
    for (let at = first; at < bytes.length; ) {
      const isImage = bytes[at] === 0x2c;
      const head = isImage ? 11 + table(bytes[at + 9]) : 2;
      let end = at + head;
      if (bytes[at] === 0x3b) end = bytes.length;
      else while (end < bytes.length && bytes[end] !== 0) end += 1 + (bytes[end] ?? 0);
      parts.push(opened(isImage ? 'image' : 'block', bytes.subarray(at, end + 1), head, subBlocks));
      at = end + 1;
    }
    return parts;
  },
};

export const webp: Format = {
  read: (bytes) => [
    { type: 'head', data: bytes.subarray(0, 12) },
    ...riffChunks(bytes).map(([type, data]): Part => {
      if (type === 'ICCP') return opened(type, data, 0, icc);
      if (type === 'EXIF') return opened(type, data, 0, tiff);
      if (type === 'XMP ') return opened(type, data, 0, xml);
      return type === 'ANMF' ? opened(type, data, 16, frame) : { type, data };
    }),
  ],
  encodePart: ({ type, statedLength }, content) => {
    if (type === 'head') return content;
    const length = le32(statedLength ?? content.length);
    const padding = Buffer.alloc(content.length & 1);
    return Buffer.concat([latin1(type.padEnd(4).slice(0, 4)), length, content, padding]);
  },
  file: (parts, isChecked) => {
    const file = Buffer.concat(encodedParts(webp, parts, isChecked));
    if (isChecked && file.length >= 8) file.writeUInt32LE(file.length - 8, 4);
    return file;
  },
};

const frame: Format = {
  read: (bytes) => riffChunks(bytes, 0).map(([type, data]) => ({ type, data })),
  ...(webp.encodePart === undefined ? {} : { encodePart: webp.encodePart }),
};

const boxPart = ({ type, data, children }: Box): Part => {
  if (type === 'colr' && latin1Text(data.subarray(0, 4)) === 'prof')
    return opened(type, data, 4, icc);
  if (type === 'iloc') return { type, data: places };
  if (children === null) return { type, data };
  return { type, data, inside: { format: boxes, parts: children.map(boxPart) } };
};

const boxes: Format = {
  read: () => [],
  encodePart: ({ type, statedLength }, content) =>
    Buffer.concat([
      be32(statedLength ?? content.length + 8),
      latin1(type.padEnd(4).slice(0, 4)),
      content,
    ]),
};

const itemPrefix = 'item ';
/** Replaced by the `iloc` of the items. */
const places = Buffer.alloc(0);

/** Items are parts next to the boxes. */
export const avif: Format = {
  read: (bytes) => {
    const { boxes: all, items } = boxFile(bytes);
    return [
      ...all.map(boxPart),
      ...items.map(({ id, extents }): Part => {
        const data = Buffer.concat(extents);
        const type = `${itemPrefix}${id}`;
        if (/^(?:II|MM)/.test(latin1Text(data.subarray(4, 6)))) return opened(type, data, 4, tiff);
        return data[0] === 0x3c ? opened(type, data, 0, xml) : { type, data };
      }),
    ];
  },
  file: (parts, isChecked) => {
    const isItem = ({ type }: Part) => type.startsWith(itemPrefix);
    const items = parts.filter(isItem).map((part) => ({
      id: Number(part.type.slice(itemPrefix.length)) & 0xffff,
      extents: new Array(Math.min(part.times ?? 1, 65_535)).fill(readContent(part, isChecked)),
    }));
    const others = parts.filter((part) => !isItem(part));
    return withItems(items, (iloc) => written(boxes, placed(others, iloc), isChecked));
  },
};

const placed = (parts: readonly Part[], iloc: Buffer): Part[] =>
  parts.map((part) => {
    if (part.data === places) return { ...part, data: iloc };
    const { inside } = part;
    if (inside?.format !== boxes) return part;
    return { ...part, inside: { ...inside, parts: placed(inside.parts, iloc) } };
  });

/** Returns a format of consecutive fields with the given lengths. */
const fields = (...lengths: readonly number[]): Format => ({
  read: (bytes) => {
    const ends = lengths.map((_, index) => lengths.slice(0, index + 1).reduce((a, b) => a + b));
    return [0, ...ends].map((from, index) => ({
      type: String(index),
      data: bytes.subarray(from, ends[index]),
    }));
  },
});

const bitmapHeader = [4, 4, 4, 2, 2, 4, 4, 4, 4, 4, 4];
const bmp = fields(2, 4, 4, 4, ...bitmapHeader);
const ico = fields(4, 2, 8, 4, 4, ...bitmapHeader);

const formats: Readonly<Record<string, Format>> = {
  jpeg,
  png,
  gif,
  webp,
  avif,
  tiff,
  bmp,
  ico,
  svg: xml,
};

/** @param kind such as `progressive jpeg` */
export function findFormat(kind: string): Format {
  const format = formats[kind.split(' ').at(-1) ?? ''];
  if (format === undefined) throw new Error(`no ${kind}`);
  return format;
}
