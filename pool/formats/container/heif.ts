import { bufferOf, parseBytes } from '../bytes.ts';
import { boxes, type ContainerBox, findBox, itemEntries, itemType, maxBoxes } from './boxes.ts';
import { codingOf, referenceOf } from './heif-coding.ts';

/** Properties of the primary image of a HEIF or AVIF file. */
interface HeifHeader {
  /** Major brand. */
  readonly brand: string;
  /** True for a sequence without a still image. */
  readonly onlySequence: boolean;
  /**
   * Type of the primary image's coded items, such as `hvc1` or `j2k1`; null if absent. That of an image derived
   * from others, such as a grid, is the type of the first one.
   */
  readonly coding: string | null;
  /** True if the primary image is coded as the difference to another one (ISO/IEC 23008-12, 6.4.9). */
  readonly predicted: boolean;
  /** CICP transfer characteristics (ITU-T H.273, table 3); null if absent. */
  readonly transfer: number | null;
  /** True if the file has only coded images: no metadata, sequence or unknown part. */
  readonly onlyImages: boolean;
  /** True if the file has a C2PA manifest, and else only coded images. */
  readonly onlySignedImages: boolean;
}

/** The major brands that libvips 8.18 opens (libvips/foreign/heifload.c). */
const openedBrands: ReadonlySet<string> = new Set(
  'avif heic heix hevc heim heis hevm hevs mif1 msf1'.split(' '),
);

/**
 * The source, with a major brand that libvips opens in place of others, such as `avis` of sequences, most of which
 * include a still image, and `mif2`. It compares only that brand, and none of the compatible ones. A copy if
 * anything changes.
 */
export function withOpenedBrand(source: Uint8Array, kind: 'avif' | 'heif'): Uint8Array {
  if (openedBrands.has(bufferOf(source).toString('latin1', 8, 12))) return source;
  const copy = Buffer.from(source);
  copy.write(kind === 'avif' ? 'avif' : 'mif1', 8, 'latin1');
  return copy;
}

const noHeader: HeifHeader = {
  brand: '',
  onlySequence: false,
  coding: null,
  predicted: false,
  transfer: null,
  onlyImages: false,
  onlySignedImages: false,
};

/**
 * Reads an ISO base media file (ISO/IEC 14496-12 and 23008-12). Malformed parts count as absent: the
 * decoder refuses them later.
 */
export const readHeif = (source: Uint8Array): HeifHeader =>
  parseBytes(
    () => readHeader(bufferOf(source)),
    () => noHeader,
  );

function readHeader(source: Buffer): HeifHeader {
  const top = boxes(source);
  const brand = findBox(top, 'ftyp')?.toString('latin1', 0, 4) ?? '';
  // Full boxes begin with a version and flags, of 4 bytes together.
  const meta = findBox(top, 'meta')?.subarray(4);
  const hasSequence = findBox(top, 'moov') !== undefined;
  if (meta === undefined) return { ...noHeader, brand, onlySequence: hasSequence };
  const inside = boxes(meta);
  const primary = primaryItem(findBox(inside, 'pitm'));
  const entries = itemEntries(findBox(inside, 'iinf'));
  const hasOnlyImageItems = entries.every((entry) => imageItems.has(itemType(entry)));
  const references = findBox(inside, 'iref');
  const others = top.filter(({ type }) => !imageBoxes.has(type));
  return {
    brand,
    onlySequence: hasSequence && primary === null,
    coding: primary === null ? null : codingOf(primary, entries, references),
    predicted: primary !== null && referenceOf('pred', primary, references) !== null,
    transfer: primary === null ? null : transferOf(findBox(inside, 'iprp'), primary),
    onlyImages: hasOnlyImageItems && others.length === 0,
    onlySignedImages: hasOnlyImageItems && others.length > 0 && others.every(isManifest),
  };
}

const imageItems: ReadonlySet<string> = new Set(['av01', 'grid']);
const imageBoxes: ReadonlySet<string> = new Set(['ftyp', 'meta', 'mdat']);

/** C2PA 2.1, A.5.1: a box with a type of its own. */
const manifestType = 'd8fec3d61b0e483c92975828877ec481';
const isManifest = ({ type, data }: ContainerBox): boolean =>
  type === 'uuid' && data.toString('hex', 0, 16) === manifestType;

function primaryItem(pitm: Buffer | undefined): number | null {
  if (pitm === undefined) return null;
  return pitm[0] === 0 ? pitm.readUInt16BE(4) : pitm.readUInt32BE(4);
}

/** The transfer characteristics in an item's `nclx` colour information. */
function transferOf(iprp: Buffer | undefined, item: number): number | null {
  const parts = boxes(iprp);
  const properties = boxes(findBox(parts, 'ipco'));
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
      // The first bit marks an essential property.
      const property = wide ? ipma.readUInt16BE(at) & 0x7fff : ipma.readUInt8(at) & 0x7f;
      if (id === item) found.push(property);
    }
    if (id === item) break;
  }
  return found;
}
