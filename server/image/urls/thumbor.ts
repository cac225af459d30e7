import { createHmac } from 'node:crypto';
import { ServiceError } from '../../../contract/errors.ts';
import { canonicalHost, hostMatches } from '../../../contract/hosts.ts';
import type { Size } from '../../../pool/geometry.ts';
import { parseQuery } from '../address.ts';
import { type Site, sourceBelow } from '../site.ts';
import { decodeSource, readSource, withBothSlashes } from '../source-url.ts';
import type { ReadUrl, UrlGrammar, UrlSignature } from './grammar.ts';
import { type Meaning, noEquivalent, optionInvalid, requireMetadata } from './meaning.ts';
import { readThumborFilters, type ThumborFilters } from './thumbor-filters.ts';
import { type Parts, setPlace } from './thumbor-place.ts';

const maxFiltersLength = 2_000;

/** A path's optional parts, in order. */
const pathPattern = new RegExp(
  [
    '^/(?<signature>[^/]+)/',
    '(?:(?<debug>debug)/)?',
    '(?:(?<meta>meta)/)?',
    '(?:(?<trim>trim(?::(?:top-left|bottom-right))?(?::\\d+)?)/)?',
    '(?:(?<left>\\d{1,6})x(?<top>\\d{1,6}):(?<right>\\d{1,6})x(?<bottom>\\d{1,6})/)?',
    '(?:(?<adaptive>adaptive-)?(?<full>full-)?(?<fitIn>fit-in)/)?',
    '(?:(?<flop>-)?(?<width>\\d{1,6}|orig)?x(?<flip>-)?(?<height>\\d{1,6}|orig)?/)?',
    '(?:(?<halign>left|right|center)/)?',
    '(?:(?<valign>top|bottom|middle)/)?',
    '(?:(?<smart>smart)/)?',
    '(?<rest>.+)$',
  ].join(''),
  's',
);

function splitPath(path: string) {
  const parts: Parts = pathPattern.exec(path)?.groups ?? {};
  const { rest = '' } = parts;
  // The filters end at the last parenthesis before the first slash that follows a parenthesis.
  const [, filters = '', image = rest] = /^filters:(.+?\))\/(.+)$/s.exec(rest) ?? [];
  if (image === '') {
    throw new ServiceError('source_missing', 'The path must be /signature/options/source.');
  }
  if (filters.length > maxFiltersLength) {
    throw optionInvalid('filters', `have more than ${maxFiltersLength} characters`);
  }
  const decode = (text: string) => decodeSource(text, 'The path');
  return { parts, filters: decode(filters), image: decode(image) };
}

function read(path: string, query: string, site: Site): ReadUrl {
  const { parts, filters: text, image } = splitPath(path);
  for (const name of ['debug', 'meta']) if (parts[name] !== undefined) throw noEquivalent(name);
  const meaningAt = (size: Size) => {
    const filters = readThumborFilters(text);
    const { meaning, metadata } = filters;
    if (metadata !== null) requireMetadata(metadata, site, true);
    meaning.set('dpr', 'dpr', 1);
    setArea(meaning, parts);
    setSize(meaning, parts, filters, size);
    return { filters, parameters: meaning.parameters };
  };
  // Check at once everything that does not depend on the size.
  const { filters, parameters } = meaningAt({ width: 100_000, height: 100_000 });
  const { ignored, focal } = filters;
  const given = {
    source: toSource(image, site),
    ignored: [...parseQuery(query).keys(), ...ignored],
  };
  const bySize = (size: Size) => ({ parameters: meaningAt(size).parameters, headers: [] });
  if (isLimitedBySource(filters, parameters)) return { ...given, parameters: new Map(), bySize };
  if (focal.length === 0 || parameters.get('fit') !== 'cover') return { ...given, parameters };
  if (parameters.has('trim')) throw optionInvalid('focal', 'with trim has no equivalent here');
  return { ...given, parameters: new Map(), bySize };
}

/** Returns whether a text starts with a host on the project's allowlist; other texts are paths. */
function beginsWithHost(text: string, { project }: Site): boolean {
  const [name = ''] = text.split(/[/:]/, 1);
  const host = name.includes('.') ? canonicalHost(name) : null;
  return host !== null && hostMatches(project.allowedOrigins, host);
}

/**
 * Returns the source. Without a scheme it uses `http`, like thumbor's loader, unless the host's own
 * base has the same host.
 */
function toSource(image: string, site: Site): URL {
  const written = withBothSlashes(image);
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(written)) return readSource(written);
  const path = written.replace(/^\/+/, '');
  if (!beginsWithHost(path, site)) return sourceBelow(site, `/${path}`);
  const source = readSource(`http://${path}`);
  const base = new URL(site.host.base ?? site.project.origin);
  return base.host === source.host ? new URL(source.href.replace(/^http:/, base.protocol)) : source;
}

function setArea(meaning: Meaning, { trim, left, top, right, bottom }: Parts): void {
  const [from, up, to, down] = [left, top, right, bottom].map(Number) as [
    number,
    number,
    number,
    number,
  ];
  // thumbor ignores an empty crop.
  const isCropped = to > from && down > up;
  if (trim !== undefined) {
    const [, ...words] = trim.split(':');
    if (isCropped) throw optionInvalid('trim', 'with a crop has no equivalent here');
    if (words.some((word) => word !== 'top-left' && Number(word) !== 0)) {
      throw optionInvalid('trim', 'with bottom-right or a tolerance has no equivalent here');
    }
    // Colours differ by at least 1, so 0.1 acts like 0.
    meaning.set('trim', 'trim', 0.1);
  }
  if (isCropped) meaning.set('crop', 'crop', [from, up, to - from, down - up].join(','));
}

function parseSide(name: string, text = '0'): number {
  if (text === 'orig') throw optionInvalid(name, 'must be a number, or orig for both sides');
  return Number(text);
}

/** `no_upscale` compares the sides with the source before the crop and the trim, which are then scaled up to them. */
const isLimitedBySource = (
  { noUpscale }: ThumborFilters,
  parameters: ReadonlyMap<string, string>,
): boolean => noUpscale && (parameters.has('crop') || parameters.has('trim'));

function setSize(meaning: Meaning, parts: Parts, filters: ThumborFilters, size: Size): void {
  const { fitIn, adaptive, full } = parts;
  const isOriginal = parts['width'] === 'orig' && parts['height'] === 'orig';
  const isLimited = isLimitedBySource(filters, meaning.parameters);
  const limit = isLimited ? size : { width: Infinity, height: Infinity };
  const width = isOriginal ? 0 : Math.min(parseSide('width', parts['width']), limit.width);
  const height = isOriginal ? 0 : Math.min(parseSide('height', parts['height']), limit.height);
  const [flop, flip] = [parts['flop'] !== undefined, parts['flip'] !== undefined];
  const { rotation, fill } = filters;
  const hasBox = width > 0 && height > 0;
  if (adaptive !== undefined && width !== height) throw noEquivalent('adaptive-fit-in');

  // thumbor rotates the finished image; this service rotates the source.
  const [across, down] = rotation % 180 === 0 ? [width, height] : [height, width];
  if (across > 0) meaning.set(rotation % 180 === 0 ? 'width' : 'height', 'w', across);
  if (down > 0) meaning.set(rotation % 180 === 0 ? 'height' : 'width', 'h', down);
  if (flop) meaning.set('flip', 'flop', true);
  if (flip) meaning.set('flip', 'flip', true);
  if (rotation !== 0) meaning.set('rotate', 'rotate', 360 - rotation);
  if (width === 0 && height === 0) return;

  const isInside = fitIn !== undefined && full === undefined;
  const noUpscale = filters.noUpscale && !isLimited;
  const isEnlarged = isInside ? filters.upscale && hasBox : true;
  if (isEnlarged && !noUpscale) meaning.set('upscale', 'enlarge', true);
  if (isInside && fill !== null) {
    if (filters.noUpscale) throw optionInvalid('no_upscale', 'with fill has no equivalent here');
    if (!isEnlarged) meaning.set('fill', 'enlarge', 'box');
    return meaning.set('fill', 'fit', 'contain');
  }
  if (!hasBox) return;
  if (fitIn !== undefined) {
    return meaning.set('fit-in', 'fit', full === undefined ? 'inside' : 'outside');
  }
  // Each side is shortened to that of the source.
  if (noUpscale) meaning.set('no_upscale', 'enlarge', 'box');
  if (filters.stretch) return meaning.set('stretch', 'fit', 'fill');
  meaning.set('width', 'fit', 'cover');
  setPlace(meaning, parts, filters, { flop, flip }, size);
}

/** base64url HMAC-SHA1 with padding. */
export const thumborSignature = (key: string, text: string): string =>
  createHmac('sha1', key).update(text).digest('base64').replaceAll('+', '-').replaceAll('/', '_');

function readSignature(path: string): UrlSignature | null {
  const [, signature = '', text = ''] = /^\/([^/]*)\/(.*)$/s.exec(path) ?? [];
  if (signature === 'unsafe') return null;
  // Clients and proxies can encode the padding.
  const given = signature.replaceAll(/%3D/gi, '=');
  return { text: given, expected: ({ secret }) => [thumborSignature(secret, text)] };
}

/** The URLs of thumbor 7. */
export const thumbor: UrlGrammar = {
  title: 'thumbor',
  read,
  readSignature,
  examples: [
    {
      url: '/unsafe/300x0/a.jpg',
      native: 'dpr=1&enlarge=1&w=300',
      meaning: "A path below the host's `base`. thumbor scales up.",
      size: '300 × 188',
    },
    {
      url: '/unsafe/300x200/https://shop.example/a.jpg',
      native: 'dpr=1&enlarge=1&fit=cover&h=200&w=300',
      meaning: 'A source on an allowed host, with or without `https://`.',
      size: '300 × 200',
    },
    {
      url: '/unsafe/300x200/left/top/a.jpg',
      native: 'dpr=1&enlarge=1&fit=cover&h=200&pos=northwest&w=300',
      meaning: 'Alignment.',
      size: '300 × 200',
    },
    {
      url: '/unsafe/300x200/smart/a.jpg',
      native: 'dpr=1&enlarge=1&fit=cover&h=200&pos=attention&w=300',
      meaning: 'The most interesting part, by colours and details.',
      size: '300 × 200',
    },
    {
      url: '/unsafe/300x200/filters:focal(1100x280:1140x320)/a.jpg',
      native: 'dpr=1&enlarge=1&fit=cover&fp=0.7,0.3&h=200&w=300',
      meaning: 'A focal point, in source pixels.',
      size: '300 × 200',
    },
    {
      url: '/unsafe/2000x500/filters:no_upscale()/a.jpg',
      native: 'dpr=1&enlarge=box&fit=cover&h=500&w=2000',
      meaning: 'Cut to the box; no side exceeds the source side.',
      size: '1600 × 500',
    },
    {
      url: '/unsafe/fit-in/2000x2000/filters:upscale()/a.jpg',
      native: 'dpr=1&enlarge=1&fit=inside&h=2000&w=2000',
      meaning: 'Within the box; scaled up only with `upscale`.',
      size: '2000 × 1250',
    },
    {
      url: '/unsafe/fit-in/300x300/filters:fill(white)/a.jpg',
      native: 'bg=white&dpr=1&enlarge=box&fit=contain&h=300&w=300',
      meaning: 'Padded.',
      size: '300 × 300',
    },
    {
      url: '/unsafe/full-fit-in/300x300/a.jpg',
      native: 'dpr=1&enlarge=1&fit=outside&h=300&w=300',
      meaning: 'Around the box.',
      size: '480 × 300',
    },
    {
      url: '/unsafe/300x300/filters:stretch()/a.jpg',
      native: 'dpr=1&enlarge=1&fit=fill&h=300&w=300',
      meaning: 'Distorted.',
      size: '300 × 300',
    },
    {
      url: '/unsafe/100x80:500x380/200x0/a.jpg',
      native: 'crop=100,80,400,300&dpr=1&enlarge=1&w=200',
      meaning: 'A manual crop: left, top, right and bottom.',
      size: '200 × 150',
    },
    {
      url: '/unsafe/-300x200/left/a.jpg',
      native: 'dpr=1&enlarge=1&fit=cover&flop=1&h=200&pos=east&w=300',
      meaning: 'The left part, then mirrored.',
      size: '300 × 200',
    },
    {
      url: '/unsafe/300x200/filters:rotate(90)/a.jpg',
      native: 'dpr=1&enlarge=1&fit=cover&h=300&rotate=270&w=200',
      meaning: 'Rotated counterclockwise after the resize.',
      size: '200 × 300',
    },
    {
      url: '/unsafe/300x0/filters:grayscale():blur(10,3)/a.jpg',
      native: 'blur=2.9912&dpr=1&enlarge=1&grayscale=1&w=300',
      meaning: "The deviation of thumbor's kernel, which ends at the radius.",
      size: '300 × 188',
    },
    {
      url: '/unsafe/trim/300x0/filters:format(webp):quality(60):max_bytes(9000)/a.jpg',
      native: 'dpr=1&enlarge=1&fmt=webp&maxbytes=9000&q=60&trim=0.1&w=300',
      meaning: 'Borders cut off; format, quality and maximum bytes.',
      size: '300 × 188',
    },
  ],
  notes: [
    'A source without a scheme is a path below `base`, unless it starts with an allowed host. It is then `http://`, or has the scheme of `base` on that host.',
    "Without `format`, the project's `autoFormat` decides, like `AUTO_WEBP` and `AUTO_AVIF`; without `quality`, its `defaultQuality`. Images are upright, as with `RESPECT_ORIENTATION`.",
    '`smart` follows colours and details, not detectors. `grayscale()` and `saturation()` weigh the channels differently.',
    'A manual crop beyond the image returns 400; thumbor ignores it.',
    '`strip_exif()` and `strip_icc()` need a project with `stripMetadata`.',
    '`x-image-warnings` lists ignored queries and filters that thumbor does not have.',
    'Unsupported (400): `meta`, `debug`; `adaptive-fit-in` unless the box is a square; `orig` for one side; `trim` with `bottom-right` or a tolerance; `focal` with `smart` or `trim`; `fill` with `auto` or `blur`, or with `no_upscale` in `fit-in`; and `brightness`, `contrast`, `sharpen`, `rgb`, `colorize`, `noise`, `round_corner`, `watermark`, `text`, `frame`, `convolution`, `curve`, `equalize`, `proportion`, `cover`, `autojpg`, `max_age` and `extract_focal`.',
  ],
};
