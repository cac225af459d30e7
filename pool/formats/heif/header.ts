import type { ServiceError } from '../../../contract/errors.ts';
import { asBuffer, type Matcher, parseOrDefault } from '../bytes.ts';
import {
  boxes,
  type ContainerBox,
  findBox,
  itemEntries,
  itemId,
  itemType,
  maxBoxes,
} from '../container/boxes.ts';
import { unsupported } from '../errors.ts';
import { type Cicp, requireConvertible } from '../metadata/cicp.ts';
import type { FileHeader } from '../source-format.ts';

/** Brands of HEIFs coded with HEVC. */
const hevcBrands: readonly string[] = ['heic', 'heix', 'heim', 'heis', 'hevc', 'hevx'];

/** libvips takes a file with such a major brand for HEVC, whatever its other brands are. */
const isHevc: Matcher = (text) =>
  text.startsWith('ftyp', 4) && hevcBrands.includes(text.slice(8, 12));

export const isAvif: Matcher = (text, head) =>
  !isHevc(text, head) && hasBrand(['avif', 'avis'], text, head);

/** Matches HEIF files other than AVIF. */
export const isHeif: Matcher = (text, head) =>
  isHevc(text, head) || hasBrand([...hevcBrands, 'mif1', 'msf1'], text, head);

/** Compares the major and compatible brands of an ISO base media file (ISO/IEC 14496-12, 4.3). */
function hasBrand(brands: readonly string[], text: string, head: Buffer): boolean {
  if (head.length < 16 || !text.startsWith('ftyp', 4)) return false;
  const end = Math.min(head.readUInt32BE(0), head.length);
  const found = [text.slice(8, 12)];
  for (let at = 16; at + 4 <= end; at += 4) found.push(text.slice(at, at + 4));
  return found.some((brand) => brands.includes(brand));
}

/** The major brands that libvips 8.18 opens (libvips/foreign/heifload.c). */
const openedBrands: ReadonlySet<string> = new Set(
  'avif heic heix hevc heim heis hevm hevs mif1 msf1'.split(' '),
);

/**
 * Replaces a major brand that libvips does not open, such as `mif2`, and `avis` for sequences,
 * which mostly include a still image. libvips compares only the major brand and ignores compatible
 * brands. Returns a copy if the bytes change.
 */
export const withOpenedBrand =
  (brand: 'avif' | 'mif1') =>
  (source: Uint8Array): Uint8Array => {
    if (openedBrands.has(asBuffer(source).toString('latin1', 8, 12))) return source;
    const copy = Buffer.from(source);
    copy.write(brand, 8, 'latin1');
    return copy;
  };

/** An item's properties (ISO/IEC 23008-12, 9.3). */
interface Association {
  readonly item: number;
  /** Counted from 1; 0 means no property. */
  readonly indexes: readonly number[];
  /** Whether a reader must support the property, by index. */
  readonly essential: readonly boolean[];
}

/** For all `ipma` boxes in a file: 10,000 tiles need about 200 KB. */
const maxAssociationBytes = 2 ** 18;

/**
 * @throws RangeError for more associations than real files contain: reading 30 MB of them takes
 *   seconds
 */
export function requireFewAssociations(iprp: readonly ContainerBox[]): void {
  let bytes = 0;
  for (const { type, data } of iprp) if (type === 'ipma') bytes += data.length;
  if (bytes > maxAssociationBytes) throw new RangeError(`${bytes} bytes of associations`);
}

/**
 * Yields the entries of an `ipma` box.
 *
 * @throws RangeError for a truncated box
 */
export function* associations(ipma: Buffer): Generator<Association> {
  const [version = 0] = ipma;
  const wide = (ipma.readUInt8(3) & 1) === 1;
  const entries = Math.min(ipma.readUInt32BE(4), maxBoxes);
  let at = 8;
  for (let entry = 0; entry < entries; entry += 1) {
    const item = version === 0 ? ipma.readUInt16BE(at) : ipma.readUInt32BE(at);
    at += version === 0 ? 2 : 4;
    const indexes: number[] = [];
    const essential: boolean[] = [];
    const end = at + 1 + ipma.readUInt8(at) * (wide ? 2 : 1);
    for (at += 1; at < end; at += wide ? 2 : 1) {
      indexes.push(wide ? ipma.readUInt16BE(at) & 0x7fff : ipma.readUInt8(at) & 0x7f);
      essential.push((ipma.readUInt8(at) & 0x80) !== 0);
    }
    yield { item, indexes, essential };
  }
}

/** Writes the entries as a version 1 box, because its numbers are widest. */
export function writeIpma(entries: readonly Association[]): Buffer {
  const head = Buffer.from([1, 0, 0, 1, 0, 0, 0, 0]);
  head.writeUInt32BE(entries.length, 4);
  const parts = entries.map(({ item, indexes, essential }) => {
    const part = Buffer.alloc(5 + 2 * indexes.length);
    part.writeUInt32BE(item);
    part.writeUInt8(indexes.length, 4);
    for (const [place, index] of indexes.entries()) {
      part.writeUInt16BE(index | (essential[place] === true ? 0x8000 : 0), 5 + 2 * place);
    }
    return part;
  });
  return Buffer.concat([head, ...parts]);
}

const colourType = (property: ContainerBox | undefined): string =>
  property?.type === 'colr' ? property.data.toString('latin1', 0, 4) : '';

/** Returns a colour property's codes (ISO/IEC 14496-12, 12.1.5); null for another property. */
export const readCicp = (property: ContainerBox | undefined): Cicp | null =>
  property === undefined || colourType(property) !== 'nclx'
    ? null
    : { primaries: property.data.readUInt16BE(4), transfer: property.data.readUInt16BE(6) };

/** Returns whether colour codes declare the limited range, such as samples from 16 to 235. */
export const isLimitedRange = (property: ContainerBox | undefined): boolean =>
  colourType(property) === 'nclx' && (property?.data.readUInt8(10) ?? 0) < 0x80;

/** Returns whether an AV1 image's configuration says that it is grey (AV1-ISOBMFF, 2.3.3). */
export const isMonochrome = (property: ContainerBox | undefined): boolean =>
  property?.type === 'av1C' && (property.data.readUInt8(2) & 0x10) !== 0;

export const isProfile = (property: ContainerBox | undefined): boolean =>
  /^(?:prof|rICC)$/.test(colourType(property));

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
  parseOrDefault(noHeader, () => readHeader(asBuffer(source)));

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

/**
 * Refuses unprofiled HDR colours. libvips 8.18 ignores colour codes and reads such colours as sRGB,
 * grey and dark. Other codes have already become a profile.
 *
 * @throws ServiceError source_unsupported
 */
export function requireConvertibleCodes(
  source: Uint8Array,
  { hasProfile }: Pick<FileHeader, 'hasProfile'>,
): void {
  const codes = hasProfile ? null : readHeif(source).cicp;
  if (codes !== null) requireConvertible(codes.transfer);
}

/** Codings of items that libheif reads. */
const heifCodings: ReadonlySet<string> = new Set(['av01', 'hvc1']);

/** Types of coded items (the registry of MPEG-4, mp4ra.org). */
const codingNames: Readonly<Record<string, string>> = {
  avc1: 'AVC',
  j2k1: 'JPEG 2000',
  jpeg: 'JPEG',
  lhv1: 'layered HEVC',
  unci: 'uncompressed pixels',
  vvc1: 'VVC',
};

/**
 * Returns the error for an encoding that libheif does not read, naming the format by its label;
 * null for other encodings.
 */
export const unsupportedHeif =
  (label: string) =>
  (source: Uint8Array, cause: unknown): ServiceError | null => {
    const { onlySequence, coding, predicted } = readHeif(source);
    const remedy = 'To use it: save it as HEIC, AVIF or JPEG';
    if (onlySequence) {
      const message = `The ${label} contains only a sequence, no still image. To use it: deliver one of its frames as an image.`;
      return unsupported(message, cause);
    }
    if (coding !== null && !heifCodings.has(coding)) {
      const name = codingNames[coding] ?? coding;
      const message = `The source is a HEIF in an unsupported encoding (${name}). ${remedy}.`;
      return unsupported(message, cause);
    }
    return predicted
      ? unsupported(
          `The source is a HEIF image that is predicted from another image. ${remedy}.`,
          cause,
        )
      : null;
  };
