/** Texts and bytes of hostile inputs. */

export const none = Buffer.alloc(0);

export const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');
export const latin1Text = (bytes: Buffer): string => bytes.toString('latin1');

/** Splits a text at white space. */
export const words = (text: string): string[] => text.trim().split(/\s+/);

/** Returns the joined texts of several indices. */
export const repeatedText = (count: number, part: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => part(index)).join('');

/** Repeats a part, in one buffer. */
export const repeated = (count: number, part: Buffer): Buffer =>
  Buffer.alloc(count * part.length, part);

/** Inserts parts into a file at an offset. */
export const inserted = (file: Buffer, at: number, ...parts: readonly Buffer[]): Buffer =>
  Buffer.concat([file.subarray(0, at), ...parts, file.subarray(at)]);
