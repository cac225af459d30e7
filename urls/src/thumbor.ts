import { createHmac } from 'node:crypto';
import {
  decodeSource,
  isAbsolute,
  lookUp,
  parseQuery,
  readInteger,
  readNumber,
  requireMetadata,
  withBothSlashes,
} from './read.ts';
import {
  addOverlay,
  flag,
  integer,
  noEffect,
  only,
  type Row,
  saturation,
  scaled,
  within,
  withNearest,
} from './rows.ts';
import {
  Faults,
  hideFirstSegment,
  NativeQuery,
  noEquivalent,
  optionInvalid,
  type Size,
  type Source,
  type SourceSize,
  sourceMissing,
  type Translation,
  translateSized,
  type UrlDialect,
  type UrlHost,
  type UrlSignature,
} from './translation.ts';

const maxFiltersLength = 2_000;
const maxSide = 10_000;

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

/** A path's named parts. */
type Parts = Readonly<Record<string, string | undefined>>;

function splitPath(path: string) {
  const parts: Parts = pathPattern.exec(path)?.groups ?? {};
  const { rest = '' } = parts;
  // The filters end at the last parenthesis before the first slash that follows a parenthesis.
  const [, filters = '', image = rest] = /^filters:(.+?\))\/(.+)$/s.exec(rest) ?? [];
  if (image === '') {
    throw sourceMissing('The path must be /signature/options/source.');
  }
  if (filters.length > maxFiltersLength) {
    throw optionInvalid('filters', `have more than ${maxFiltersLength} characters`);
  }
  const decode = (text: string) => decodeSource(text, 'The path');
  return { parts, filters: decode(filters), image: decode(image) };
}

function translate(path: string, query: string, host: UrlHost): Translation {
  const { parts, filters: text, image } = splitPath(path);
  if (parts['debug'] !== undefined) throw noEquivalent('debug');
  if (parts['meta'] !== undefined) throw noEquivalent('meta', 'fmt=json');
  return translateSized(toSource(image, host), [...parseQuery(query).keys()], (size) => {
    const filters = readFilters(text);
    const { native, metadata, ignored } = filters;
    if (metadata !== null) requireMetadata(metadata, host, true);
    native.set('dpr', 'dpr', 1);
    setArea(native, parts);
    setSize(native, parts, filters, size);
    for (const { source, fields } of filters.watermarks) {
      addOverlay(native, 'watermark', toSource(source, host), host, fields);
    }
    return { query: native, ignored };
  });
}

/**
 * Returns the source. Without a scheme it uses `http`, like thumbor's loader, unless the host's own
 * base has the same host.
 */
function toSource(image: string, { base, isAllowedHost }: UrlHost): Source {
  const written = withBothSlashes(image);
  if (isAbsolute(written)) return { url: written };
  const path = written.replace(/^\/+/, '');
  const [name = ''] = path.split(/[/:]/, 1);
  if (!name.includes('.') || !isAllowedHost(name)) return { path: `/${path}` };
  const url = `http://${path}`;
  const own = new URL(base);
  const isOwn = URL.canParse(url) && new URL(url).host === own.host;
  return { url: isOwn ? `${own.protocol}//${path}` : url };
}

function setArea(native: NativeQuery, { trim, left, top, right, bottom }: Parts): void {
  const [from = 0, up = 0, to = 0, down = 0] = [left, top, right, bottom].map(Number);
  // thumbor ignores an empty crop.
  const isCropped = to > from && down > up;
  if (isCropped) native.set('crop', 'crop', [from, up, to - from, down - up].join(','));
  if (trim === undefined) return;
  const [, ...words] = trim.split(':');
  if (isCropped) throw optionInvalid('trim', 'with a crop has no equivalent here');
  if (words.includes('bottom-right')) {
    throw noEquivalent('trim with bottom-right', 'trim');
  }
  // Colours differ by at least 1, so 0.1 acts like 0; 1 would be a flag. The tolerance is a distance of up to 442.
  const tolerance = Math.min(100, Number(words.find((word) => /^\d+$/.test(word)) ?? 0));
  native.set('trim', 'trim', tolerance < 1 ? 0.1 : tolerance === 1 ? '1.0001' : tolerance);
}

/** `no_upscale` compares the sides with the source before the crop and the trim, which are then scaled up to them. */
const isLimitedBySource = ({ noUpscale, native }: ThumborFilters): boolean =>
  noUpscale && (native.has('crop') || native.has('trim'));

function setSize(
  native: NativeQuery,
  parts: Parts,
  filters: ThumborFilters,
  size: SourceSize,
): void {
  const { fitIn, full } = parts;
  const { rotation, fill } = filters;
  const isLimited = isLimitedBySource(filters);
  const [width, height] = readSides(parts, filters, size);
  const hasBox = width > 0 && height > 0;
  // thumbor rotates the finished image; this service rotates the source.
  const sides = [
    ['width', width],
    ['height', height],
  ] as const;
  const [across, down] = rotation % 180 === 0 ? sides : sides.toReversed();
  if (across !== undefined && across[1] > 0) native.set(across[0], 'w', across[1]);
  if (down !== undefined && down[1] > 0) native.set(down[0], 'h', down[1]);
  if (parts['flop'] !== undefined) native.set('flip', 'flop', true);
  if (parts['flip'] !== undefined) native.set('flip', 'flip', true);
  if (rotation !== 0) native.set('rotate', 'rotate', 360 - rotation);
  if (width === 0 && height === 0) return;

  const isInside = fitIn !== undefined && full === undefined;
  const noUpscale = filters.noUpscale && !isLimited;
  const isEnlarged = isInside ? filters.upscale && hasBox : true;
  if (isEnlarged && !noUpscale) native.set('upscale', 'enlarge', true);
  if (isInside && fill !== null) {
    if (filters.noUpscale) throw optionInvalid('no_upscale', 'with fill has no equivalent here');
    if (!isEnlarged) native.set('fill', 'enlarge', 'box');
    return native.set('fill', 'fit', 'contain');
  }
  if (!hasBox) return;
  if (fitIn !== undefined) {
    return native.set('fit-in', 'fit', full === undefined ? 'inside' : 'outside');
  }
  // Each side is shortened to that of the source.
  if (noUpscale) native.set('no_upscale', 'enlarge', 'box');
  if (filters.stretch) return native.set('stretch', 'fit', 'fill');
  native.set('width', 'fit', 'cover');
  setPlace(native, parts, filters, size);
}

/** Returns the width and the height in pixels, or 0. */
function readSides(
  { width, height, adaptive }: Parts,
  filters: ThumborFilters,
  size: SourceSize,
): readonly [number, number] {
  const { native, proportion } = filters;
  if (width === 'orig' && height === 'orig') return [0, 0];
  const limit = isLimitedBySource(filters) ? size.get() : null;
  const side = (name: 'width' | 'height', text = '0'): number => {
    const pixels =
      text === 'orig' ? Math.min(maxSide, croppedSize(native, size)[name]) : Number(text);
    const limited = Math.min(pixels, limit?.[name] ?? Number.POSITIVE_INFINITY);
    return limited === 0 ? 0 : Math.max(1, Math.floor(limited * proportion));
  };
  const [across, down] = [side('width', width), side('height', height)];
  if (proportion !== 1 && across + down === 0) {
    throw optionInvalid('proportion', 'needs a width or a height here');
  }
  if (adaptive === undefined || across === down) return [across, down];
  const source = croppedSize(native, size);
  // The box turns to the image's orientation.
  const isTurned = (source.width - source.height) * (across - down) < 0;
  return isTurned ? [down, across] : [across, down];
}

/** Returns a source's size after the manual crop. */
function croppedSize(native: NativeQuery, size: SourceSize): Size {
  if (native.has('trim')) throw optionInvalid('trim', 'with this size has no equivalent here');
  const [, , width, height] = native.get('crop')?.split(',').map(Number) ?? [];
  return width === undefined || height === undefined ? size.get() : { width, height };
}

/** A place in an image, as shares of its sides from the top left. */
interface Point {
  readonly x: number;
  readonly y: number;
}

/** The places of the alignment words. */
const shares: Readonly<Record<string, number>> = {
  left: 0,
  center: 0.5,
  right: 1,
  top: 0,
  middle: 0.5,
  bottom: 1,
};

/** Sets the area to keep, which thumbor chooses before it mirrors and rotates. */
function setPlace(
  native: NativeQuery,
  parts: Parts,
  { focal, rotation }: ThumborFilters,
  size: SourceSize,
): void {
  const { smart, halign = 'center', valign = 'middle' } = parts;
  if (smart !== undefined) {
    if (focal !== null) throw optionInvalid('focal', 'with smart has no equivalent here');
    return native.set('smart', 'pos', 'attention');
  }
  if (focal !== null && native.has('trim')) {
    throw optionInvalid('focal', 'with trim has no equivalent here');
  }
  const point = focal && findPoint(focal, native.get('crop'), size.get());
  if (point !== null) {
    const { x, y } = turned(point, parts, rotation);
    return native.set('focal', 'fp', `${x},${y}`);
  }
  const { x, y } = turned({ x: shares[halign] ?? 0, y: shares[valign] ?? 0 }, parts, rotation);
  const name = `${['north', '', 'south'][y * 2]}${['west', '', 'east'][x * 2]}`;
  if (name !== '') native.set('halign', 'pos', name);
}

/** Returns the place of a source pixel in the area that a crop keeps, or null outside of it. */
function findPoint(pixel: Point, crop: string | undefined, size: Size): Point | null {
  const [left = 0, top = 0, width = size.width, height = size.height] =
    crop?.split(',').map(Number) ?? [];
  const x = (pixel.x - left) / Math.max(1, Math.min(width, size.width - left));
  const y = (pixel.y - top) / Math.max(1, Math.min(height, size.height - top));
  return x >= 0 && x <= 1 && y >= 0 && y <= 1 ? { x, y } : null;
}

/** Maps a place to an image mirrored and then rotated counterclockwise. */
function turned(point: Point, { flop, flip }: Parts, rotation: number): Point {
  let { x, y } = {
    x: flop === undefined ? point.x : 1 - point.x,
    y: flip === undefined ? point.y : 1 - point.y,
  };
  for (let angle = 0; angle < rotation; angle += 90) [x, y] = [y, 1 - x];
  return { x, y };
}

/** Returns a URL's filters if it sets no filter. */
const noFilters = () => ({
  /** The images to draw, in order. */
  watermarks: [] as {
    readonly source: string;
    readonly fields: Readonly<Record<string, string>>;
  }[],
  native: new NativeQuery(),
  /** Names that thumbor ignores. */
  ignored: [] as string[],
  stretch: false,
  noUpscale: false,
  upscale: false,
  /** Counterclockwise, in degrees. */
  rotation: 0,
  /** The background around an image smaller than its box. */
  fill: null as string | null,
  /** The middle of the focal area, in source pixels. */
  focal: null as Point | null,
  /** The filter that removes metadata. */
  metadata: null as string | null,
  /** Multiplies the finished image's sides. */
  proportion: 1,
});

type ThumborFilters = ReturnType<typeof noFilters>;

const maxFilters = 30;

/**
 * Reads filters such as `quality(80):format(webp)`.
 * @throws UrlError parameter_invalid naming the filter
 */
function readFilters(text: string): ThumborFilters {
  const filters = noFilters();
  if (text === '') return filters;
  const calls = text.replace(/\)$/, '').split('):', maxFilters + 1);
  if (calls.length > maxFilters) throw optionInvalid('filters', `are more than ${maxFilters}`);
  const faults = new Faults();
  for (const call of calls) faults.collect(() => readFilter(filters, call));
  faults.throwAny();
  return filters;
}

function readFilter(filters: ThumborFilters, call: string): void {
  const [, name = '', list] = /^([^(]*)(?:\((.*))?$/s.exec(call) ?? [];
  const args = list?.split(',').map((arg) => arg.trim()) ?? [];
  const [value = ''] = args;
  const row = lookUp(rows, name);
  const read = lookUp(reads, name);
  if (list !== undefined && row !== undefined) row(filters.native, value, name);
  else if (list !== undefined && read !== undefined) read(filters, args, name);
  // thumbor ignores unknown filters.
  else filters.ignored.push(name.slice(0, 40));
}

/** The filters that depend on no other part of the URL. */
const rows: Readonly<Record<string, Row>> = {
  quality: integer('q', 1, 100),
  max_bytes: integer('maxbytes', 1),
  grayscale: flag('grayscale'),
  saturation,
  brightness: (native, value, name) =>
    native.set(name, 'lightness', readNumber(name, value, -100, 100) || null),
  // The factor is the square of 1 plus the value.
  contrast: scaled(
    'contrast',
    -100,
    100,
    within(-100, 100, (value) => ((value + 100) ** 2 - 100 ** 2) / 100),
  ),
  autojpg: noEffect,
  max_age: noEffect,
  cover: (native, _, name) => native.set(name, 'animated', '0'),
  ...withNearest({
    colorize: 'tint',
    equalize: 'normalize',
    noise: 'a preset',
    text: 'layer',
  }),
  ...Object.fromEntries(
    'convolution curve extract_focal frame red_eye rgb'.split(' ').map((name) => [name, only()]),
  ),
};

type Read = (filters: ThumborFilters, args: readonly string[], name: string) => void;

const removeMetadata: Read = (filters, _, name) => {
  filters.metadata = name;
};

const reads: Readonly<Record<string, Read>> = {
  format: readFormat,
  blur: readBlur,
  sharpen: ({ native }, [amount = '', radius = ''], name) => {
    const sigma = readNumber(name, radius, 0, 1_000);
    if (readNumber(name, amount, 0, 10) > 0)
      native.set(name, 'sharpen', Math.min(10, sigma) || null);
  },
  background_color: (filters, [colour = ''], name) => {
    if (!isColour(colour)) throw noEquivalent(name);
    setBackground(filters, name, colour);
    filters.native.set(name, 'flatten', true);
  },
  fill: readFill,
  upscale: (filters, _, name) => {
    if (filters.fill !== null) throw optionInvalid(name, 'must precede fill here');
    filters.upscale = true;
  },
  no_upscale: (filters) => {
    filters.noUpscale = true;
  },
  stretch: (filters) => {
    filters.stretch = true;
  },
  rotate: (filters, [value = ''], name) => {
    const angle = readInteger(name, value, -36_000, 36_000);
    if (angle % 90 === 0) filters.rotation = (((filters.rotation + angle) % 360) + 360) % 360;
    else filters.ignored.push(name);
  },
  focal: readFocal,
  round_corner: readRoundCorner,
  watermark: readWatermark,
  proportion: (filters, [factor = ''], name) => {
    filters.proportion = readNumber(name, factor, 0, 1);
  },
  strip_exif: removeMetadata,
  strip_icc: removeMetadata,
};

/** Reads an image's URL, place, transparency in percent, and largest sides in percent of the whole. */
function readWatermark(filters: ThumborFilters, args: readonly string[], name: string): void {
  const [source = '', x = '0', y = '0', transparency = '0', ...sides] = args;
  if (transparency === '100') return;
  const [w, h] = sides.map((text) =>
    text === 'none' ? 0 : readNumber(name, text.replace(/^-/, ''), 0, 100),
  );
  const across = readOffset(x, name, 'west', 'east');
  const down = readOffset(y, name, 'north', 'south');
  const fields = {
    pos: `${down.place}${across.place}` || 'center',
    x: across.length,
    y: down.length,
    opacity: String(100 - readInteger(name, transparency, 0, 100)),
    ...(w && { w: `${w}%` }),
    ...(h && { h: `${h}%` }),
  };
  filters.watermarks.push({ source, fields });
}

/** Reads an offset from the start, or from the end if it is negative, in pixels or percent. */
function readOffset(text: string, name: string, start: string, end: string) {
  if (text === 'center') return { place: '', length: '0' };
  const [, sign, digits, unit] = /^(-?)(\d{1,5})(p?)$/.exec(text) ?? [];
  if (digits === undefined) throw noEquivalent(`${name} with ${text}`, `${name} with center`);
  return { place: sign === '-' ? end : start, length: `${digits}${unit === 'p' ? '%' : ''}` };
}

/** Reads a radius or an ellipse's two, the corners' colour, and whether they are transparent. */
function readRoundCorner(filters: ThumborFilters, args: readonly string[], name: string): void {
  const [radii = '', ...rest] = args;
  const [across, down = across] = radii.split('|', 2);
  if (across !== down) throw noEquivalent(`${name}(${radii})`, `${name}(${across})`);
  filters.native.set(name, 'radius', readInteger(name, across ?? '', 0, 10_000));
  if (['true', 'True', '1'].includes(rest[3] ?? '')) return;
  const channels = rest.slice(0, 3).map((text) => readInteger(name, text, 0, 255));
  setBackground(filters, name, Buffer.from(channels).toString('hex'));
  filters.native.set(name, 'flatten', true);
}

const formats = ['png', 'jpeg', 'jpg', 'gif', 'webp', 'avif'];

function readFormat(
  { native, ignored }: ThumborFilters,
  [value = '']: readonly string[],
  name: string,
) {
  const format = value.toLowerCase();
  if (formats.includes(format)) native.set(name, 'fmt', format === 'jpg' ? 'jpeg' : format);
  else if (/^hei[cf]$/.test(format)) throw optionInvalid(name, `cannot be ${format}`);
  else ignored.push(name);
}

function readFocal(filters: ThumborFilters, [text = '']: readonly string[], name: string): void {
  const match = /^(\d{1,6})x(\d{1,6}):(\d{1,6})x(\d{1,6})/.exec(text);
  const [left = 0, top = 0, right = 0, bottom = 0] = match?.slice(1).map(Number) ?? [];
  if (right < left || bottom < top) {
    throw optionInvalid(name, 'must be left x top : right x bottom');
  }
  // thumbor ignores an empty area.
  if (right === left || bottom === top) return void filters.ignored.push(name);
  if (filters.focal !== null) throw optionInvalid(name, 'with two areas has no equivalent here');
  filters.focal = { x: Math.floor((left + right) / 2), y: Math.floor((top + bottom) / 2) };
}

/** A CSS colour, hex digits, or `transparent`. */
const isColour = (text: string): boolean => /^\w+$/.test(text) && !['auto', 'blur'].includes(text);

function setBackground({ native }: ThumborFilters, name: string, colour: string): void {
  const before = native.get('bg') ?? colour;
  if (before !== colour) throw optionInvalid(name, 'with two colours has no equivalent here');
  native.set(name, 'bg', colour);
}

/** Backgrounds that follow from the image; thumbor's blur has a radius of 50. */
const backdrops: Readonly<Record<string, string>> = {
  auto: 'edge',
  blur: `blur,${deviation(50, 50).toFixed(2)}`,
};

function readFill(
  filters: ThumborFilters,
  [colour = '', transparent = '']: readonly string[],
): void {
  if (!/^\w+$/.test(colour)) throw optionInvalid('fill', 'must have a colour, auto or blur');
  if (filters.rotation % 180 !== 0) throw optionInvalid('fill', 'must precede rotate here');
  setBackground(filters, 'fill', lookUp(backdrops, colour) ?? colour);
  if (['true', 'True', '1'].includes(transparent)) filters.native.set('fill', 'flatten', true);
  filters.fill = colour;
}

function readBlur({ native }: ThumborFilters, args: readonly string[]): void {
  const [radius = '', sigma = '0'] = args;
  const pixels = readInteger('blur', radius, 1, 1_000);
  const given = readNumber('blur', sigma, 0, 1_000) || pixels;
  native.set('blur', 'blur', deviation(given, Math.min(pixels, 150)).toFixed(4));
}

/** Returns the deviation of thumbor's Gaussian kernel, which ends at a radius. */
function deviation(sigma: number, radius: number): number {
  let [sum, weights] = [0, 0];
  for (let at = -radius; at <= radius; at += 1) {
    const weight = Math.exp(-(at ** 2) / (2 * sigma ** 2));
    sum += weight * at ** 2;
    weights += weight;
  }
  return Math.sqrt(sum / weights);
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
export const thumbor: UrlDialect = {
  title: 'thumbor',
  form: /^(?:https?:\/\/[^/?#]+)?\/(?:unsafe|[\w-]{27}=)\//i,
  translate,
  readSignature,
  redact: hideFirstSegment,
};
