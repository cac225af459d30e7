import { boxes, type ContainerBox, itemId, itemType } from './boxes.ts';

/** Types of items that are derived from others (ISO/IEC 23008-12, 6.6). */
const derivedItems: ReadonlySet<string> = new Set(['grid', 'iden', 'iovl', 'tmap']);

/** Items of a hostile file may be derived from each other. */
const maxDerivations = 8;

/**
 * The type of an item, such as `hvc1` or `j2k1`; null if absent. That of an item derived from others, such as a
 * grid, is the type of the first one.
 *
 * @param entries of the `iinf` box
 * @param iref the references of the items
 * @throws RangeError for a malformed box
 */
export function codingOf(
  item: number,
  entries: readonly ContainerBox[],
  iref: Buffer | undefined,
): string | null {
  const types = new Map(entries.map((entry) => [itemId(entry), itemType(entry)]));
  let current: number | null = item;
  for (let step = 0; step < maxDerivations && current !== null; step += 1) {
    const type = types.get(current) ?? null;
    if (type === null || !derivedItems.has(type)) return type;
    current = referenceOf('dimg', current, iref);
  }
  return null;
}

/** The first item to which an item refers (14496-12, 8.11.12); null without such a reference. */
export function referenceOf(
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
