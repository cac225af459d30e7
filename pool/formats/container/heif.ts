import { boxes, find, itemEntries, itemType, maxBoxes } from './boxes.ts';

/** Properties of the primary image of a HEIF or AVIF file. */
export interface HeifHeader {
  /** The major brand: the first one, which says how the file is to be used. */
  readonly brand: string;
  /** True for a sequence without a still image. */
  readonly onlySequence: boolean;
  /** CICP transfer characteristics (ITU-T H.273, table 3); null where the file does not say. */
  readonly transfer: number | null;
  /** True when the file has nothing but coded images: no metadata, sequence or unknown part. */
  readonly onlyImages: boolean;
}

/**
 * The source, with `avif` as the major brand in place of `avis`: libvips 8.18 opens no file with that
 * brand, although a sequence usually has a still image too. A copy, if anything changes.
 */
export function withStillBrand(source: Uint8Array): Uint8Array {
  const head = Buffer.from(source.buffer, source.byteOffset, Math.min(source.byteLength, 12));
  if (head.toString('latin1', 4) !== 'ftypavis') return source;
  const copy = Buffer.from(source);
  copy.write('avif', 8, 'latin1');
  return copy;
}

const noHeader: HeifHeader = { brand: '', onlySequence: false, transfer: null, onlyImages: false };

/**
 * Reads an ISO base media file (ISO/IEC 14496-12 and 23008-12). What is malformed counts as absent:
 * the decoder refuses it later.
 */
export function readHeif(source: Uint8Array): HeifHeader {
  try {
    return read(Buffer.from(source.buffer, source.byteOffset, source.byteLength));
  } catch (error) {
    if (error instanceof RangeError) return noHeader;
    throw error;
  }
}

function read(source: Buffer): HeifHeader {
  const top = boxes(source);
  const brand = find(top, 'ftyp')?.toString('latin1', 0, 4) ?? '';
  // Full boxes begin with a version and flags, of 4 bytes together.
  const meta = find(top, 'meta')?.subarray(4);
  const hasSequence = find(top, 'moov') !== undefined;
  if (meta === undefined) return { ...noHeader, brand, onlySequence: hasSequence };
  const inside = boxes(meta);
  const primary = primaryItem(find(inside, 'pitm'));
  const allImages = itemTypes(find(inside, 'iinf')).every((type) => imageItems.has(type));
  return {
    brand,
    onlySequence: hasSequence && primary === null,
    transfer: primary === null ? null : transferOf(find(inside, 'iprp'), primary),
    onlyImages: allImages && top.every(({ type }) => imageBoxes.has(type)),
  };
}

const imageItems: ReadonlySet<string> = new Set(['av01', 'grid']);
const imageBoxes: ReadonlySet<string> = new Set(['ftyp', 'meta', 'mdat']);

function primaryItem(pitm: Buffer | undefined): number | null {
  if (pitm === undefined) return null;
  return pitm[0] === 0 ? pitm.readUInt16BE(4) : pitm.readUInt32BE(4);
}

function itemTypes(iinf: Buffer | undefined): string[] {
  if (iinf === undefined) return [];
  return itemEntries(iinf).map(itemType);
}

/** The `nclx` colour information that is associated with an item. */
function transferOf(iprp: Buffer | undefined, item: number): number | null {
  if (iprp === undefined) return null;
  const parts = boxes(iprp);
  const properties = boxes(find(parts, 'ipco') ?? Buffer.alloc(0));
  for (const { type, data } of parts) {
    if (type !== 'ipma') continue;
    for (const index of associations(data, item)) {
      const property = properties[index - 1];
      if (property?.type !== 'colr' || property.data.toString('latin1', 0, 4) !== 'nclx') continue;
      return property.data.readUInt16BE(6);
    }
  }
  return null;
}

/** Indexes of an item's properties, from 1 (ISO/IEC 23008-12, 9.3.1). */
function associations(ipma: Buffer, item: number): number[] {
  const [version = 0] = ipma;
  const wide = (ipma.readUInt8(3) & 1) === 1;
  const entries = Math.min(ipma.readUInt32BE(4), maxBoxes);
  const found: number[] = [];
  let at = 8;
  for (let entry = 0; entry < entries; entry += 1) {
    const id = version === 0 ? ipma.readUInt16BE(at) : ipma.readUInt32BE(at);
    at += version === 0 ? 2 : 4;
    const count = ipma.readUInt8(at);
    at += 1;
    for (let index = 0; index < count; index += 1, at += wide ? 2 : 1) {
      // The first bit says whether a reader must know the property.
      const property = wide ? ipma.readUInt16BE(at) & 0x7fff : ipma.readUInt8(at) & 0x7f;
      if (id === item) found.push(property);
    }
    if (id === item) break;
  }
  return found;
}
