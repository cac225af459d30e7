/** A view of the same bytes. */
export const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

/** Parses bytes; `truncated` replaces the result when an offset is outside of the buffer. */
export function parseBytes<T, F>(read: () => T, truncated: () => F): T | F {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) return truncated();
    throw error;
  }
}

/** Recognises a format by its first bytes, as Latin-1. */
export type Matcher = (head: string) => boolean;

/** Matches one of some texts at an offset. */
export const textAt =
  (offset: number, ...texts: readonly string[]): Matcher =>
  (head) =>
    texts.some((text) => head.startsWith(text, offset));
