import { words } from './bytes.ts';
import { be16, be32 } from './chunks.ts';

/** Reads and writes AVIF files (ISO/IEC 14496-12 and 23008-12) with any contents. */

export interface Box {
  type: string;
  /** The content, up to the boxes inside. */
  data: Buffer;
  children: Box[] | null;
}

export interface Item {
  id: number;
  /** Bytes shared by several extents are written once. */
  extents: readonly Buffer[];
}

/** A file's boxes, and the items that define its `iloc` and `mdat`. */
export interface BoxFile {
  boxes: Box[];
  items: Item[];
}

/** Boxes that contain only boxes, and those with bytes before the boxes inside. */
const plainContainers = words('iprp ipco dinf grpl moov trak edts mdia minf stbl udta moof traf');
const containers: ReadonlyMap<string, number> = new Map([
  ...plainContainers.map((type) => [type, 0] as const),
  ['meta', 4],
  ['iinf', 6],
  ['iref', 4],
  ['dref', 8],
]);

function readBoxes(bytes: Buffer): Box[] {
  const found: Box[] = [];
  for (let at = 0; at + 8 <= bytes.length; ) {
    const size = bytes.readUInt32BE(at) || bytes.length - at;
    if (size < 8) break;
    const type = bytes.toString('latin1', at + 4, at + 8);
    const content = bytes.subarray(at + 8, at + size);
    const head = containers.get(type);
    const children = head === undefined ? null : readBoxes(content.subarray(head));
    found.push({ type, data: content.subarray(0, head), children });
    at += size;
  }
  return found;
}

function boxBytes({ type, data, children }: Box): Buffer {
  const content = children === null ? [data] : [data, ...children.map(boxBytes)];
  const length = content.reduce((sum, { length }) => sum + length, 8);
  return Buffer.concat([be32(length), Buffer.from(type, 'latin1'), ...content]);
}

export const box = (type: string, data: Buffer, children: Box[] | null = null): Box => ({
  type,
  data,
  children,
});

/** Reads a libheif file with 4-byte offsets and lengths. */
export function boxFile(bytes: Buffer): BoxFile {
  const boxes = readBoxes(bytes).filter(({ type }) => type !== 'mdat');
  const meta = boxes.find(({ type }) => type === 'meta');
  const iloc = meta?.children?.find(({ type }) => type === 'iloc')?.data ?? Buffer.alloc(8);
  const items: Item[] = [];
  // Bytes of the base offset of an item.
  const base = (iloc[5] ?? 0) >> 4;
  let at = 8;
  for (let left = iloc.readUInt16BE(6); left > 0; left--) {
    const extents: Buffer[] = [];
    const [id, count] = [iloc.readUInt16BE(at), iloc.readUInt16BE(at + 4 + base)];
    const start = base === 4 ? iloc.readUInt32BE(at + 4) : 0;
    at += 6 + base;
    for (let extent = 0; extent < count; extent++, at += 8) {
      const from = start + iloc.readUInt32BE(at);
      extents.push(bytes.subarray(from, from + iloc.readUInt32BE(at + 4)));
    }
    items.push({ id, extents });
  }
  return { boxes, items };
}

export function boxFileBytes({ boxes, items }: BoxFile): Buffer {
  return withItems(items, (iloc) =>
    Buffer.concat(boxes.map((part) => boxBytes(withLocations(part, iloc)))),
  );
}

/** @param written writes the file before the items, with the content of its `iloc` */
export function withItems(items: readonly Item[], written: (iloc: Buffer) => Buffer): Buffer {
  const placed = new Map<Buffer, number>();
  let length = 0;
  for (const part of items.flatMap(({ extents }) => extents)) {
    if (placed.has(part)) continue;
    placed.set(part, length);
    length += part.length;
  }
  const iloc = (start: number) =>
    Buffer.concat([
      be32(0),
      Buffer.from([0x44, 0]),
      be16(items.length),
      ...items.flatMap(({ id, extents }) => [
        be16(id),
        be16(0),
        be16(extents.length),
        ...extents.flatMap((part) => [be32(start + (placed.get(part) ?? 0)), be32(part.length)]),
      ]),
    ]);
  const start = written(iloc(0)).length + 8;
  return Buffer.concat([
    written(iloc(start)),
    be32(8 + length),
    Buffer.from('mdat'),
    ...placed.keys(),
  ]);
}

const withLocations = (part: Box, data: Buffer): Box =>
  part.type !== 'meta' || part.children === null
    ? part
    : { ...part, children: part.children.map((it) => (it.type === 'iloc' ? { ...it, data } : it)) };

/** Returns the box at a path in `meta`. */
export function inMeta({ boxes }: BoxFile, ...path: readonly string[]): Box {
  let found: Box | undefined = boxes.find(({ type }) => type === 'meta');
  for (const wanted of path) found = found?.children?.find(({ type }) => type === wanted);
  if (found === undefined) throw new Error(`no ${path.join('/')}`);
  return found;
}

/** Adds an item that refers to the first item, such as `Exif` or `mime`. */
export function addItem(file: BoxFile, type: string, more: string, data: Buffer): void {
  const id = 1 + Math.max(...file.items.map((item) => item.id));
  const entries = inMeta(file, 'iinf');
  const entry = [Buffer.from([2, 0, 0, 0]), be16(id), be16(0), Buffer.from(`${type}\0${more}`)];
  entries.children?.push(box('infe', Buffer.concat(entry)));
  entries.data = Buffer.concat([be32(0), be16(entries.children?.length ?? 0)]);
  const reference = box('cdsc', Buffer.concat([be16(id), be16(1), be16(1)]));
  const meta = inMeta(file);
  const references = meta.children?.find((part) => part.type === 'iref');
  if (references === undefined) meta.children?.push(box('iref', be32(0), [reference]));
  else references.children?.push(reference);
  file.items.push({ id, extents: [data] });
}

/** Adds a property of the first item, such as `colr`. */
export function addProperty(file: BoxFile, property: Box): void {
  const properties = inMeta(file, 'iprp', 'ipco').children;
  properties?.push(property);
  const associations = inMeta(file, 'iprp', 'ipma');
  // The first item's associations follow its ID and a one-byte count.
  const data = Buffer.from(associations.data);
  const end = 11 + data.readUInt8(10);
  data.writeUInt8(data.readUInt8(10) + 1, 10);
  const index = Buffer.from([properties?.length ?? 0]);
  associations.data = Buffer.concat([data.subarray(0, end), index, data.subarray(end)]);
}
