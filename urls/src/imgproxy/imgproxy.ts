import { createHmac } from 'node:crypto';
import {
  decodeSource,
  isAbsolute,
  parseQuery,
  percentDecode,
  readPathname,
  requireMetadata,
} from '../read.ts';
import {
  NativeQuery,
  noEquivalent,
  optionInvalid,
  type Size,
  type Source,
  sourceInvalid,
  sourceMissing,
  type Translation,
  type UrlDialect,
  type UrlHost,
  type UrlSignature,
  veryLarge,
} from '../translation.ts';
import {
  type Crop,
  formatName,
  type ImgproxyOptions,
  type Placement,
  readImgproxyOptions,
} from './options.ts';

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
    resolve: (size) => ({ kind: 'image', query: queryForSize(size) }),
  };
}

/**
 * Requires the preset to come first: in imgproxy a preset replaces the options before it, and here
 * the URL always replaces the preset.
 */
function requirePresetFirst(options: ImgproxyOptions, source: Source, host: UrlHost): void {
  const { preset, beforePreset } = options;
  if (preset === null || beforePreset === undefined) return;
  const replaced = Object.keys(host.presets[preset] ?? {});
  const before = translateOptions(beforePreset, source, host);
  before.delete('preset');
  const both = replaced.find((name) => before.has(name));
  if (both !== undefined) {
    throw optionInvalid('preset', `must precede the options that it replaces, such as ${both}`);
  }
}

function translateOptions(options: ImgproxyOptions, source: Source, host: UrlHost): NativeQuery {
  const native = new NativeQuery();
  if (options.preset !== null) native.set('preset', 'preset', options.preset);
  setSize(native, options, host);
  setCrop(native, options);
  setTurn(native, options);
  setColours(native, options);
  setOutput(native, options, source);
  setMetadata(native, options, host);
  return native;
}

const fits: Readonly<Record<string, string>> = {
  fit: 'inside',
  fill: 'cover',
  'fill-down': 'cover',
  force: 'fill',
};

function setSize(native: NativeQuery, options: ImgproxyOptions, host: UrlHost): void {
  const { width, height, preset, resizingType, enlarge, gravity } = options;
  const type = resizingType ?? 'fit';
  const hasBox = width > 0 && height > 0;
  if (type === 'force' && !hasBox && (width > 0 || height > 0) && preset === null) {
    throw optionInvalid('resizing_type', 'force needs a width and a height here');
  }
  const isExtended = setExtend(native, options, type);
  if (hasBox || (preset !== null && resizingType !== null)) {
    const isNamed = preset === null || resizingType !== null;
    if (isNamed && !isExtended) native.set('resizing_type', 'fit', fits[type] ?? '');
  }
  if ((hasBox && fits[type] === 'cover') || preset !== null) setGravity(native, gravity);
  const isBoxKept = enlarge !== true && keepsBox(native, options, type);
  const presetEnlarge = preset === null ? undefined : host.presets[preset]?.['enlarge'];
  if (enlarge === true) native.set('enlarge', 'enlarge', true);
  else if (isBoxKept && (enlarge === false || presetEnlarge === undefined)) {
    native.set('resizing_type', 'enlarge', 'box');
  } else if (enlarge === false && preset !== null) native.set('enlarge', 'enlarge', false);
  setScaledSides(native, options, isBoxKept);
}

/**
 * Returns whether the result for a smaller image depends on the box: `fill` and `extend` keep its
 * sides, and padding is scaled by the `dpr` that the image has pixels for.
 */
function keepsBox(native: NativeQuery, options: ImgproxyOptions, type: string): boolean {
  const { width, height, padding, extend, dpr } = options;
  const hasBox = width > 0 && height > 0;
  const fit = native.get('fit');
  const isContained = fit === 'contain';
  if (isContained ? extend : type === 'fill' && hasBox) return true;
  const isPadded = padding.some((edge) => edge > 0) && (width > 0 || height > 0);
  if (!isPadded || (dpr ?? 1) === 1) return false;
  if (fit !== undefined && fit !== 'inside') {
    throw optionInvalid('padding', 'with dpr needs enlarge, or the resizing type fit or fill');
  }
  if (!hasBox) native.set('padding', 'fit', 'inside');
  return true;
}

/** Sets the sides and the padding in device pixels, using `dpr` if it has the same effect. */
function setScaledSides(native: NativeQuery, options: ImgproxyOptions, isBoxKept: boolean): void {
  const { width, height, preset, padding, resizingType } = options;
  const [across, down] = options.zoom;
  const isZoomed = across !== 1 || down !== 1;
  const hasSize = width > 0 || height > 0;
  if (isZoomed && (!hasSize || preset !== null || (across !== down && resizingType !== 'force'))) {
    throw optionInvalid('zoom', 'needs a width or a height, and two values need force');
  }
  // Without a size, images are not enlarged, and `dpr` does not scale padding.
  const isKept = !hasSize && preset === null && (options.dpr ?? 1) >= 1 && options.enlarge !== true;
  const dpr = isKept ? 1 : options.dpr;
  const ratio = dpr ?? 1;
  if (!hasSize && preset === null && ratio !== 1) {
    throw optionInvalid('dpr', 'needs a width or a height here');
  }
  const sides = { w: width * across, h: height * down };
  const isWhole = Number.isInteger(sides.w) && Number.isInteger(sides.h);
  const isPlain = isWhole && ratio >= 1 && ratio <= 3;
  if (!isPlain && preset !== null) throw optionInvalid('dpr', 'must be from 1 to 3 with a preset');
  if (!isPlain && isBoxKept && ratio !== 1) {
    throw optionInvalid(
      'dpr',
      'must be from 1 to 3 with fill, extend or padding, or needs enlarge',
    );
  }
  const factor = isPlain ? 1 : ratio;
  for (const [name, option] of [
    ['w', 'width'],
    ['h', 'height'],
  ] as const) {
    if (sides[name] > 0) native.set(option, name, Math.max(1, Math.round(sides[name] * factor)));
  }
  if (dpr !== null || preset === null) native.set('dpr', 'dpr', isPlain ? ratio : 1);
  if (padding.some((edge) => edge > 0)) {
    native.set('padding', 'extend', padding.map((edge) => Math.round(edge * factor)).join(','));
  }
}

/** Returns whether background extends the image to the box, or to its ratio. */
function setExtend(native: NativeQuery, options: ImgproxyOptions, type: string): boolean {
  const { extend, extendRatio, enlarge, width, height } = options;
  const option = extend ? 'extend' : 'extend_aspect_ratio';
  if (!extend && !extendRatio) return false;
  if (options.preset !== null) throw optionInvalid(option, 'with a preset has no equivalent here');
  const isOneSided = width === 0 || height === 0;
  // The missing side follows from the image, so only a smaller image needs background.
  if (isOneSided && (!extend || enlarge === true || width === height)) return false;
  if (type !== 'fit' && !isOneSided) {
    // An enlarged image fills the box.
    if (enlarge === true) return false;
    throw optionInvalid(option, 'needs the resizing type fit, or enlarge');
  }
  native.set(option, 'fit', 'contain');
  const gravity = extend ? options.extendGravity : options.extendRatioGravity;
  if (gravity?.type === 'smart' || gravity?.type === 'point') throw noEquivalent(option);
  setGravity(native, gravity, option);
  return true;
}

function setGravity(native: NativeQuery, gravity: Placement | null, option = 'gravity'): void {
  if (gravity === null) return;
  const { type, x, y } = gravity;
  if (type === 'point') return native.set(option, 'fp', `${x},${y}`);
  if (x !== 0 || y !== 0) throw optionInvalid(option, 'with offsets has no equivalent here');
  native.set(option, 'pos', type === 'smart' ? 'attention' : type);
}

/** A side's whole length: the crop ends at the image's edge. */
const wholeSide = 100_000;

/** Sets a crop from the left and the top. `toCrop` converts other crops to this form. */
function setCrop(native: NativeQuery, options: ImgproxyOptions): void {
  const { crop, trim, rotate, flipHorizontal, flipVertical } = options;
  if (crop === null || (crop.width === 0 && crop.height === 0)) return;
  if (trim !== null) throw optionInvalid('crop', 'with trim has no equivalent here');
  if (rotate !== 0 || flipHorizontal || flipVertical) {
    throw optionInvalid('crop', 'of a rotated or flipped picture has no equivalent here');
  }
  const { x, y } = crop.gravity ?? options.gravity ?? { x: 0, y: 0 };
  const along = (length: number, offset: number) =>
    length === 0
      ? { start: 0, length: wholeSide }
      : { start: Math.max(0, Math.round(offset)), length: Math.floor(length) };
  const across = along(crop.width, x);
  const down = along(crop.height, y);
  native.set('crop', 'crop', [across.start, down.start, across.length, down.length].join(','));
}

function setTurn(native: NativeQuery, options: ImgproxyOptions): void {
  const { rotate, flipHorizontal, flipVertical, trim } = options;
  // Colours differ by at least 1, so 0.1 acts like 0.
  if (trim !== null) native.set('trim', 'trim', trim === 0 ? 0.1 : trim === 1 ? '1.0001' : trim);
  if (rotate !== 0) native.set('rotate', 'rotate', rotate);
  // imgproxy rotates before it flips.
  const isSideways = rotate % 180 !== 0;
  const [flop, flip] = isSideways ? [flipVertical, flipHorizontal] : [flipHorizontal, flipVertical];
  if (flop) native.set('flip', 'flop', true);
  if (flip) native.set('flip', 'flip', true);
}

function setColours(native: NativeQuery, { background, blur, sharpen }: ImgproxyOptions): void {
  if (background !== null) {
    native.set('background', 'bg', background);
    native.set('background', 'flatten', true);
  }
  // The parameter reads 0 and 1 as flags, 1 for a sigma of 1.
  if (blur > 0) native.set('blur', 'blur', blur);
  if (sharpen > 0) native.set('sharpen', 'sharpen', sharpen);
}

function setOutput(native: NativeQuery, options: ImgproxyOptions, source: Source): void {
  const { format, quality, formatQuality, maxBytes, profile } = options;
  if (format !== null) native.set('format', 'fmt', format);
  if (quality > 0) native.set('quality', 'q', quality);
  else if (formatQuality.size > 0) {
    if (format === null) throw optionInvalid('format_quality', 'needs a format here');
    const ofFormat = formatQuality.get(format) ?? 0;
    if (ofFormat > 0) native.set('format_quality', 'q', ofFormat);
  }
  if (maxBytes > 0) native.set('max_bytes', 'maxbytes', maxBytes);
  if (profile) native.set('strip_color_profile', 'icc', 'keep');
  if (options.version !== null) native.set('cachebuster', 'v', options.version);
  if (options.expires > 0) native.set('expires', 'exp', options.expires);
  const { attachment, fileName } = options;
  if (attachment) native.set('filename', 'download', fileName ?? toName(source));
  else if (fileName !== null) throw optionInvalid('filename', 'needs return_attachment here');
}

/** Unless told otherwise, imgproxy keeps the copyright when it removes metadata. */
function setMetadata(native: NativeQuery, options: ImgproxyOptions, host: UrlHost): void {
  const { stripMetadata, keepCopyright } = options;
  if (stripMetadata === false) requireMetadata('strip_metadata', host, false);
  else if (keepCopyright === false) requireMetadata('keep_copyright', host, true);
  else if (stripMetadata === true || keepCopyright === true) {
    native.set('strip_metadata', 'keep', 'copyright');
  }
}

/** Returns a source's name, excluding its extension. */
function toName(source: Source): string {
  const [, name = ''] = /([^/]*?)(?:\.[^./]*)?$/.exec(readPathname(source)) ?? [];
  return percentDecode(name)?.slice(0, 200) || 'image';
}

const centre: Placement = { type: 'center', x: 0, y: 0 };

const effectiveGravity = ({ crop, gravity }: ImgproxyOptions): Placement =>
  crop?.gravity ?? gravity ?? centre;

/** Returns whether the crop's area depends on the source size. */
function cropNeedsSize(options: ImgproxyOptions): boolean {
  const { crop } = options;
  if (crop === null) return false;
  const { type, x, y } = effectiveGravity(options);
  const isFixed = (length: number, offset: number, isStart: boolean) =>
    length === 0 || (length >= 1 && isStart && (offset <= 0 || offset >= 1));
  return !(
    isFixed(crop.width, x, ['west', 'northwest', 'southwest'].includes(type)) &&
    isFixed(crop.height, y, ['north', 'northwest', 'northeast'].includes(type))
  );
}

/**
 * Returns the crop in pixels from the top left of a source, as imgproxy places it.
 * @throws UrlError parameter_invalid for smart gravity
 */
function toCrop(options: ImgproxyOptions, { width, height }: Size): Crop | null {
  const { crop } = options;
  if (crop === null) return null;
  const { type, x, y } = effectiveGravity(options);
  if (type === 'smart') throw optionInvalid('crop', 'with smart gravity has no equivalent here');
  const across = along(width, crop.width, x, toEdge(type, 'west', 'east'));
  const down = along(height, crop.height, y, toEdge(type, 'north', 'south'));
  return {
    width: across.length,
    height: down.length,
    gravity: { type: 'northwest', x: across.start, y: down.start },
  };
}

type Edge = 'start' | 'end' | 'middle' | 'point';

function toEdge(type: Placement['type'], start: string, end: string): Edge {
  if (type === 'point') return 'point';
  if (type.includes(start)) return 'start';
  return type.includes(end) ? 'end' : 'middle';
}

/**
 * Returns a crop's start and length along one side.
 * @param length a share of the side if below 1; 0 for the whole side
 */
function along(whole: number, length: number, offset: number, edge: Edge) {
  const wanted = length < 1 ? Math.max(1, Math.round(whole * length)) : Math.floor(length);
  const kept = length === 0 ? whole : Math.min(whole, wanted);
  const pixels = Math.abs(offset) >= 1 ? halfToEven(offset) : halfToEven(whole * offset);
  const starts = {
    start: pixels,
    end: whole - kept - pixels,
    middle: halfToEven((whole - kept + 1) / 2) + pixels,
    point: halfToEven(whole * offset) - Math.floor(kept / 2),
  };
  return { start: Math.max(0, Math.min(starts[edge], whole - kept)), length: kept };
}

function halfToEven(value: number): number {
  const floor = Math.floor(value);
  if (value - floor !== 0.5) return Math.round(value);
  return floor % 2 === 0 ? floor : floor + 1;
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
