/** A bitmap of 24 bits. @param pixels rows of three bytes for each pixel, padded to 4 bytes */
export function bmpOf(width: number, height: number, pixels: Buffer): Buffer {
  const header = Buffer.alloc(54);
  header.write('BM');
  header.writeUInt32LE(54, 10);
  header.writeUInt32LE(40, 14);
  header.writeInt32LE(width, 18);
  header.writeInt32LE(height, 22);
  header.writeUInt16LE(1, 26);
  header.writeUInt16LE(24, 28);
  return Buffer.concat([header, pixels]);
}

/** An icon with one picture, a PNG or a bitmap without the first 14 bytes. */
export function icoOf(picture: Buffer): Buffer {
  const head = Buffer.alloc(22);
  head[2] = 1;
  head[4] = 1;
  head.writeUInt32LE(picture.length, 14);
  head.writeUInt32LE(22, 18);
  return Buffer.concat([head, picture]);
}
