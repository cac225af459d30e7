import { TextDecoder } from 'node:util';

/**
 * Returns whether the first bytes could start an XML document. @param text one character per byte
 */
export const mayBeXml = (text: string): boolean =>
  /^(?:\xef\xbb\xbf\s*<|\xff\xfe|\xfe\xff|\s*<|\0<\0\?)/.test(text);

/**
 * Decodes a document like browsers: by a byte order mark, UTF-16 in the characters `<?`, or the
 * declared encoding. Like browsers, uses UTF-8 for unknown encodings, and for UTF-16 declared in
 * ASCII bytes, as written by .NET.
 *
 * @throws TypeError for bytes that are invalid in the encoding, unless the document is cut
 */
export function decodeXml(bytes: Uint8Array, { isCut }: { readonly isCut: boolean }): string {
  const head = Buffer.from(bytes.subarray(0, 1000)).toString('latin1');
  return createDecoder(detectEncoding(head), !isCut).decode(bytes);
}

function detectEncoding(head: string): string {
  if (/^(?:\xff\xfe|<\0\?\0)/.test(head)) return 'utf-16le';
  if (/^(?:\xfe\xff|\0<\0\?)/.test(head)) return 'utf-16be';
  if (head.startsWith('\xef\xbb\xbf')) return 'utf-8';
  const [, declared = 'utf-8'] = /^<\?xml\s[^>]*?\sencoding\s*=\s*["']([^"']*)/.exec(head) ?? [];
  return /utf-?16|ucs-?2|unicode/i.test(declared) ? 'utf-8' : declared;
}

function createDecoder(label: string, fatal: boolean): TextDecoder {
  try {
    return new TextDecoder(label, { fatal });
  } catch {
    return new TextDecoder('utf-8', { fatal });
  }
}
