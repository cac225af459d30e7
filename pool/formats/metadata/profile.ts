import { asBuffer } from '../bytes.ts';

const tagTable = 128;
/** lcms refuses profiles with more. */
const maxTags = 100;

interface Tag {
  readonly name: string;
  readonly data: Buffer;
}

/** Yields a profile's tags (ICC.1:2022, 7.3). */
export function* profileTags(profile: Uint8Array): Generator<Tag> {
  const bytes = asBuffer(profile);
  if (bytes.length < tagTable + 4) return;
  const count = Math.min(bytes.readUInt32BE(tagTable), maxTags);
  for (let tag = 0; tag < count; tag += 1) {
    const at = tagTable + 4 + 12 * tag;
    if (at + 12 > bytes.length) return;
    const from = bytes.readUInt32BE(at + 4);
    const data = bytes.subarray(from, from + bytes.readUInt32BE(at + 8));
    yield { name: bytes.toString('latin1', at, at + 4), data };
  }
}

/** Returns an ICC profile's name, such as `Display P3`; null if absent. */
export function profileName(profile: Uint8Array): string | null {
  const [name = ''] = description(profile).split('\0', 1);
  return (
    name
      .toWellFormed()
      .replaceAll(/\p{Cc}/gu, ' ')
      .trim() || null
  );
}

/** Returns the `desc` tag's text (ICC.1:2022, 9.2.41), version 2 or 4; '' if absent. */
function description(profile: Uint8Array): string {
  for (const { name, data } of profileTags(profile)) if (name === 'desc') return text(data);
  return '';
}

/** Maximum characters of a description. */
export const maxNameCharacters = 80;

function text(tag: Buffer): string {
  const type = tag.toString('latin1', 0, 4);
  if (type === 'desc') return tag.toString('latin1', 12, 12 + maxNameCharacters);
  if (type !== 'mluc' || tag.length < 28) return '';
  const [length, from] = [tag.readUInt32BE(20), tag.readUInt32BE(24)];
  const written = tag.subarray(from, from + Math.min(length, 2 * maxNameCharacters));
  // UTF-16, big endian.
  return Buffer.from(written.subarray(0, written.length & ~1))
    .swap16()
    .toString('utf16le');
}
