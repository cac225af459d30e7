import { createHmac } from 'node:crypto';
import {
  decodeSource,
  isAbsolute,
  lookUp,
  parseQuery,
  percentDecode,
  readPathname,
  requireMetadata,
  withBothSlashes,
} from '../read.ts';
import { addOverlay, toPercent } from '../rows.ts';
import {
  Faults,
  hideFirstSegment,
  NativeQuery,
  noEquivalent,
  optionInvalid,
  redactedMark,
  type Size,
  type Source,
  SourceSize,
  sourceInvalid,
  sourceMissing,
  type Translation,
  translateSized,
  type UrlDialect,
  type UrlHost,
  type UrlSignature,
  veryLarge,
} from '../translation.ts';
import {
  formatName,
  type Gravity,
  type ImgproxyOptions,
  imgproxyOptionNames,
  readImgproxyOptions,
} from './options.ts';

/** Limits a URL's options; the request head limits the path. */
const maxOptions = 60;
const maxOptionLength = 400;
/** Source URLs have at most 8,192 characters. */
const maxBase64Length = 16_384;

/** The options of imgproxy 1 and 2, which are a type, sides, a gravity and a flag. */
const oldOptions = /^(fit|fill|crop)\/(\d+)\/(\d+)\/([a-z]{2,4}|fp:[\d.]+:[\d.]+)\/([01])(?:\/|$)/;

/** Writes the options of imgproxy 1 and 2 as those of later versions. */
const toOptions = (before: string): string =>
  before.replace(oldOptions, (_, type: string, width, height, gravity, enlarge) =>
    type === 'crop'
      ? `c:${width}:${height}:${gravity}/`
      : `rs:${type}:${width}:${height}:${enlarge}/g:${gravity}/`,
  );

/** Splits a path into signature, options and source. @throws UrlError source_missing */
function splitPath(path: string) {
  const [, signature = '', rest = ''] = /^\/([^/]*)\/(.*)$/s.exec(path) ?? [];
  if (signature === '' || rest === '') {
    throw sourceMissing('The path must be /signature/options/source.');
  }
  const [, written, plain] = /^(?:(.*?)\/)?plain\/(.*)$/s.exec(rest) ?? [];
  // Proxies can encode the colons.
  const before = ((plain === undefined ? rest : written) ?? '').replaceAll('%3A', ':');
  const segments = toOptions(before).split('/');
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
  if (extension !== '') options.native.set('format', 'fmt', formatName([extension]));
  const source = toSource(url);
  requirePresetFirst(options, segments, host);
  const isNameIgnored = options.fileName !== null && !options.attachment;
  const ignored = [
    ...options.ignored,
    ...(isNameIgnored ? ['filename'] : []),
    // The layer `watermark` has a place, a size and an opacity of its own.
    ...(options.watermark !== null && options.watermarkUrl === null ? ['watermark'] : []),
    ...parseQuery(query).keys(),
  ];
  return translateSized(source, ignored, (size) => ({
    query: translateOptions(options, source, host, size),
  }));
}

/** Returns a source. Local files are below the host's base. */
function toSource(text: string): Source {
  const url = text.replace(/^local:\/\/(?=\/)/i, '');
  return isAbsolute(url) ? { url } : { path: url.startsWith('/') ? url : `/${url}` };
}

/**
 * Requires the preset to come first: in imgproxy a preset replaces the options before it, and here
 * the URL always replaces the preset.
 */
function requirePresetFirst(
  { preset }: ImgproxyOptions,
  segments: readonly string[],
  host: UrlHost,
): void {
  if (preset === null) return;
  const at = segments.findIndex((segment) => /^(?:preset|pr):/.test(segment));
  const options = { ...readImgproxyOptions(segments.slice(0, at)), preset };
  const before = translateOptions(options, { path: '/' }, host, new SourceSize(veryLarge));
  const both = Object.keys(lookUp(host.presets, preset) ?? {}).find((name) => before.has(name));
  if (both !== undefined) {
    throw optionInvalid('preset', `must precede the options that it replaces, such as ${both}`);
  }
}

function translateOptions(
  options: ImgproxyOptions,
  source: Source,
  host: UrlHost,
  size: SourceSize,
): NativeQuery {
  const native = new NativeQuery(options.native);
  const faults = new Faults();
  faults.collect(() => setFileName(native, options, source));
  if (isRaw(options, source)) setWhole(native, source);
  else {
    if (options.preset !== null) native.set('preset', 'preset', options.preset);
    faults.collect(() => setSize(native, options, host, size));
    faults.collect(() => setCrop(native, options, size));
    setTurn(native, options);
    setFormatQuality(native, options);
    faults.collect(() => setWatermark(native, options, host));
    setBlurAreas(native, options, size);
    faults.collect(() => setMetadata(native, options, host));
  }
  faults.throwAny();
  return native;
}

/** Returns the extension of a source, in lower case and without a dot. */
const extensionOf = (source: Source): string =>
  /\.(\w{1,5})$/.exec(readPathname(source))?.[1]?.toLowerCase() ?? '';

const isRaw = ({ raw, rawExtensions }: ImgproxyOptions, source: Source): boolean =>
  raw || rawExtensions.includes(extensionOf(source));

/** The parameters that apply to an unchanged image too. */
const wholeNames = new Set(['download', 'exp', 'v']);

function setWhole(native: NativeQuery, source: Source): void {
  for (const [name] of [...native]) if (!wholeNames.has(name)) native.set('raw', name, null);
  native.set('raw', 'dpr', 1);
  if (extensionOf(source) === 'svg') native.set('raw', 'fmt', 'svg');
}

/** Sets the quality of the format, or that of JPEGs, because this service has one scale for all. */
function setFormatQuality(native: NativeQuery, { formatQualities }: ImgproxyOptions): void {
  if (native.has('q')) return;
  const quality = formatQualities.get(native.get('fmt') ?? '') ?? formatQualities.get('jpeg');
  native.set('format_quality', 'q', quality || null);
}

const fits: Readonly<Record<string, string>> = {
  fit: 'inside',
  fill: 'cover',
  'fill-down': 'cover',
  force: 'fill',
};

function setSize(
  native: NativeQuery,
  given: ImgproxyOptions,
  host: UrlHost,
  size: SourceSize,
): void {
  const options = withOtherSide(given, size);
  const { width, height, preset, resizingType, enlarge, gravity } = options;
  const type = resizingType === 'auto' ? chooseType(options, size) : (resizingType ?? 'fit');
  const hasBox = width > 0 && height > 0;
  const isExtended = setExtension(native, options, type);
  const isFitted = preset === null ? hasBox : resizingType !== null;
  if (isFitted && !isExtended) native.set('resizing_type', 'fit', fits[type] ?? '');
  const isCut = (hasBox && fits[type] === 'cover') || native.has('minw') || native.has('minh');
  if (isCut || preset !== null) {
    setGravity(native, toPoint(options, type, size) ?? gravity);
  }
  const isBoxKept = enlarge !== true && keepsBox(native, options, type);
  const hasOwnEnlarge = lookUp(host.presets, preset ?? '')?.['enlarge'] !== undefined;
  if (isBoxKept && (enlarge === false || !hasOwnEnlarge)) {
    native.set('resizing_type', 'enlarge', 'box');
  } else if (enlarge === true || (enlarge === false && preset !== null)) {
    native.set('enlarge', 'enlarge', enlarge);
  }
  setScaledSides(native, options, isBoxKept);
}

/** Returns an image's size before the resize. @throws UrlError parameter_invalid */
function sizeBeforeResize(options: ImgproxyOptions, source: SourceSize, option: string): Size {
  const { native, crop, rotate, preset } = options;
  if (preset !== null) throw optionInvalid(option, 'with a preset has no equivalent here');
  if (native.has('trim')) throw optionInvalid(option, 'with trim has no equivalent here');
  const whole = source.get();
  const width = along(whole.width, crop?.width ?? 0, 0, 'start').length;
  const height = along(whole.height, crop?.height ?? 0, 0, 'start').length;
  return rotate % 180 === 0 ? { width, height } : { width: height, height: width };
}

/** `force` keeps a side that the URL leaves out. */
function withOtherSide(options: ImgproxyOptions, source: SourceSize): ImgproxyOptions {
  const { width, height, resizingType, preset } = options;
  const isComplete = width > 0 === height > 0;
  if (resizingType !== 'force' || isComplete || preset !== null) return options;
  const before = sizeBeforeResize(options, source, 'resizing_type force with one side');
  return {
    ...options,
    width: width || Math.min(before.width, longestSide),
    height: height || Math.min(before.height, longestSide),
  };
}

const longestSide = 10_000;

/** `auto` fills a box that is as upright as the image, and otherwise fits. */
function chooseType(options: ImgproxyOptions, source: SourceSize): string {
  const { width, height, preset } = options;
  if (preset === null && (width === 0 || height === 0)) return 'fit';
  const before = sizeBeforeResize(options, source, 'resizing_type auto');
  return before.width >= before.height === width >= height ? 'fill' : 'fit';
}

/** Returns the middle of the part that `fill` keeps, or null unless the gravity has offsets. */
function toPoint(options: ImgproxyOptions, type: string, source: SourceSize): Gravity | null {
  const { gravity, enlarge, zoom, dpr } = options;
  if (gravity === null || gravity.type === 'point' || (gravity.x === 0 && gravity.y === 0)) {
    return null;
  }
  const before = sizeBeforeResize(options, source, 'gravity with offsets');
  const ratio = dpr ?? 1;
  const [width, height] = [options.width * zoom * ratio, options.height * zoom * ratio];
  const scale = Math.max(width / before.width, height / before.height);
  const scaled = enlarge === true || type === 'fill-down' ? scale : Math.min(1, scale);
  const share = (side: number, box: number, offset: number, edge: Edge): number => {
    const whole = Math.max(1, Math.round(side * scaled));
    const kept = Math.min(whole, Math.max(1, Math.round(box)));
    const { start } = along(whole, kept, Math.abs(offset) >= 1 ? offset * ratio : offset, edge);
    return Number(((start + kept / 2) / whole).toFixed(6));
  };
  const { type: word, x, y } = gravity;
  return {
    type: 'point',
    x: share(before.width, width, x, toEdge(word, 'west', 'east')),
    y: share(before.height, height, y, toEdge(word, 'north', 'south')),
  };
}

/**
 * Returns whether the result for a smaller image depends on the box: `fill` and `extend` keep its
 * sides, and padding is scaled by the `dpr` that the image has pixels for.
 */
function keepsBox(native: NativeQuery, options: ImgproxyOptions, type: string): boolean {
  const { width, height, padding, extension, dpr } = options;
  const hasBox = width > 0 && height > 0;
  const fit = native.get('fit');
  const isContained = fit === 'contain';
  if (isContained ? extension !== null : type === 'fill' && hasBox) return true;
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
  const { width, height, preset, padding, zoom } = options;
  const hasSize = width > 0 || height > 0;
  const isAlone = !hasSize && preset === null;
  if (zoom !== 1 && (!hasSize || preset !== null)) {
    throw optionInvalid('zoom', 'needs a width or a height, and no preset');
  }
  // Without a size, images are not enlarged, and `dpr` does not scale padding.
  const isIgnored = isAlone && (options.dpr ?? 1) >= 1 && options.enlarge !== true;
  const dpr = isIgnored ? 1 : options.dpr;
  const ratio = dpr ?? 1;
  if (isAlone && ratio !== 1) throw optionInvalid('dpr', 'needs a width or a height here');
  const sides = [
    ['w', 'width', width * zoom],
    ['h', 'height', height * zoom],
  ] as const;
  const isWhole = sides.every(([, , side]) => Number.isInteger(side));
  const isPlain = isWhole && ratio >= 1 && ratio <= 3;
  if (!isPlain && preset !== null) throw optionInvalid('dpr', 'must be from 1 to 3 with a preset');
  if (!isPlain && isBoxKept && ratio !== 1) {
    const rule = 'must be from 1 to 3 with fill, extend or padding, or needs enlarge';
    throw optionInvalid('dpr', rule);
  }
  const factor = isPlain ? 1 : ratio;
  for (const [name, option, side] of sides) {
    if (side > 0) native.set(option, name, Math.max(1, Math.round(side * factor)));
  }
  if (dpr !== null || preset === null) native.set('dpr', 'dpr', isPlain ? ratio : 1);
  if (padding.some((edge) => edge > 0)) {
    native.set('padding', 'extend', padding.map((edge) => Math.round(edge * factor)).join(','));
  }
}

/** Returns whether background extends the image to the box, or to its ratio. */
function setExtension(native: NativeQuery, options: ImgproxyOptions, type: string): boolean {
  const { extension, ratioExtension, enlarge, width, height } = options;
  const option = extension === null ? 'extend_aspect_ratio' : 'extend';
  const { gravity } = extension ?? ratioExtension ?? {};
  if (gravity === undefined) return false;
  if (options.preset !== null) throw optionInvalid(option, 'with a preset has no equivalent here');
  const isOneSided = width === 0 || height === 0;
  // The missing side follows from the image, so only a smaller image needs background.
  if (isOneSided && (extension === null || enlarge === true || width === height)) return false;
  if (type !== 'fit' && !isOneSided) {
    // An enlarged image fills the box.
    if (enlarge === true) return false;
    throw optionInvalid(option, 'needs the resizing type fit, or enlarge');
  }
  native.set(option, 'fit', 'contain');
  if (gravity?.type === 'smart' || gravity?.type === 'point') throw noEquivalent(option);
  setGravity(native, gravity, option);
  return true;
}

function setGravity(native: NativeQuery, gravity: Gravity | null, option = 'gravity'): void {
  if (gravity === null) return;
  const { type, x, y } = gravity;
  if (type === 'point') return native.set(option, 'fp', `${x},${y}`);
  if (x !== 0 || y !== 0) throw optionInvalid(option, 'with offsets has no equivalent here');
  native.set(option, 'pos', type === 'smart' ? 'attention' : type);
}

/** imgproxy rotates before it flips. */
function setTurn(native: NativeQuery, options: ImgproxyOptions): void {
  const { rotate, flipHorizontal, flipVertical } = options;
  if (rotate !== 0) native.set('rotate', 'rotate', rotate);
  const isSideways = rotate % 180 !== 0;
  const [flop, flip] = isSideways ? [flipVertical, flipHorizontal] : [flipHorizontal, flipVertical];
  if (flop) native.set('flip', 'flop', true);
  if (flip) native.set('flip', 'flip', true);
}

/** Draws the project's layer of this name, or the URL's own image. */
function setWatermark(native: NativeQuery, options: ImgproxyOptions, host: UrlHost): void {
  const { watermark, watermarkUrl: url } = options;
  if (watermark === null) return;
  if (url === null) return native.set('watermark', 'layer', 'watermark');
  const { opacity, position, x, y, scale } = watermark;
  if (position === 're' || position === 'ch')
    throw noEquivalent(`wm:${position} with wmu`, 'wm:ce');
  const offset = (length: number) => (Math.abs(length) < 1 ? toPercent(length) : length);
  const side = scale > 0 ? toPercent(Math.min(1, scale)) : null;
  const place = { pos: position, x: offset(x), y: offset(y), w: side, h: side };
  addOverlay(native, 'watermark_url', { url }, host, { ...place, opacity });
}

function setBlurAreas(native: NativeQuery, options: ImgproxyOptions, source: SourceSize): void {
  const shares = options.blurAreas;
  if (shares.length === 0) return;
  const { width, height } = source.get();
  const pixels = shares.map((share, at) => Math.round(share * (at % 2 === 0 ? width : height)));
  const areas = pixels.map((length, at) => (at % 4 < 2 ? length : Math.max(1, length)));
  native.set('blur_areas', 'blurarea', areas.join(','));
}

function setFileName(native: NativeQuery, options: ImgproxyOptions, source: Source): void {
  const { attachment, fileName } = options;
  if (attachment) native.set('filename', 'download', fileName ?? toName(source));
}

/** Returns a source's name, excluding its extension. */
function toName(source: Source): string {
  const [, name = ''] = /([^/]*?)(?:\.[^./]*)?$/.exec(readPathname(source)) ?? [];
  return percentDecode(name)?.slice(0, 200) || 'image';
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

/** Sets the crop in pixels from the top left of a source, as imgproxy places it. */
function setCrop(native: NativeQuery, options: ImgproxyOptions, source: SourceSize): void {
  const { crop, rotate, flipHorizontal, flipVertical } = options;
  if (crop === null || (crop.width === 0 && crop.height === 0)) return;
  const { type, x, y } = crop.gravity ?? options.gravity ?? { type: 'center', x: 0, y: 0 };
  if (type === 'smart') throw noEquivalent('crop with smart gravity', 'rs:fill with g:sm');
  if (native.has('trim')) throw optionInvalid('crop', 'with trim has no equivalent here');
  if (rotate !== 0 || flipHorizontal || flipVertical) {
    throw optionInvalid('crop', 'of a rotated or flipped picture has no equivalent here');
  }
  const { width, height } = source.get();
  const across = along(width, crop.width, x, toEdge(type, 'west', 'east'));
  const down = along(height, crop.height, y, toEdge(type, 'north', 'south'));
  native.set('crop', 'crop', [across.start, down.start, across.length, down.length].join(','));
}

type Edge = 'start' | 'end' | 'middle' | 'point';

function toEdge(type: string, start: string, end: string): Edge {
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

function decodePlain(text: string) {
  const [encoded, extension] = splitExtension(withBothSlashes(text), '@');
  return { url: decodeSource(encoded, 'The source URL'), extension };
}

function decodeBase64(segments: readonly string[]) {
  if (segments[0] === 'enc') throw noEquivalent('enc');
  const [encoded, extension] = splitExtension(segments.join(''), '.');
  const text = /^([\w-]+)=*$/.exec(encoded)?.[1] ?? '';
  if (text === '' || text.length > maxBase64Length || text.length % 4 === 1) {
    throw sourceInvalid('The source URL must follow plain/, or be base64url-encoded.');
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
  const text = plain === undefined ? start : `${start}/plain/${withBothSlashes(plain)}`;
  return {
    text: signature,
    expected: ({ secret, salt = '' }) => [imgproxySignature(secret, salt, text)],
  };
}

/** Hides the signature, an encoded source, and arguments that might be encoded URLs. */
function redact(path: string): string {
  const at = path.indexOf('/plain/');
  const options = at === -1 ? path : path.slice(0, at);
  const shown = hideFirstSegment(options.replaceAll('%3A', ':'))
    .replaceAll(/(?<=.\/)[^/:]+(?=\/|$)/gs, redactedMark)
    .replaceAll(/[^/:]{20,}/g, redactedMark);
  // A format after @ looks like the host after a user.
  return shown + path.slice(options.length).replace(/(?<=[^/]\/[^/@:]+)@\w{1,5}$/, '');
}

/** Options with a colon, or the older paths with sides. thumbor has `trim:` too. */
const optionStarts = imgproxyOptionNames.filter((name) => name !== 'trim').join('|');
const imgproxyForm = new RegExp(
  `^(?:https?://[^/?#]+)?/[^/?#]+/(?:plain/|(?:fit|fill|fill-down|force|auto)/\\d+/\\d+/|(?:${optionStarts}):)`,
);

/** The URLs of imgproxy 4, without its Pro options. */
export const imgproxy: UrlDialect = {
  title: 'imgproxy',
  form: imgproxyForm,
  translate,
  readSignature,
  redact,
};
