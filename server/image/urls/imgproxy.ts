import { createHmac } from 'node:crypto';
import { ServiceError } from '../../../contract/errors.ts';
import type { Size } from '../../../pool/geometry.ts';
import { parseQuery } from '../address.ts';
import { type Site, sourceBelow } from '../site.ts';
import { decodeSource, maxSourceLength, readSource } from '../source-url.ts';
import type { ReadUrl, UrlGrammar, UrlSignature } from './grammar.ts';
import { cropNeedsSize, toCrop } from './imgproxy-crop.ts';
import { requirePresetFirst, toMeaning } from './imgproxy-meaning.ts';
import { formatName, readImgproxyOptions } from './imgproxy-options.ts';
import { noEquivalent, optionInvalid } from './meaning.ts';

const sourceInvalid = (message: string) => new ServiceError('source_invalid', message);

/** Limits a URL's options; the request head limits the path. */
const maxOptions = 60;
const maxOptionLength = 400;

/** Splits a path into signature, options and source. @throws ServiceError source_missing */
function splitPath(path: string) {
  const [, signature = '', rest = ''] = /^\/([^/]*)\/(.*)$/s.exec(path) ?? [];
  if (signature === '' || rest === '') {
    throw new ServiceError('source_missing', 'The path must be /signature/options/source.');
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

function read(path: string, query: string, site: Site): ReadUrl {
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
  const source = /^[a-z][a-z0-9+.-]*:\/\//i.test(url)
    ? readSource(url)
    : sourceBelow(site, url.startsWith('/') ? url : `/${url}`);
  const given = { source, ignored: [...parseQuery(query).keys()] };
  requirePresetFirst(options, source, site);
  const meaningAt = (size: Size) =>
    toMeaning({ ...options, crop: toCrop(options, size) }, source, site).parameters;
  if (!cropNeedsSize(options)) {
    return { ...given, parameters: toMeaning(options, source, site).parameters };
  }
  // Check at once everything that does not depend on the size.
  const parameters = [...meaningAt({ width: 100_000, height: 100_000 })];
  return {
    ...given,
    parameters: new Map(parameters.filter(([name]) => name === 'exp' || name === 'v')),
    bySize: (size) => ({ parameters: meaningAt(size), headers: [] }),
  };
}

/** Splits the format from a source. @param text includes the format after the separator */
function splitExtension(text: string, separator: string): [string, string] {
  const [url = '', extension = '', ...others] = text.split(separator, 3);
  if (url === '') throw new ServiceError('source_missing', 'The source URL is missing.');
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
  if (text === '' || text.length > 2 * maxSourceLength || text.length % 4 === 1) {
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
export const imgproxy: UrlGrammar = {
  title: 'imgproxy',
  read,
  readSignature,
  examples: [
    {
      url: '/unsafe/w:300/plain/a.jpg',
      native: 'dpr=1&w=300',
      meaning: "A path below the host's `base`.",
      size: '300 × 188',
    },
    {
      url: '/unsafe/rs:fit:300:300/plain/https://shop.example/a.jpg',
      native: 'dpr=1&fit=inside&h=300&w=300',
      meaning: 'A source on an allowed host.',
      size: '300 × 188',
    },
    {
      url: '/unsafe/w:300/YS5/qcGc.webp',
      native: 'dpr=1&fmt=webp&w=300',
      meaning: 'A source in base64url, and a format.',
      size: '300 × 188',
    },
    {
      url: '/unsafe/resize:fill:300:200/gravity:no/plain/a.jpg@png',
      native: 'dpr=1&enlarge=box&fit=cover&fmt=png&h=200&pos=north&w=300',
      meaning: 'Cut to the box; no side exceeds the source side. Full names work too.',
      size: '300 × 200',
    },
    {
      url: '/unsafe/rs:fill:300:200/g:sm/plain/a.jpg',
      native: 'dpr=1&enlarge=box&fit=cover&h=200&pos=attention&w=300',
      meaning: 'Smart gravity.',
      size: '300 × 200',
    },
    {
      url: '/unsafe/rs:fill:300:200/g:fp:0.7:0.3/plain/a.jpg',
      native: 'dpr=1&enlarge=box&fit=cover&fp=0.7,0.3&h=200&w=300',
      meaning: 'A focus point.',
      size: '300 × 200',
    },
    {
      url: '/unsafe/rs:fill-down:2000:500/plain/a.jpg',
      native: 'dpr=1&fit=cover&h=500&w=2000',
      meaning: "Cut to the box's ratio, not scaled up.",
      size: '1600 × 400',
    },
    {
      url: '/unsafe/rs:force:300:300/plain/a.jpg',
      native: 'dpr=1&fit=fill&h=300&w=300',
      meaning: 'Distorted.',
      size: '300 × 300',
    },
    {
      url: '/unsafe/rs:fit:300:300:0:1/bg:fff/plain/a.jpg',
      native: 'bg=fff&dpr=1&enlarge=box&fit=contain&flatten=1&h=300&w=300',
      meaning: 'Extended by background.',
      size: '300 × 300',
    },
    {
      url: '/unsafe/w:2000/ex:1/plain/a.jpg',
      native: 'dpr=1&enlarge=box&fit=contain&w=2000',
      meaning: 'Extended to one side, not scaled up.',
      size: '2000 × 1000',
    },
    {
      url: '/unsafe/rs:fit:2000:2000/exar:1/plain/a.jpg',
      native: 'dpr=1&fit=contain&h=2000&w=2000',
      meaning: "Extended to the box's ratio.",
      size: '1600 × 1600',
    },
    {
      url: '/unsafe/w:2000/el:1/plain/a.jpg',
      native: 'dpr=1&enlarge=1&w=2000',
      meaning: 'Scaled up.',
      size: '2000 × 1250',
    },
    {
      url: '/unsafe/c:400:300:nowe:100:80/w:200/plain/a.jpg',
      native: 'crop=100,80,400,300&dpr=1&w=200',
      meaning: 'A crop, with offsets from the top left.',
      size: '200 × 150',
    },
    {
      url: '/unsafe/c:400:300/w:200/plain/a.jpg',
      native: 'crop=600,350,400,300&dpr=1&w=200',
      meaning: 'A crop from the middle.',
      size: '200 × 150',
    },
    {
      url: '/unsafe/w:300/dpr:2/pd:10:20/plain/a.jpg',
      native: 'dpr=2&enlarge=box&extend=10,20,10,20&fit=inside&w=300',
      meaning: 'Padding, in CSS pixels.',
      size: '680 × 415',
    },
    {
      url: '/unsafe/w:301/z:1.5/plain/a.jpg',
      native: 'dpr=1&w=452',
      meaning: 'Zoom multiplies the sides.',
      size: '452 × 283',
    },
    {
      url: '/unsafe/rot:90/fl:1/w:300/plain/a.jpg',
      native: 'dpr=1&flip=1&rotate=90&w=300',
      meaning: 'Rotated, then mirrored.',
      size: '300 × 480',
    },
    {
      url: '/unsafe/w:300/bl:5/sh:2/q:60/f:webp/mb:9000/plain/a.jpg',
      native: 'blur=5&dpr=1&fmt=webp&maxbytes=9000&q=60&sharpen=2&w=300',
      meaning: 'Equal sigmas; quality, format and maximum bytes.',
      size: '300 × 188',
    },
    {
      url: '/unsafe/w:300/cb:2026-11-22/att:1/plain/a.jpg',
      native: 'download=a&dpr=1&v=2026-11-22&w=300',
      meaning: "A version, and the source's file name.",
      size: '300 × 188',
    },
  ],
  notes: [
    "`pr:card` is the project's preset `card`. It must precede options that the preset also sets.",
    '`unsafe` and `insecure` stand for no signature. Shortened signatures are invalid.',
    '`exp` applies. `sm:1` and `kcr:1` keep the copyright, as imgproxy does by default; `sm:0` and `kcr:0` need a project with the same `stripMetadata`.',
    "Without a format, the project's `autoFormat` decides, like `IMGPROXY_AUTO_WEBP` and `IMGPROXY_AUTO_AVIF`; without a quality, its `defaultQuality`.",
    'A crop from the top left that leaves the image is cut off; imgproxy moves it into the image.',
    'A centred `fill` or `extend` can differ by one pixel. Animations stay animated, and SVGs are drawn.',
    'Queries, which `x-image-warnings` lists, and client hints have no effect.',
    'Unsupported (400): Pro options; `rt:auto`; `force` with one side; resize gravities with offsets; crops by `sm`, or with `trim`, rotation or flips; `min-width` and `min-height`; a `trim` colour; `pixelate`, `watermark`, `raw` and `skip_processing`; `filename` without `att`; `auto_rotate:0`, `preserve_hdr:1` and `enforce_thumbnail:1`; several presets; options of limits; and some combinations of `dpr`, `zoom`, padding, `extend` and resizing types.',
  ],
};
