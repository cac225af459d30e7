import { createHmac } from 'node:crypto';
import {
  decodeSource,
  isAbsolute,
  parseQuery,
  readInteger,
  readNumber,
  requireMetadata,
  sideGravities,
  withBothSlashes,
} from './read.ts';
import {
  NativeQuery,
  noEquivalent,
  optionInvalid,
  type Size,
  type Source,
  sourceMissing,
  type Translation,
  type UrlDialect,
  type UrlHost,
  type UrlSignature,
  veryLarge,
} from './translation.ts';

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
  for (const name of ['debug', 'meta']) if (parts[name] !== undefined) throw noEquivalent(name);
  const translateForSize = (size: Size) => {
    const filters = readFilters(text);
    const { native, metadata } = filters;
    if (metadata !== null) requireMetadata(metadata, host, true);
    native.set('dpr', 'dpr', 1);
    setArea(native, parts);
    setSize(native, parts, filters, size);
    return filters;
  };
  // Checks at once everything that does not depend on the size.
  const filters = translateForSize(veryLarge);
  const { ignored, focal, native } = filters;
  const read = {
    source: toSource(image, host),
    query: native,
    ignored: [...parseQuery(query).keys(), ...ignored],
  };
  const isPlaced = focal.length > 0 && native.get('fit') === 'cover';
  if (!isLimitedBySource(filters)) {
    if (!isPlaced) return { kind: 'image', ...read };
    if (native.has('trim')) throw optionInvalid('focal', 'with trim has no equivalent here');
  }
  return {
    kind: 'needsSize',
    ...read,
    resolve: (size) => ({ kind: 'image', query: translateForSize(size).native }),
  };
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
    native.set('trim', 'trim', 0.1);
  }
  if (isCropped) native.set('crop', 'crop', [from, up, to - from, down - up].join(','));
}

function parseSide(name: string, text = '0'): number {
  if (text === 'orig') throw optionInvalid(name, 'must be a number, or orig for both sides');
  return Number(text);
}

/** `no_upscale` compares the sides with the source before the crop and the trim, which are then scaled up to them. */
const isLimitedBySource = ({ noUpscale, native }: ThumborFilters): boolean =>
  noUpscale && (native.has('crop') || native.has('trim'));

function setSize(native: NativeQuery, parts: Parts, filters: ThumborFilters, size: Size): void {
  const { fitIn, adaptive, full } = parts;
  const isOriginal = parts['width'] === 'orig' && parts['height'] === 'orig';
  const isLimited = isLimitedBySource(filters);
  const limit = isLimited ? size : { width: Infinity, height: Infinity };
  const width = isOriginal ? 0 : Math.min(parseSide('width', parts['width']), limit.width);
  const height = isOriginal ? 0 : Math.min(parseSide('height', parts['height']), limit.height);
  const [flop, flip] = [parts['flop'] !== undefined, parts['flip'] !== undefined];
  const { rotation, fill } = filters;
  const hasBox = width > 0 && height > 0;
  if (adaptive !== undefined && width !== height) throw noEquivalent('adaptive-fit-in');

  // thumbor rotates the finished image; this service rotates the source.
  const [across, down] = rotation % 180 === 0 ? [width, height] : [height, width];
  if (across > 0) native.set(rotation % 180 === 0 ? 'width' : 'height', 'w', across);
  if (down > 0) native.set(rotation % 180 === 0 ? 'height' : 'width', 'h', down);
  if (flop) native.set('flip', 'flop', true);
  if (flip) native.set('flip', 'flip', true);
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
  setPlace(native, parts, filters, { flop, flip }, size);
}

/** A path's named parts. */
type Parts = Readonly<Record<string, string | undefined>>;

interface Mirrored {
  readonly flop: boolean;
  readonly flip: boolean;
}

interface Point {
  readonly x: number;
  readonly y: number;
}

interface Area extends Size {
  readonly left: number;
  readonly top: number;
}

/** Returns the source area that the manual crop keeps. */
function findArea(native: NativeQuery, size: Size): Area {
  const crop = native.get('crop');
  if (crop === undefined) return { left: 0, top: 0, ...size };
  const [left = 0, top = 0, width = 0, height = 0] = crop.split(',').map(Number);
  return {
    left,
    top,
    width: Math.max(1, Math.min(width, size.width - left)),
    height: Math.max(1, Math.min(height, size.height - top)),
  };
}

/**
 * Returns the weighted centre of the points in an area, as shares of its sides, or null if it
 * contains no point.
 */
function focalPoint(points: readonly FocalArea[], area: Area): Point | null {
  const { left, top, width, height } = area;
  const inside = points.filter(
    ({ x, y }) => x >= left && x <= left + width && y >= top && y <= top + height,
  );
  const weight = inside.reduce((sum, point) => sum + point.weight, 0);
  if (weight === 0) return null;
  const mean = (side: 'x' | 'y', start: number) =>
    Math.floor(
      inside.reduce((sum, point) => sum + (point[side] - start) * point.weight, 0) / weight,
    );
  const share = (value: number) => Math.max(0, Math.min(1, value));
  return { x: share(mean('x', left) / width), y: share(mean('y', top) / height) };
}

/** Maps a point to an image mirrored and then rotated counterclockwise. */
function turned(point: Point, { flop, flip }: Mirrored, rotation: number): Point {
  let { x, y } = { x: flop ? 1 - point.x : point.x, y: flip ? 1 - point.y : point.y };
  for (let angle = 0; angle < rotation; angle += 90) [x, y] = [y, 1 - x];
  return { x, y };
}

/** Eighths of a turn clockwise from the top, by number. */
const directions = [
  'north',
  'northeast',
  'east',
  'southeast',
  'south',
  'southwest',
  'west',
  'northwest',
];

/** Sets the area to keep, which thumbor chooses before it mirrors and rotates. */
function setPlace(
  native: NativeQuery,
  { smart, halign = 'center', valign = 'middle' }: Parts,
  { focal, rotation }: Pick<ThumborFilters, 'focal' | 'rotation'>,
  { flop, flip }: Mirrored,
  size: Size,
): void {
  if (smart !== undefined) {
    if (focal.length > 0) throw optionInvalid('focal', 'with smart has no equivalent here');
    return native.set('smart', 'pos', 'attention');
  }
  const point = focalPoint(focal, findArea(native, size));
  if (point !== null) {
    const { x, y } = turned(point, { flop, flip }, rotation);
    return native.set('focal', 'fp', `${x},${y}`);
  }
  const mirrored = (isMirrored: boolean, side: string, other: string, word: string) =>
    !isMirrored ? word : word === side ? other : word === other ? side : word;
  const vertical = mirrored(flip, 'top', 'bottom', valign);
  const horizontal = mirrored(flop, 'left', 'right', halign);
  const name = `${sideGravities[vertical] ?? ''}${sideGravities[horizontal] ?? ''}`;
  const at = directions.indexOf(name);
  if (at === -1) return;
  native.set('halign', 'pos', directions[(at + 8 - rotation / 45) % 8] ?? 'center');
}

/** The centre of a focal area, in source pixels, and its number of pixels. */
interface FocalArea {
  readonly x: number;
  readonly y: number;
  readonly weight: number;
}

/** Returns a URL's filters if it sets no filter: parameters, and settings of the size. */
const noFilters = () => ({
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
  focal: [] as FocalArea[],
  metadata: null as string | null,
});
type ThumborFilters = ReturnType<typeof noFilters>;

type Read = (filters: ThumborFilters, args: readonly string[], name: string) => void;

/** A CSS colour, hex digits, or `transparent`. */
const isColour = (text: string): boolean => /^\w+$/.test(text) && !['auto', 'blur'].includes(text);

function setBackground({ native }: ThumborFilters, name: string, colour: string): void {
  const before = native.get('bg') ?? colour;
  if (before !== colour) throw optionInvalid(name, 'with two colours has no equivalent here');
  native.set(name, 'bg', colour);
}

function readFill(
  filters: ThumborFilters,
  [colour = '', transparent = '']: readonly string[],
): void {
  if (!isColour(colour)) throw optionInvalid('fill', `with ${colour} has no equivalent here`);
  if (filters.rotation % 180 !== 0) throw optionInvalid('fill', 'must precede rotate here');
  setBackground(filters, 'fill', colour);
  if (['true', 'True', '1'].includes(transparent)) filters.native.set('fill', 'flatten', true);
  filters.fill = colour;
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

function readBlur({ native }: ThumborFilters, args: readonly string[]): void {
  const [radius = '', sigma = '0'] = args;
  const pixels = readInteger('blur', radius, 1, 1_000);
  const given = readNumber('blur', sigma, 0, 1_000) || pixels;
  native.set('blur', 'blur', deviation(given, Math.min(pixels, 150)).toFixed(4));
}

const formats = ['png', 'jpeg', 'jpg', 'gif', 'webp', 'avif'];

/** An adjustment with no equivalent unless it is 0. */
const onlyZero: Read = (_, [value = ''], name) => {
  if (Number(value) !== 0) throw noEquivalent(name);
};
const never: Read = (_filters, _args, name) => {
  throw noEquivalent(name);
};

const reads: Readonly<Record<string, Read>> = {
  quality: ({ native }, [value = ''], name) => {
    native.set(name, 'q', readInteger(name, value, 1, 100));
  },
  max_bytes: ({ native }, [value = ''], name) => {
    native.set(name, 'maxbytes', readInteger(name, value, 1));
  },
  format: ({ native, ignored }, [value = ''], name) => {
    const format = value.toLowerCase();
    if (formats.includes(format)) native.set(name, 'fmt', format === 'jpg' ? 'jpeg' : format);
    else if (/^hei[cf]$/.test(format)) throw optionInvalid(name, `cannot be ${format}`);
    else ignored.push(name);
  },
  grayscale: ({ native }, _, name) => native.set(name, 'grayscale', true),
  saturation: ({ native }, [value = ''], name) => {
    if (Number(value) === 0) native.set(name, 'grayscale', true);
    else native.set(name, 'saturation', readNumber(name, value, 0, 10));
  },
  blur: readBlur,
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
  focal: ({ focal, ignored }, [text = ''], name) => {
    const match = /^(\d{1,6})x(\d{1,6}):(\d{1,6})x(\d{1,6})/.exec(text);
    const [left = 0, top = 0, right = 0, bottom = 0] = match?.slice(1).map(Number) ?? [];
    const [width, height] = [right - left, bottom - top];
    if (width < 0 || height < 0) throw optionInvalid(name, 'must be left x top : right x bottom');
    // thumbor ignores an empty area.
    if (width === 0 || height === 0) ignored.push(name);
    else {
      const [x, y] = [left + Math.floor(width / 2), top + Math.floor(height / 2)];
      focal.push({ x, y, weight: width * height });
    }
  },
  strip_exif: (filters, _, name) => {
    filters.metadata = name;
  },
  strip_icc: (filters, _, name) => {
    filters.metadata = name;
  },
  brightness: onlyZero,
  contrast: onlyZero,
  autojpg: (_, [value = ''], name) => {
    if (!['false', 'False', '0'].includes(value)) throw noEquivalent(name);
  },
  ...Object.fromEntries(
    `colorize convolution cover curve equalize extract_focal frame max_age noise proportion red_eye rgb
    round_corner sharpen text watermark`
      .split(/\s+/)
      .map((name) => [name, never]),
  ),
};

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
  for (const call of calls) {
    const [, name = '', list] = /^([^(]*)(?:\((.*))?$/s.exec(call) ?? [];
    const read = Object.hasOwn(reads, name) ? reads[name] : undefined;
    // thumbor ignores unknown filters.
    if (read === undefined || list === undefined) filters.ignored.push(name.slice(0, 40));
    else
      read(
        filters,
        list.split(',').map((arg) => arg.trim()),
        name,
      );
  }
  return filters;
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
export const thumbor: UrlDialect = { title: 'thumbor', translate, readSignature };
