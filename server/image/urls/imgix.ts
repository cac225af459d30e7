import { createHash } from 'node:crypto';
import { type Site, sourceBelow } from '../site.ts';
import { decodeSource, readSource, withBothSlashes } from '../source-url.ts';
import type { ReadUrl, UrlGrammar, UrlSignature } from './grammar.ts';
import { ImgixQuery } from './imgix-query.ts';
import { setImgixSize } from './imgix-size.ts';
import { Meaning, noEquivalent, optionInvalid, readExpiry, readInteger } from './meaning.ts';

function read(path: string, query: string, site: Site): ReadUrl {
  const source = readImgixSource(path, site);
  const options = new ImgixQuery(query);
  const meaning = new Meaning();
  setImgixSize(meaning, options);
  setFormat(meaning, options);
  setColours(meaning, options);
  setOthers(meaning, options);
  const parameters = new Map<string, string>(meaning.parameters);
  const expires = options.take('expires');
  if (expires !== undefined) {
    parameters.set('exp', readExpiry('expires', expires));
  }
  return { source, parameters, ignored: options.ignored() };
}

/** Reads a path below the host's base, or the encoded URL of a web proxy source. */
function readImgixSource(path: string, site: Site): URL {
  if (!/^\/https?(?::|%3a)/i.test(path)) return sourceBelow(site, path);
  return readSource(withBothSlashes(decodeSource(path.slice(1))));
}

const formats: Readonly<Record<string, string>> = {
  jpg: 'jpeg',
  pjpg: 'jpeg',
  png: 'png',
  png32: 'png',
  webp: 'webp',
  avif: 'avif',
  gif: 'gif',
};

function setFormat(meaning: Meaning, options: ImgixQuery): void {
  const auto = new Set(options.take('auto')?.split(','));
  for (const word of auto) {
    if (word !== 'format' && word !== 'compress') throw noEquivalent(`auto=${word}`);
  }
  const fm = options.take('fm');
  if (fm !== undefined) {
    const format = Object.hasOwn(formats, fm) ? formats[fm] : undefined;
    if (format === undefined) throw noEquivalent(`fm=${fm}`);
    if (auto.size > 0) throw optionInvalid('fm', 'with auto has no equivalent here');
    meaning.set('fm', 'fmt', format);
  }
  if (auto.has('format')) meaning.set('auto', 'fmt', 'auto');
  else if (auto.has('compress')) throw noEquivalent('auto=compress without format');

  const q = options.take('q');
  // imgix qualities start at 0.
  if (q !== undefined) meaning.set('q', 'q', Math.max(1, readInteger('q', q, 0, 100)));
  else if (auto.has('compress')) meaning.set('auto', 'q', 45);

  // This flag changes no pixel.
  options.takeFlag('jpg-progressive');
  // Other formats ignore `lossless`.
  if (fm === 'webp' && options.takeFlag('lossless')) meaning.set('lossless', 'lossless', true);
}

function setColours(meaning: Meaning, options: ImgixQuery): void {
  if (options.takeFlag('invert')) meaning.set('invert', 'negate', true);
  const sat = options.take('sat') ?? '0';
  if (sat === '-100') meaning.set('sat', 'grayscale', true);
  else if (Number(sat) !== 0) throw optionInvalid('sat', 'has no equivalent here except -100');
  const space = options.take('cs') ?? 'srgb';
  if (space === 'origin') meaning.set('cs', 'icc', 'keep');
  else if (space !== 'srgb' && space !== 'tinysrgb') throw noEquivalent(`cs=${space}`);
  const subsampling = options.take('chromasub') ?? '420';
  if (subsampling !== '420') throw noEquivalent(`chromasub=${subsampling}`);
}

function setOthers(meaning: Meaning, options: ImgixQuery): void {
  const page = options.take('page');
  const frame = options.take('frame');
  if (page !== undefined && frame !== undefined) throw optionInvalid('page', 'excludes frame');
  const name = page === undefined ? 'frame' : 'page';
  const text = page ?? frame;
  if (text !== undefined) meaning.set(name, 'page', readInteger(name, text, 1, 100_000) - 1);
  const file = options.take('dl');
  // The output format determines the extension.
  if (file !== undefined) meaning.set('dl', 'download', file.replace(/\.[A-Za-z0-9]{1,5}$/, ''));
}

/** Returns the signature of the secret, the path and the preceding query, in hexadecimal digits. */
export function imgixSignature(secret: string, path: string, query: string): string {
  const text = `${secret}${path}${query === '' ? '' : `?${query}`}`;
  return createHash('md5').update(text).digest('hex');
}

function readSignature(path: string, query: string): UrlSignature | null {
  const pairs = query.split('&');
  const signature = pairs.find((pair) => pair === 's' || pair.startsWith('s='));
  if (signature === undefined) return null;
  const signed = pairs.filter((pair) => pair !== signature).join('&');
  return {
    text: signature.slice(2),
    expected: ({ secret }) => [imgixSignature(secret, path, signed)],
  };
}

/** The URLs of imgix's Rendering API. */
export const imgix: UrlGrammar = {
  title: 'imgix',
  read,
  readSignature,
  examples: [
    {
      url: '/a.jpg?w=300',
      native: 'dpr=1&enlarge=1&w=300',
      meaning: "A path below the host's `base`. imgix scales up.",
      size: '300 × 188',
    },
    {
      url: '/https%3A%2F%2Fshop.example%2Fa.jpg?w=300',
      native: 'dpr=1&enlarge=1&w=300',
      meaning: 'A web proxy source, on an allowed host.',
      size: '300 × 188',
    },
    {
      url: '/a.jpg?w=300&h=300',
      native: 'dpr=1&enlarge=1&fit=inside&h=300&w=300',
      meaning: 'Within the box: `fit=clip`.',
      size: '300 × 188',
    },
    {
      url: '/a.jpg?w=2000&h=2000&fit=max',
      native: 'dpr=1&fit=inside&h=2000&w=2000',
      meaning: 'Within the box, not scaled up.',
      size: '1600 × 1000',
    },
    {
      url: '/a.jpg?w=300&h=200&fit=crop&crop=top,left',
      native: 'dpr=1&enlarge=1&fit=cover&h=200&pos=northwest&w=300',
      meaning: 'Cut to the box; to the middle without `crop`.',
      size: '300 × 200',
    },
    {
      url: '/a.jpg?w=300&h=200&fit=crop&crop=focalpoint&fp-x=0.7&fp-y=0.3',
      native: 'dpr=1&enlarge=1&fit=cover&fp=0.7,0.3&h=200&w=300',
      meaning: 'Around a focal point.',
      size: '300 × 200',
    },
    {
      url: '/a.jpg?w=300&h=200&fit=crop&crop=entropy',
      native: 'dpr=1&enlarge=1&fit=cover&h=200&pos=entropy&w=300',
      meaning: 'The most detailed part.',
      size: '300 × 200',
    },
    {
      url: '/a.jpg?w=300&ar=16:9&fit=crop',
      native: 'ar=16:9&dpr=1&enlarge=1&fit=cover&w=300',
      meaning: 'A ratio, with `w`, `h` or neither.',
      size: '300 × 169',
    },
    {
      url: '/a.jpg?w=2000&h=1000&fit=min',
      native: 'dpr=1&fit=cover&h=1000&w=2000',
      meaning: "Cut to the box's ratio, not scaled up.",
      size: '1600 × 800',
    },
    {
      url: '/a.jpg?w=2000&h=2000&fit=fillmax',
      native: 'dpr=1&enlarge=box&fit=contain&h=2000&w=2000',
      meaning: 'Padded, not scaled up.',
      size: '2000 × 2000',
    },
    {
      url: '/a.jpg?w=300&h=300&fit=fill&fill=solid&fill-color=fff',
      native: 'bg=fff&dpr=1&enlarge=1&fit=contain&h=300&w=300',
      meaning: 'Padded.',
      size: '300 × 300',
    },
    {
      url: '/a.jpg?w=300&h=300&fit=scale',
      native: 'dpr=1&enlarge=1&fit=fill&h=300&w=300',
      meaning: 'Distorted.',
      size: '300 × 300',
    },
    {
      url: '/a.jpg?rect=100,80,400,300&w=200',
      native: 'crop=100,80,400,300&dpr=1&enlarge=1&w=200',
      meaning: 'A part of the source, in its pixels.',
      size: '200 × 150',
    },
    {
      url: '/a.jpg?w=300&dpr=5',
      native: 'dpr=1&enlarge=1&w=1500',
      meaning: 'A ratio outside 1 to 3 multiplies the sides.',
      size: '1500 × 938',
    },
    {
      url: '/a.jpg?w=300&auto=format,compress',
      native: 'dpr=1&enlarge=1&fmt=auto&q=45&w=300',
      meaning: "The client's best format, at imgix's documented quality for `compress`.",
      size: '300 × 188',
    },
    {
      url: '/a.jpg?w=300&dpr=2&fm=webp&lossless=1&q=60',
      native: 'dpr=2&enlarge=1&fmt=webp&lossless=1&q=60&w=300',
      meaning: 'Device pixels, format and quality.',
      size: '600 × 375',
    },
    {
      url: '/a.jpg?w=300&flip=h&sat=-100&bg=f00&dl=photo.jpg',
      native: 'bg=f00&download=photo&dpr=1&enlarge=1&flatten=1&flop=1&grayscale=1&w=300',
      meaning: 'Mirrored, grey, on a background, saved under a name.',
      size: '300 × 188',
    },
  ],
  notes: [
    'The signature `s` can stand anywhere in the query. After `expires`, the URL returns 403; imgix sends 404.',
    'Names with the suffix `64`, such as `dl64`, take base64url values.',
    '`bg` must be opaque, and with `fit=fill` needs `fill-color`. Hexadecimal colours with 4 or 8 digits start with alpha.',
    'JPEGs are not progressive, and client hints do not change the size.',
    'Parameters that imgix ignores, such as `ar` without `fit=crop` or unknown names, are listed in `x-image-warnings`.',
    'Unsupported (400): faces; `crop=edges` and `crop=auto`; `fit=facearea` and `clamp`; `fit=fillmax` with a single side; fractions of the source in `w`, `h` and `rect`; `fp-z`; `ar` with both sides; `fm` with `auto`; `max-w` and similar; `orient`, `rot` and `trim`; borders, masks, padding, blends, watermarks and texts; blur, sharpening, and colour adjustments except `sat=-100` and `invert`.',
  ],
};
