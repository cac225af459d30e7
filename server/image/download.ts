import { sourceExtensions } from '../../pool/formats/source-formats.ts';
import { encodings } from '../../pool/rendering/encode/encodings.ts';
import { percentEncode } from './source-url.ts';
import type { ParameterType } from './values.ts';

/** Maximum length of the parameter. */
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

/** The value of `download`. */
export const fileName: ParameterType<string> = {
  accepts: `a file name of 1 to ${maxCharacters} characters`,
  // At least one character must remain.
  schema: { type: 'string', pattern: leftCharacter, minLength: 1, maxLength: maxCharacters },
  parse: (text) => ([...text].length > maxCharacters ? undefined : safeName(text) || undefined),
};

/** File extensions by media type. A name that lacks an extension gets the first. */
const extensions: Readonly<Record<string, readonly [string, ...string[]]>> = {
  ...Object.fromEntries(
    Object.values(encodings).map(({ contentType, extensions }) => [contentType, extensions]),
  ),
  'text/plain': ['txt'],
  'application/json': ['json'],
};
const imageExtensions = new Set([...Object.values(extensions).flat(), ...sourceExtensions]);

/** Adds the extension of the delivered type, replacing another image type's extension. */
function withExtension(name: string, contentType: string): string {
  const own = extensions[contentType.split(';')[0] ?? ''];
  if (own === undefined) return name;
  const [, stem = name, extension = ''] = /^(.+)\.([^.]+)$/.exec(name) ?? [];
  const written = extension.toLowerCase();
  if (own.includes(written)) return name;
  return `${imageExtensions.has(written) ? stem : name}.${own[0]}`;
}

/**
 * The Content-Disposition header (RFC 6266) of a download: the name in ASCII for old clients, and in full
 * (RFC 8187).
 *
 * @param name as `fileName` reads it
 */
export function attachment(name: string, contentType: string): string {
  const full = withExtension(name, contentType);
  const ascii = full
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    // Some clients decode percent signs.
    .replace(/[^ -~]|[%"\\]/gu, '_');
  return `attachment; filename="${ascii}"; filename*=UTF-8''${percentEncode(full)}`;
}
