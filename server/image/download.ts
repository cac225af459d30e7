import type { Value } from './values.ts';

/** Longest name that is accepted, in characters. */
const maxCharacters = 200;
/** File systems take 255 bytes, with the extension. */
const maxBytes = 200;

/** Path separators, and what Windows does not take in a name. */
const separators = /[/\\:*?"<>|]/g;
/** Controls, line ends, and marks that would show the name in another order than it has. */
const invisible = /[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu;
/** A leading dot hides a file; Windows drops dots and spaces at the end. */
const ends = /^[. ]+|[. ]+$/g;

/** A name for a file on any system, whatever was asked for; empty when nothing is left. */
function safeName(text: string): string {
  const plain = text
    .normalize('NFC')
    .toWellFormed()
    .replace(invisible, '')
    .replace(separators, '-');
  let bytes = 0;
  const kept = [...plain.replace(ends, '')].filter((character) => {
    bytes += Buffer.byteLength(character);
    return bytes <= maxBytes;
  });
  return kept.join('').replace(ends, '');
}

/** The value of `download`. */
export const fileName: Value<string> = {
  accepts: `a file name of 1 to ${maxCharacters} characters`,
  schema: { type: 'string', minLength: 1, maxLength: maxCharacters },
  parse: (text) => ([...text].length > maxCharacters ? undefined : safeName(text) || undefined),
};

/** The first one is used for new names. */
const extensions: Readonly<Record<string, readonly [string, ...string[]]>> = {
  'image/jpeg': ['jpg', 'jpeg', 'jpe'],
  'image/png': ['png'],
  'image/webp': ['webp'],
  'image/avif': ['avif'],
  'image/gif': ['gif'],
  'text/plain': ['txt'],
  'application/json': ['json'],
};
/** Of sources that no output has the format of. */
const otherExtensions = ['tif', 'tiff', 'svg', 'heic', 'heif', 'bmp', 'ico', 'jxl'];
const imageExtensions = new Set([...Object.values(extensions).flat(), ...otherExtensions]);

/** The name with the extension of what is delivered, in place of another image's. */
function withExtension(name: string, contentType: string): string {
  const own = extensions[contentType.split(';')[0] ?? ''];
  if (own === undefined) return name;
  const [, stem = name, extension = ''] = /^(.+)\.([^.]+)$/.exec(name) ?? [];
  const written = extension.toLowerCase();
  if (own.includes(written)) return name;
  return `${imageExtensions.has(written) ? stem : name}.${own[0]}`;
}

const percentEncoded = (one: string): string => `%${one.charCodeAt(0).toString(16).toUpperCase()}`;

/**
 * The Content-Disposition header (RFC 6266) of a download: the name in ASCII for old clients, and as it
 * is (RFC 8187).
 *
 * @param name as `fileName` reads it
 */
export function attachment(name: string, contentType: string): string {
  const full = withExtension(name, contentType);
  const ascii = full
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    // Some clients decode what looks percent-encoded.
    .replace(/[^ -~]|[%"\\]/gu, '_');
  const extended = encodeURIComponent(full).replace(/['()*]/g, percentEncoded);
  return `attachment; filename="${ascii}"; filename*=UTF-8''${extended}`;
}
