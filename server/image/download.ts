import querystring from 'node:querystring';
import type { ParameterType } from './values.ts';

/** A file name for clients that save the image, with or without showing it (RFC 6266). */
export interface NamedFile {
  readonly disposition: 'attachment' | 'inline';
  readonly name: string;
}

const maxCharacters = 200;
/** File systems allow 255 bytes with the extension. */
const maxBytes = 200;

/** Path separators and other characters that Windows does not allow. */
const separators = /[/\\:*?"<>|]/g;
/** Control characters, line ends, and marks that change the displayed order. */
const invisible = /[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu;
/** A leading dot hides a file; Windows removes trailing dots and spaces. */
const outerDotsAndSpaces = /^[. ]+|[. ]+$/g;

/**
 * Characters that a name keeps or replaces, for patterns in all dialects: excludes the Unicode
 * ranges above.
 */
const leftCharacter = '[^\\x00-\\x20\\x7f-\\x9f.\u2028-\u202e\u200e\u200f\u2066-\u2069\ufeff]';

/** A file name that is valid on every system; empty when no character is left. */
function safeName(text: string): string {
  const plain = text
    .normalize('NFC')
    .toWellFormed()
    .replace(invisible, '')
    .replace(separators, '-');
  let bytes = 0;
  const kept = [...plain.replace(outerDotsAndSpaces, '')].filter((character) => {
    bytes += Buffer.byteLength(character);
    return bytes <= maxBytes;
  });
  return kept.join('').replace(outerDotsAndSpaces, '');
}

/** Returns the last part of a source's path as a safe name; null if nothing is left of it. */
export function sourceFile({ pathname }: URL): NamedFile | null {
  const last = pathname.slice(pathname.lastIndexOf('/') + 1);
  // Decodes what it can: names in other encodings than UTF-8 get replacement characters.
  const name = safeName(querystring.unescape(last));
  return name === '' ? null : { disposition: 'inline', name };
}

/** The value of `download` and `filename`. */
export const fileName: ParameterType<string> = {
  accepts: `a file name of 1 to ${maxCharacters} characters`,
  // At least one character must remain.
  schema: { type: 'string', pattern: leftCharacter, minLength: 1, maxLength: maxCharacters },
  parse: (text) => ([...text].length > maxCharacters ? undefined : safeName(text) || undefined),
};
