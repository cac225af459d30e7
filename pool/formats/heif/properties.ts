import { type ContainerBox, maxBoxes } from '../container/boxes.ts';
import type { Cicp } from '../metadata/cicp.ts';

/** An item's properties (ISO/IEC 23008-12, 9.3). */
interface Association {
  readonly item: number;
  /** Counted from 1; 0 means no property. */
  readonly indexes: readonly number[];
  /** Whether a reader must support the property, by index. */
  readonly essential: readonly boolean[];
}

/** For all `ipma` boxes in a file: 10,000 tiles need some 200 KB. */
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
