import {
  boxes,
  type ContainerBox,
  findBox,
  itemEntries,
  itemId,
  itemType,
} from '../container/boxes.ts';
import type { PartRole, Parts } from '../container/examination.ts';

/**
 * Yields a HEIF or AVIF file's boxes, and the extents of its items (ISO/IEC 14496-12; 23008-12). A
 * malformed file ends with an unknown part.
 */
export function* heifParts(file: Buffer): Parts {
  try {
    yield* readParts(file);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    yield { role: 'unknown', from: file.length, to: file.length };
  }
}

/** @throws RangeError for an offset outside of the file */
function* readParts(file: Buffer): Parts {
  const top = boxes(file);
  yield* boxParts(file, top);
  const meta = findBox(top, 'meta')?.subarray(4);
  if (meta === undefined) return;
  const inside = boxes(meta);
  yield* boxParts(file, inside);
  yield* boxParts(file, boxes(findBox(boxes(findBox(inside, 'iprp')), 'ipco')));
  const entries = itemEntries(findBox(inside, 'iinf'));
  yield* boxParts(file, entries);
  const roles = new Map(entries.map((entry) => [itemId(entry), toRole(itemType(entry))]));
  const locations = findBox(inside, 'iloc');
  if (locations !== undefined) yield* itemParts(file, locations, roles);
}

function* boxParts(file: Buffer, list: readonly ContainerBox[]): Parts {
  for (const { type, data } of list) {
    const start = data.byteOffset - file.byteOffset;
    const isProfile = type === 'colr' && /^(prof|rICC)/.test(data.toString('latin1', 0, 4));
    // The bytes of other boxes are counted with their inner boxes.
    const to = isProfile ? start + data.length : start;
    yield { role: isProfile ? 'profile' : 'pixels', from: start, to, content: [start, to] };
  }
}

const toRole = (type: string): PartRole =>
  type === 'Exif' ? 'exif' : type === 'mime' ? 'xmp' : 'pixels';

/** Yields the extents of items, from the `iloc` box (8.11.3). */
function* itemParts(file: Buffer, iloc: Buffer, roles: ReadonlyMap<number, PartRole>): Parts {
  const version = iloc.readUInt8(0);
  const [offsetBytes, lengthBytes] = nibbles(iloc.readUInt8(4));
  const [baseBytes, indexBytes] = nibbles(iloc.readUInt8(5));
  const hasMethod = version > 0;
  let at = 6;
  const read = (bytes: number): number => {
    at += bytes;
    if (bytes === 8) return Number(iloc.readBigUInt64BE(at - 8));
    return bytes === 0 ? 0 : iloc.readUIntBE(at - bytes, bytes);
  };
  for (let left = read(version < 2 ? 2 : 4); left > 0; left -= 1) {
    const role = roles.get(read(version < 2 ? 2 : 4)) ?? 'pixels';
    const inFile = hasMethod ? (read(2) & 0xf) === 0 : true;
    // data_reference_index: 0 is this file.
    read(2);
    const base = read(baseBytes);
    for (let extents = read(2); extents > 0; extents -= 1) {
      if (hasMethod) read(indexBytes);
      const from = base + read(offsetBytes);
      const to = from + read(lengthBytes);
      const isInside = inFile && to <= file.length;
      yield { role, from, to, ...(isInside ? { content: [from, to] as const } : {}) };
    }
  }
}

const nibbles = (byte: number): [high: number, low: number] => [byte >> 4, byte & 0xf];
