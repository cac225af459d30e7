import { tooManyParts } from './examination.ts';

/** A box of an ISO base media file (ISO/IEC 14496-12, 4.2). */
export interface ContainerBox {
  readonly type: string;
  readonly data: Buffer;
}

/** Maximum boxes within a box; only hostile files contain more. */
export const maxBoxes = 10_000;

/**
 * @throws RangeError for a box that ends outside of its parent
 * @throws ServiceError source_too_large for too many boxes
 */
export function boxes(data: Buffer = Buffer.alloc(0)): ContainerBox[] {
  const found: ContainerBox[] = [];
  for (let at = 0; at < data.length; ) {
    const short = data.readUInt32BE(at);
    const long = short === 1;
    const size = long ? Number(data.readBigUInt64BE(at + 8)) : short || data.length - at;
    const header = long ? 16 : 8;
    if (found.length === maxBoxes) throw tooManyParts(maxBoxes);
    if (size < header || at + size > data.length) {
      throw new RangeError('A box extends beyond its parent.');
    }
    const type = data.toString('latin1', at + 4, at + 8);
    found.push({ type, data: data.subarray(at + header, at + size) });
    at += size;
  }
  return found;
}

export const findBox = (list: readonly ContainerBox[], type: string): Buffer | undefined =>
  list.find((box) => box.type === type)?.data;

/** Returns the entries of an `iinf` box (8.11.6). */
export const itemEntries = (iinf: Buffer | undefined): ContainerBox[] =>
  boxes(iinf?.subarray(iinf[0] === 0 ? 6 : 8));

export const itemId = ({ data }: ContainerBox): number =>
  data[0] === 3 ? data.readUInt32BE(4) : data.readUInt16BE(4);

export function itemType({ data }: ContainerBox): string {
  const at = data[0] === 3 ? 10 : 8;
  return data.toString('latin1', at, at + 4);
}
