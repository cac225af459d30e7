/**
 * True for an ICC profile that calls itself sRGB, as those of cameras, scanners and editors do: its
 * colours are the same without it. There are linear profiles whose names begin alike.
 */
export function isSrgb(profile: Uint8Array): boolean {
  return /^sRGB(?: IEC61966| built-in|2014|\0|$)/.test(description(profile));
}

const tagTable = 128;

/** The text of the `desc` tag (ICC.1:2022, 9.2.41), of version 2 or 4; '' for none. */
function description(profile: Uint8Array): string {
  const bytes = Buffer.from(profile.buffer, profile.byteOffset, profile.byteLength);
  if (bytes.length < tagTable + 4) return '';
  const tags = Math.min(bytes.readUInt32BE(tagTable), 100);
  for (let tag = 0; tag < tags; tag += 1) {
    const at = tagTable + 4 + 12 * tag;
    if (at + 12 > bytes.length) return '';
    if (bytes.toString('latin1', at, at + 4) !== 'desc') continue;
    const from = bytes.readUInt32BE(at + 4);
    return text(bytes.subarray(from, from + bytes.readUInt32BE(at + 8)));
  }
  return '';
}

function text(tag: Buffer): string {
  const type = tag.toString('latin1', 0, 4);
  if (type === 'desc') return tag.toString('latin1', 12, 60);
  if (type !== 'mluc' || tag.length < 28) return '';
  const [length, from] = [tag.readUInt32BE(20), tag.readUInt32BE(24)];
  // UTF-16, big endian.
  return Buffer.from(tag.subarray(from, from + (length & ~1)))
    .swap16()
    .toString('utf16le');
}
