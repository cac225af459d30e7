const block = { extension: 0x21, image: 0x2c, trailer: 0x3b } as const;
const label = { graphicControl: 0xf9, application: 0xff } as const;

/** They say how often an animation is repeated. */
const loops: ReadonlySet<string> = new Set(['NETSCAPE2.0', 'ANIMEXTS1.0']);

/**
 * A GIF (GIF89a specification) without its comments, XMP and anything behind its end.
 *
 * @returns null for a file that is not a series of blocks
 */
export function strippedGif(source: Uint8Array): Buffer | null {
  const file = Buffer.from(source.buffer, source.byteOffset, source.byteLength);
  if (file.length < 13) return null;
  const first = 13 + tableBytes(file[10]);
  const parts = [file.subarray(0, first)];
  for (let at = first; at < file.length; ) {
    const type = file[at];
    if (type === block.trailer) return Buffer.concat([...parts, file.subarray(at, at + 1)]);
    const end = type === block.extension ? endOfBlocks(file, at + 2) : endOfImage(file, at);
    if (end === null) return null;
    const whole = file.subarray(at, end);
    if (type === block.image || isNeeded(whole)) parts.push(whole);
    at = end;
  }
  return null;
}

function isNeeded(extension: Buffer): boolean {
  const isLoop = loops.has(extension.toString('latin1', 3, 14));
  return extension[1] === label.graphicControl || (extension[1] === label.application && isLoop);
}

/** Bytes of the colour table that a packed field announces. */
const tableBytes = (packed = 0): number =>
  (packed & 0x80) === 0 ? 0 : 3 * 2 ** ((packed & 7) + 1);

function endOfImage(file: Buffer, at: number): number | null {
  if (file[at] !== block.image) return null;
  // The descriptor has 10 bytes; a byte before the blocks says how the pixels are coded.
  return endOfBlocks(file, at + 10 + tableBytes(file[at + 9]) + 1);
}

/** The end of a series of sub-blocks, each with its length before it, the last of length 0. */
function endOfBlocks(file: Buffer, from: number): number | null {
  for (let at = from; at < file.length; ) {
    const length = file[at] ?? 0;
    if (length === 0) return at + 1;
    at += 1 + length;
  }
  return null;
}
