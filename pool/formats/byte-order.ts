/** Reads an unsigned integer in the byte order of the file. */
export type ReadUint = (at: number, bytes: 2 | 4 | 8) => number;

/** Returns null if the file does not start with a byte order. */
export function uintReader(file: Buffer): ReadUint | null {
  const order = file.toString('latin1', 0, 2);
  if (order !== 'II' && order !== 'MM') return null;
  const little = order === 'II';
  return (at, bytes) => {
    if (bytes === 8) return Number(little ? file.readBigUInt64LE(at) : file.readBigUInt64BE(at));
    return little ? file.readUIntLE(at, bytes) : file.readUIntBE(at, bytes);
  };
}
