import { asBuffer, parsedOr } from '../bytes.ts';
import {
  boxes,
  type ContainerBox,
  findBox,
  itemEntries,
  itemId,
  itemType,
} from '../container/boxes.ts';
import type { Cicp } from '../metadata/cicp.ts';
import { associations, readCicp, requireFewAssociations } from './properties.ts';

/** Properties of the primary image of a HEIF or AVIF file. */
interface HeifHeader {
  /** Major brand. */
  readonly brand: string;
  /** Whether this is a sequence and contains no still image. */
  readonly onlySequence: boolean;
  /** Frames in a sequence; 1 for other files. */
  readonly frames: number;
  /** The colour codes (`nclx`); null if absent. */
  readonly cicp: Cicp | null;
  /**
   * Type of the primary image's coded items, such as `hvc1` or `j2k1`; null if absent. For a
   * derived image, such as a grid, the type of its first item.
   */
  readonly coding: string | null;
  /**
   * Whether the primary image is coded as the difference to another image (ISO/IEC 23008-12,
   * 6.4.9).
   */
  readonly predicted: boolean;
  /** Whether the file contains only coded images: no metadata, sequence or unknown part. */
  readonly onlyImages: boolean;
}

const noHeader: HeifHeader = {
  brand: '',
  onlySequence: false,
  frames: 1,
  cicp: null,
  coding: null,
  predicted: false,
  onlyImages: false,
};

/**
 * Reads an ISO base media file (ISO/IEC 14496-12 and 23008-12). Malformed parts count as absent,
 * because the decoder refuses them later.
 */
export const readHeif = (source: Uint8Array): HeifHeader =>
  parsedOr(noHeader, () => readHeader(asBuffer(source)));

function readHeader(source: Buffer): HeifHeader {
  const top = boxes(source);
  const brand = findBox(top, 'ftyp')?.toString('latin1', 0, 4) ?? '';
  // Full boxes start with a version and flags, 4 bytes together.
  const meta = findBox(top, 'meta')?.subarray(4);
  const hasSequence = findBox(top, 'moov') !== undefined;
  if (meta === undefined) return { ...noHeader, brand, onlySequence: hasSequence };
  const inside = boxes(meta);
  const primary = primaryItem(findBox(inside, 'pitm'));
  const entries = itemEntries(findBox(inside, 'iinf'));
  const references = findBox(inside, 'iref');
  return {
    brand,
    onlySequence: hasSequence && primary === null,
    frames: countFrames(findBox(top, 'moov')),
    cicp: primary === null ? null : primaryCicp(findBox(inside, 'iprp'), primary),
    coding: primary === null ? null : findCoding(primary, entries, references),
    predicted: primary !== null && findReference('pred', primary, references) !== null,
    onlyImages:
      entries.every((entry) => imageItems.has(itemType(entry))) &&
      top.every(({ type }) => imageBoxes.has(type)),
  };
}

/** Counts samples in the longest track (14496-12, 8.7.3.2); a second track contains their alpha. */
function countFrames(moov: Buffer | undefined): number {
  let frames = 1;
  for (const { type, data } of boxes(moov)) {
    if (type !== 'trak') continue;
    const table = ['mdia', 'minf', 'stbl', 'stsz'].reduce<Buffer | undefined>(
      (parent, name) => findBox(boxes(parent), name),
      data,
    );
    if (table !== undefined) frames = Math.max(frames, table.readUInt32BE(8));
  }
  return frames;
}

const imageItems: ReadonlySet<string> = new Set(['av01', 'grid']);
const imageBoxes: ReadonlySet<string> = new Set(['ftyp', 'meta', 'mdat']);

function primaryItem(pitm: Buffer | undefined): number | null {
  if (pitm === undefined) return null;
  return pitm[0] === 0 ? pitm.readUInt16BE(4) : pitm.readUInt32BE(4);
}

/** Types of derived items (ISO/IEC 23008-12, 6.6). */
const derivedItems: ReadonlySet<string> = new Set(['grid', 'iden', 'iovl', 'tmap']);

/** Items in a hostile file can be derived from each other. */
const maxDerivations = 8;

/**
 * Returns an item's type, such as `hvc1` or `j2k1`; null if absent. For a derived item, such as a
 * grid, returns the type of its first item.
 *
 * @param entries in the `iinf` box
 * @param iref the items' references
 * @throws RangeError for a malformed box
 */
function findCoding(
  item: number,
  entries: readonly ContainerBox[],
  iref: Buffer | undefined,
): string | null {
  const types = new Map(entries.map((entry) => [itemId(entry), itemType(entry)]));
  let current: number | null = item;
  for (let step = 0; step < maxDerivations && current !== null; step += 1) {
    const type = types.get(current) ?? null;
    if (type === null || !derivedItems.has(type)) return type;
    current = findReference('dimg', current, iref);
  }
  return null;
}

/**
 * Returns the first item that an item references (14496-12, 8.11.12); null if there is no such
 * reference.
 */
function findReference(
  type: 'dimg' | 'pred',
  item: number,
  iref: Buffer | undefined,
): number | null {
  const idBytes = iref?.[0] === 0 ? 2 : 4;
  for (const reference of boxes(iref?.subarray(4))) {
    const { data } = reference;
    if (reference.type !== type || data.readUIntBE(0, idBytes) !== item) continue;
    return data.readUInt16BE(idBytes) === 0 ? null : data.readUIntBE(idBytes + 2, idBytes);
  }
  return null;
}

function primaryCicp(iprp: Buffer | undefined, primary: number): Cicp | null {
  const parts = boxes(iprp);
  requireFewAssociations(parts);
  const properties = boxes(findBox(parts, 'ipco'));
  for (const { type, data } of parts) {
    if (type !== 'ipma') continue;
    for (const { item, indexes } of associations(data)) {
      if (item !== primary) continue;
      const codes = indexes.map((index) => readCicp(properties[index - 1]));
      return codes.find((found) => found !== null) ?? null;
    }
  }
  return null;
}
