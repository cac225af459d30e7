import { asBuffer, parseOrDefault } from '../bytes.ts';
import { boxes, type ContainerBox, findBox } from '../container/boxes.ts';
import { type Cicp, cicpProfile } from '../metadata/cicp.ts';
import {
  associations,
  isLimitedRange,
  isMonochrome,
  isProfile,
  readCicp,
  requireFewAssociations,
  writeIpma,
} from './header.ts';

/**
 * Adds profiles for the images' colour codes (`nclx`) to a HEIF or AVIF, in a copy, if images
 * contain such codes and no profile. Keeps the codes, because they also define the colours' coding.
 * Malformed files stay unchanged.
 *
 * The profile also expands limited-range greys, which libheif 1.23 decodes unexpanded.
 */
export const withHeifProfile = (source: Uint8Array): Uint8Array =>
  parseOrDefault(null, () => withProfiles(asBuffer(source))) ?? source;

/** Returns null if the file needs no addition. @throws RangeError for an offset outside the file */
function withProfiles(file: Buffer): Buffer | null {
  const top = boxes(file);
  const meta = top.find(({ type }) => type === 'meta');
  if (meta === undefined) return null;
  const inside = boxes(meta.data.subarray(4));
  const iprp = inside.find(({ type }) => type === 'iprp');
  const properties = iprp && propertiesWithProfiles(boxes(iprp.data));
  if (!properties) return null;
  const changed = inside.map((box) =>
    box === iprp ? createBox('iprp', properties) : createBox(box.type, box.data),
  );
  return withMeta(file, top, meta, createBox('meta', meta.data.subarray(0, 4), ...changed));
}

/**
 * Returns the contents of the `iprp` box; null if no profile is missing.
 *
 * @throws RangeError
 */
function propertiesWithProfiles(parts: readonly ContainerBox[]): Buffer | null {
  requireFewAssociations(parts);
  const properties = boxes(findBox(parts, 'ipco'));
  const colourCodes = properties.map(readCicp);
  const profiles = properties.map(isProfile);
  const added: Buffer[] = [];
  const known = new Map<string, number | null>();
  /** Returns the profile's index for the codes; null if they need no profile. */
  const getProfileIndex = ({ primaries, transfer }: Cicp, isLimited: boolean): number | null => {
    const key = `${primaries}/${transfer}/${isLimited}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    const profile = cicpProfile({ primaries, transfer }, true, isLimited);
    if (profile !== null) added.push(createBox('colr', Buffer.from('prof'), profile));
    const index = profile && properties.length + added.length;
    known.set(key, index);
    return index;
  };
  const changed = parts.map(({ type, data }) => {
    if (type !== 'ipma') return { type, data };
    const entries = [...associations(data)].map((entry) => {
      const codes = entry.indexes.map((own) => colourCodes[own - 1]).find((found) => found);
      const hasProfile = entry.indexes.some((own) => profiles[own - 1]);
      const own = entry.indexes.map((index) => properties[index - 1]);
      const isLimited = own.some(isMonochrome) && own.some(isLimitedRange);
      const index = !codes || hasProfile ? null : getProfileIndex(codes, isLimited);
      return index === null ? entry : { ...entry, indexes: [...entry.indexes, index] };
    });
    return { type, data: writeIpma(entries) };
  });
  if (added.length === 0) return null;
  return Buffer.concat(
    changed.map(({ type, data }) => createBox(type, data, ...(type === 'ipco' ? added : []))),
  );
}

/**
 * Replaces the `meta` box. Appends the new box and turns the old box into free space, because the
 * coded images' offsets count from the file's start.
 */
function withMeta(
  file: Buffer,
  top: readonly ContainerBox[],
  old: ContainerBox,
  meta: Buffer,
): Buffer | null {
  const copy = Buffer.concat([file, meta]);
  const start = findOffset(file, old);
  // The last box can state the size 0, which means the rest of the file.
  for (const last of top.slice(-1)) {
    const at = findOffset(file, last);
    if (at !== null) copy.writeUInt32BE(last.data.length + 8, at);
  }
  if (start === null) return null;
  copy.write('free', start + 4, 'latin1');
  return copy;
}

/** Returns a box's offset; null for a box with a 64-bit size. */
function findOffset(file: Buffer, { type, data }: ContainerBox): number | null {
  const start = data.byteOffset - file.byteOffset - 8;
  return file.toString('latin1', start + 4, start + 8) === type ? start : null;
}

function createBox(type: string, ...data: readonly Buffer[]): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(data.reduce((sum, { length }) => sum + length, 8));
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, ...data]);
}
