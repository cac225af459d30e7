/** Returns a view of the same bytes. */
export const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

/** Parses bytes. @throws the error of `truncated` when an offset is outside of the buffer */
export function parseBytes<T>(read: () => T, truncated: () => Error): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof RangeError ? truncated() : error;
  }
}

/** Parses bytes; returns `fallback` if an offset is outside the buffer. */
export function parseOrDefault<F, T>(fallback: F, read: () => T): T | F {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) return fallback;
    throw error;
  }
}

/** Recognises a format by its first bytes. @param text the same bytes as Latin-1 */
export type Matcher = (text: string, head: Buffer) => boolean;

/**
 * An SVG's root element is within this many bytes: licences and editors put long comments before
 * it.
 */
const headBytes = 2 ** 16;

/** Returns the first format that recognises the bytes, or null. */
export function matching<T extends { readonly matches: Matcher }>(
  formats: readonly T[],
  bytes: Uint8Array,
): T | null {
  const head = asBuffer(bytes).subarray(0, headBytes);
  const text = head.toString('latin1');
  return formats.find(({ matches }) => matches(text, head)) ?? null;
}

/** Matches one of some texts at an offset. */
export const textAt =
  (offset: number, ...texts: readonly string[]): Matcher =>
  (head) =>
    texts.some((text) => head.startsWith(text, offset));

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
