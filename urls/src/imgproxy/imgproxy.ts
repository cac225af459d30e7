import { createHmac } from 'node:crypto';
import { noEquivalent, optionInvalid, sourceInvalid, sourceMissing } from '../errors.ts';
import { decodeSource, isAbsolute, parseQuery } from '../read.ts';
import {
  type Size,
  type Translation,
  type UrlDialect,
  type UrlHost,
  type UrlSignature,
  veryLarge,
} from '../translation.ts';
import { formatName, readImgproxyOptions } from './options.ts';
import {
  cropNeedsSize,
  requirePresetFirst,
  toCrop,
  translateOptions,
} from './translate-options.ts';

/** Limits a URL's options; the request head limits the path. */
const maxOptions = 60;
const maxOptionLength = 400;
/** Source URLs have at most 8,192 characters. */
const maxBase64Length = 16_384;

/** Splits a path into signature, options and source. @throws UrlError source_missing */
function splitPath(path: string) {
  const [, signature = '', rest = ''] = /^\/([^/]*)\/(.*)$/s.exec(path) ?? [];
  if (signature === '' || rest === '') {
    throw sourceMissing('The path must be /signature/options/source.');
  }
  const [, written, plain] = /^(?:(.*?)\/)?plain\/(.*)$/s.exec(rest) ?? [];
  // Proxies can encode the colons.
  const before = ((plain === undefined ? rest : written) ?? '').replaceAll('%3A', ':');
  const segments = before.split('/');
  const start = segments.findIndex((segment) => !segment.includes(':'));
  const options = start === -1 ? segments : segments.slice(0, start);
  const others = start === -1 ? [] : segments.slice(start);
  return { signature, before, options, others, plain };
}

function translate(path: string, query: string, host: UrlHost): Translation {
  const { options: segments, others, plain } = splitPath(path);
  if (segments.length > maxOptions || segments.some(({ length }) => length > maxOptionLength)) {
    throw optionInvalid('The path', 'has too many or too long options');
  }
  const isBase64 = plain === undefined;
  if (!isBase64 && others.some((segment) => segment !== '')) {
    throw optionInvalid(others[0] ?? '', 'is not an option');
  }
  const options = readImgproxyOptions(segments);
  const { url, extension } = isBase64 ? decodeBase64(others) : decodePlain(plain);
  if (extension !== '') options.format = formatName('format', extension);
  const source = isAbsolute(url) ? { url } : { path: url.startsWith('/') ? url : `/${url}` };
  const given = { source, ignored: [...parseQuery(query).keys()] };
  requirePresetFirst(options, source, host);
  if (!cropNeedsSize(options)) {
    return { kind: 'image', ...given, query: translateOptions(options, source, host) };
  }
  const queryForSize = (size: Size) =>
    translateOptions({ ...options, crop: toCrop(options, size) }, source, host);
  return {
    kind: 'needsSize',
    ...given,
    // Checks at once everything that does not depend on the size.
    query: queryForSize(veryLarge),
    resolve: (size) => ({ kind: 'image', query: queryForSize(size), headers: [] }),
  };
}

/** Splits the format from a source. @param text includes the format after the separator */
function splitExtension(text: string, separator: string): [string, string] {
  const [url = '', extension = '', ...others] = text.split(separator, 3);
  if (url === '') throw sourceMissing('The source URL is missing.');
  if (others.length > 0) throw sourceInvalid('The source has more than one format.');
  return [url, extension];
}

/** Proxies that normalise paths turn `//` into `/`. */
const withSlashes = (url: string): string => url.replace(/^([a-z0-9+.-]+):\/(?!\/)/i, '$1://');

function decodePlain(text: string) {
  const [encoded, extension] = splitExtension(withSlashes(text), '@');
  return { url: decodeSource(encoded, 'The source URL'), extension };
}

function decodeBase64(segments: readonly string[]) {
  if (segments[0] === 'enc') throw noEquivalent('enc');
  const [encoded, extension] = splitExtension(segments.join(''), '.');
  const text = /^([\w-]+)=*$/.exec(encoded)?.[1] ?? '';
  if (text === '' || text.length > maxBase64Length || text.length % 4 === 1) {
    throw sourceInvalid('The source URL must be plain/ and a URL, or base64url.');
  }
  try {
    const url = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(text, 'base64url'));
    return { url, extension };
  } catch {
    throw sourceInvalid('The source URL is not text in base64url.');
  }
}

/** Returns the base64url HMAC-SHA256 of the salt and a path. @param key and @param salt hexadecimal digits */
export function imgproxySignature(key: string, salt: string, path: string): string {
  const hmac = createHmac('sha256', Buffer.from(key, 'hex'));
  return hmac.update(Buffer.from(salt, 'hex')).update(path).digest('base64url');
}

/** The first segments of unsigned URLs. */
const unsigned = new Set(['unsafe', 'insecure', '_', '-']);

/** Reads the signature, which covers the path before proxies encoded colons or removed slashes. */
function readSignature(path: string): UrlSignature | null {
  const { signature, before, plain } = splitPath(path);
  if (unsigned.has(signature)) return null;
  const start = before === '' ? '' : `/${before}`;
  const text = plain === undefined ? start : `${start}/plain/${withSlashes(plain)}`;
  return {
    text: signature,
    expected: ({ secret, salt = '' }) => [imgproxySignature(secret, salt, text)],
  };
}

/** The URLs of imgproxy 4, without its Pro options. */
export const imgproxy: UrlDialect = { title: 'imgproxy', translate, readSignature };
