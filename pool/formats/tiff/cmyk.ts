import { uintReader } from '../byte-order.ts';
import { asBuffer, parsedOr } from '../bytes.ts';
import { plainCmykProfile } from '../metadata/cmyk.ts';
import { profileTag, tiffPixels } from './parts.ts';

const separated = 5;
/** Bytes per entry, and the type for opaque bytes (TIFF 6.0, section 2). */
const [entryBytes, undefinedType] = [12, 7];

/**
 * Adds browsers' CMYK profile to a TIFF, in a copy, if its first page is unprofiled CMYK. Writes
 * the page's directory, with an additional entry, at the file's end. Leaves a BigTIFF unchanged.
 */
export const withTiffCmykProfile = (source: Uint8Array): Uint8Array =>
  parsedOr(source, () => {
    const file = asBuffer(source);
    const read = uintReader(file);
    const [page] = tiffPixels(file);
    if (page?.colours !== separated || page.hasProfile || page.samples < 4) return source;
    if (read === null || read(2, 2) !== 42) return source;
    const from = read(4, 4);
    const count = read(from, 2);
    const end = from + 2 + entryBytes * count;
    if (end + 4 > file.length) return source;
    const little = file.toString('latin1', 0, 2) === 'II';
    const number = (value: number, bytes: 2 | 4): Buffer => {
      const written = Buffer.alloc(bytes);
      if (little) written.writeUIntLE(value, 0, bytes);
      else written.writeUIntBE(value, 0, bytes);
      return written;
    };
    const profile = plainCmykProfile();
    const padding = Buffer.alloc(file.length & 1);
    const profileAt = file.length + padding.length;
    // Entries are in ascending order of their tags.
    let place = from + 2;
    while (place < end && read(place, 2) < profileTag) place += entryBytes;
    const entry = [
      number(profileTag, 2),
      number(undefinedType, 2),
      number(profile.length, 4),
      number(profileAt, 4),
    ];
    return Buffer.concat([
      file.subarray(0, 4),
      number(profileAt + profile.length, 4),
      file.subarray(8),
      padding,
      profile,
      number(count + 1, 2),
      file.subarray(from + 2, place),
      ...entry,
      file.subarray(place, end + 4),
    ]);
  });
