import { createHash } from 'node:crypto';
import { type Site, sourceBelow } from '../site.ts';
import { decodeSource, readSource, withBothSlashes } from '../source-url.ts';
import type { ReadUrl, UrlGrammar, UrlSignature } from './grammar.ts';
import { imgixExamples, imgixNotes } from './imgix-examples.ts';
import { ImgixQuery } from './imgix-query.ts';
import { setImgixSize } from './imgix-size.ts';
import { Meaning, noEquivalent, optionInvalid, readInteger } from './meaning.ts';

/** The URLs of imgix's Rendering API. */
export const imgix: UrlGrammar = {
  title: 'imgix',
  read,
  readSignature,
  examples: imgixExamples,
  notes: imgixNotes,
};

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
    parameters.set('exp', String(readInteger('expires', expires, 0)));
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
