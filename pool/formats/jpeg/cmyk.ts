import { asBuffer } from '../bytes.ts';
import { plainCmykProfile } from '../metadata/cmyk.ts';
import { jpegParts, markers } from './parts.ts';

const name = Buffer.from('ICC_PROFILE\0\x01\x01', 'latin1');
/**
 * Offsets of a profile in its first segment, and of the colour space in the profile (ICC.1:2022,
 * 7.2.6).
 */
const [profileAt, spaceAt] = [18, 16];

/**
 * Adds the browsers' CMYK profile to a CMYK JPEG that lacks a profile, in a copy; returns the same
 * bytes for other files.
 */
export function withCmykProfile(source: Uint8Array): Uint8Array {
  const file = asBuffer(source);
  let components = 0;
  const kept: Buffer[] = [];
  let end = 2;
  for (const { role, from, to } of jpegParts(file)) {
    if (role === 'scan') break;
    if (role === 'profile') {
      const space = file.toString(
        'latin1',
        from + profileAt + spaceAt,
        from + profileAt + spaceAt + 4,
      );
      if (space === 'CMYK') return source;
    } else kept.push(file.subarray(from, to));
    const type = file[from + 1] ?? 0;
    if (type >= 0xc0 && type <= 0xc2) components = file[from + 9] ?? 0;
    end = to;
  }
  if (components !== 4) return source;
  const profile = plainCmykProfile();
  const head = Buffer.from([0xff, markers.app2, 0, 0]);
  head.writeUInt16BE(2 + name.length + profile.length, 2);
  return Buffer.concat([file.subarray(0, 2), head, name, profile, ...kept, file.subarray(end)]);
}
