import {
  decodeOption,
  isAbsolute,
  lookUp,
  readInteger,
  readNumber,
  readPathname,
  requireMetadata,
  sideGravities,
  withBothSlashes,
} from './read.ts';
import {
  choice,
  contrast,
  flip,
  integer,
  noEffect,
  only,
  onlyOr,
  type Row,
  saturation,
  scaled,
  within,
} from './rows.ts';
import {
  Faults,
  NativeQuery,
  optionInvalid,
  type Source,
  type SourceSize,
  sourceInvalid,
  sourceMissing,
  type Translation,
  translateSized,
  type UrlDialect,
  type UrlHost,
} from './translation.ts';

const prefix = '/cdn-cgi/image/';
const maxOptions = 40;
const maxOptionsLength = 1_000;

/** A URL's options by full name. */
type Options = ReadonlyMap<string, string>;

const fullNames: Readonly<Record<string, string>> = {
  w: 'width',
  h: 'height',
  q: 'quality',
  f: 'format',
  g: 'gravity',
  scq: 'slow-connection-quality',
  'face-zoom': 'zoom',
};

const trimNames = ['trim', 'trim.left', 'trim.top', 'trim.width', 'trim.height'];

/** The options that depend on each other. */
const geometry = new Set(['width', 'height', 'fit', 'gravity', 'dpr', 'zoom', ...trimNames]);

function translate(path: string, query: string, host: UrlHost): Translation {
  const [, text = '', source = ''] = /^([^/]*)\/(.*)$/s.exec(path.slice(prefix.length)) ?? [];
  if (!path.startsWith(prefix) || source === '') {
    throw sourceMissing(`The path must be ${prefix}options/source.`);
  }
  const options = readOptions(text);
  return translateSized(toSource(source, query), options.has('zoom') ? ['zoom'] : [], (size) => ({
    query: readNative(options, host, size),
    usesHints: options.get('width') === 'auto',
  }));
}

/** @throws UrlError naming every option that has no equivalent */
function readNative(options: Options, host: UrlHost, size: SourceSize): NativeQuery {
  const native = new NativeQuery();
  const faults = new Faults();
  for (const [name, value] of options) {
    if (geometry.has(name)) continue;
    const row = lookUp(rows, name) ?? only();
    faults.collect(() => row(native, value, name));
  }
  faults.collect(() => setMetadata(native, options, host));
  faults.collect(() => setSize(native, options));
  faults.collect(() => setGravity(native, options));
  faults.collect(() => setTrim(native, options, size));
  faults.throwAny();
  // WebP at quality 100 is lossless.
  if (options.get('format') === 'webp' && options.get('quality') === '100') {
    native.set('quality', 'lossless', true);
  }
  return native;
}

function readOptions(text: string): Options {
  // The commas of rgb() separate no options.
  const parts = text.split(/,(?![^(,]{0,9}(?:,[^(,]{0,9}){0,2}\))/, maxOptions + 1);
  if (text.length > maxOptionsLength || parts.length > maxOptions) {
    throw optionInvalid('The path', 'has too many or too long options');
  }
  const options = new Map<string, string>();
  for (const part of parts) {
    const [, short = part, encoded = ''] = /^([^=]*)=(.*)$/s.exec(part) ?? [];
    const name = lookUp(fullNames, short) ?? short;
    if (options.has(name)) throw optionInvalid(name, 'is given more than once');
    options.set(name, decodeOption(name, encoded));
  }
  return options;
}

/** Returns the source, which the URL contains unencoded, with its query. */
function toSource(text: string, query: string): Source {
  const url = withBothSlashes(text) + (query === '' ? '' : `?${query}`);
  if (isAbsolute(url)) return { url };
  const source = { path: `/${url.replace(/^\/+/, '')}` };
  if (!readPathname(source).includes(prefix)) return source;
  throw sourceInvalid(`The source must not be below ${prefix}.`);
}

/** The options that depend on no other option. */
const rows: Readonly<Record<string, Row>> = {
  quality: (native, value, name) => {
    const quality = lookUp(qualities, value) ?? value;
    integer('q', 1, 100)(native, quality, name);
  },
  format: choice('fmt', {
    auto: 'auto',
    avif: 'avif',
    webp: 'webp',
    jpeg: 'jpeg',
    'baseline-jpeg': 'jpeg',
    png: 'png',
  }),
  background: setBackground,
  // A radius in pixels.
  blur: scaled(
    'blur',
    0,
    250,
    within(0.3, 100, (radius) => radius / 2),
  ),
  // Both services recommend 1.
  sharpen: (native, value, name) =>
    native.set(name, 'sharpen', readNumber(name, value, 0, 10) || null),
  // Cloudflare ignores factors of 0.
  contrast: (native, value, name) => contrast(native, Number(value) === 0 ? '1' : value, name),
  gamma: onlyOr('brightness', '0', '1'),
  brightness: (native, value, name) => {
    native.set(name, 'brightness', readNumber(name, value, 0, 10) || null);
  },
  saturation,
  rotate: choice('rotate', { 0: '0', 90: '90', 180: '180', 270: '270', 360: '360' }),
  flip,
  metadata: choice('keep', { copyright: 'copyright', keep: null, none: null }),
  anim: choice('animated', { true: null, false: 'false' }),
  upscale: onlyOr('upscale=interpolate', 'interpolate'),
  onerror: noEffect,
  compression: noEffect,
  'slow-connection-quality': noEffect,
  border: onlyOr('extend'),
  draw: onlyOr('layer'),
  'origin-auth': noEffect,
  segment: onlyOr('an image without its background as the source'),
};

/** Cloudflare's words stand for qualities that it does not define. */
const qualities: Readonly<Record<string, string>> = {
  high: '86',
  'medium-high': '75',
  'medium-low': '60',
  low: '50',
};

function setMetadata(native: NativeQuery, options: Options, host: UrlHost): void {
  const metadata = options.get('metadata');
  if (metadata === undefined || native.has('keep')) return;
  requireMetadata('metadata', host, metadata === 'none');
}

/** Reads a name, hex digits after `#`, or whole channels in `rgb()` or `rgba()`. */
function setBackground(native: NativeQuery, value: string, option: string): void {
  const written = value.trim().toLowerCase();
  const [, list] = /^rgba?\(([\d\s,./]*)\)$/.exec(written) ?? [];
  const colour = list === undefined ? written.replace('#', '') : toHex(list);
  if (!/^\w+$/.test(colour)) {
    throw optionInvalid(option, 'must be a name, hex digits, rgb() or rgba()');
  }
  const [, digits = 'f'] = /^(?:[0-9a-f]{3}){1,2}([0-9a-f]{1,2})$/.exec(colour) ?? [];
  const isTransparent = colour === 'transparent' || /^0+$/.test(digits);
  if (!isTransparent && !/^f+$/.test(digits)) {
    throw optionInvalid(option, 'must be opaque, or transparent as a whole');
  }
  native.set(option, 'bg', colour);
  if (!isTransparent) native.set(option, 'flatten', true);
}

/** Returns the hex digits of whole channels from 0 to 255 and an opacity from 0 to 1, or ''. */
function toHex(list: string): string {
  const texts = list.split(/[\s,/]+/).filter(Boolean);
  const [red = 256, green = 256, blue = 256, alpha = 1, ...others] = texts.map(Number);
  const channels = [red, green, blue, alpha * 255].map(Math.round);
  const isValid = channels.every((channel) => channel >= 0 && channel <= 255);
  return isValid && others.length === 0 ? Buffer.from(channels).toString('hex') : '';
}

/** A box's fit, and the value of `enlarge`. */
const fits: Readonly<Record<string, readonly [fit: string, enlarge: boolean | 'box']>> = {
  'scale-down': ['inside', false],
  contain: ['inside', true],
  cover: ['cover', true],
  crop: ['cover', 'box'],
  'aspect-crop': ['cover', false],
  pad: ['contain', true],
  squeeze: ['fill', true],
};

function setSize(native: NativeQuery, options: Options): void {
  const [width, height] = [options.get('width'), options.get('height')];
  const isAuto = width === 'auto';
  if (isAuto && height !== undefined)
    throw optionInvalid('width', "auto can't be combined with a height here");
  const fit = options.get('fit') ?? 'scale-down';
  const row = lookUp(fits, fit);
  if (row === undefined) {
    throw optionInvalid('fit', `must be one of ${Object.keys(fits).join(', ')}`);
  }
  const [word, enlarge] = row;
  const dpr = readNumber('dpr', options.get('dpr') ?? '1', 1, 3);
  const hasSide = width !== undefined || height !== undefined;
  const hasBox = width !== undefined && height !== undefined;
  // An image smaller than a kept box is delivered whole, whatever the ratio of pixels.
  const isBoxKept = enlarge === 'box' && hasBox;
  const side = (text: string): string | number =>
    isBoxKept && /^\d+$/.test(text) ? Math.round(Number(text) * dpr) : text;
  if (width !== undefined && !isAuto) native.set('width', 'w', side(width));
  if (height !== undefined) native.set('height', 'h', side(height));
  if (hasBox) native.set('fit', 'fit', word);
  else if (fit === 'squeeze' && hasSide) {
    throw optionInvalid('fit', 'squeeze needs a width and a height here');
  }
  if (hasSide && enlarge === true) native.set('fit', 'enlarge', true);
  if (isBoxKept) native.set('fit', 'enlarge', 'box');
  if (hasBox && fit === 'pad' && !native.has('bg')) native.set('fit', 'bg', 'fff');
  // For `auto`, the width follows the client's hints, in device pixels.
  if (!isAuto) native.set('dpr', 'dpr', isBoxKept ? 1 : dpr);
}

const positions: Readonly<Record<string, string>> = {
  ...sideGravities,
  auto: 'attention',
  // A face is found like other interesting parts.
  face: 'attention',
  center: 'center',
};

function setGravity(native: NativeQuery, options: Options): void {
  const gravity = options.get('gravity');
  if (gravity === undefined) return;
  const position = lookUp(positions, gravity);
  const [, x = '', y = ''] = /^([\d.]+)x([\d.]+)$/.exec(gravity) ?? [];
  if (position === undefined && x === '') {
    throw optionInvalid('gravity', 'must be auto, face, a side, or two numbers such as 0.5x0.3');
  }
  if (native.get('fit') !== 'cover') return;
  const isChanged = ['rotate', 'flip', 'flop'].some((name) => native.has(name));
  if (position !== 'attention' && (isChanged || isTrimmed(options))) {
    throw optionInvalid('gravity', 'with rotate, flip or trim has no equivalent here');
  }
  if (position !== undefined) return native.set('gravity', 'pos', position);
  const [across, down] = [x, y].map((text) => readNumber('gravity', text, 0, 1));
  native.set('gravity', 'fp', `${across},${down}`);
}

const isTrimmed = (options: Options): boolean => trimNames.some((name) => options.has(name));

/** @param size of the source, which an area's right and bottom edges depend on */
function setTrim(native: NativeQuery, options: Options, size: SourceSize): void {
  if (!isTrimmed(options)) return;
  const [trim, ...named] = trimNames.map((name) => options.get(name));
  // Cloudflare finds the border's colour in the corner, too.
  if (trim === 'border') return native.set('trim', 'trim', 10);
  if (Number(options.get('dpr') ?? 1) !== 1) {
    throw optionInvalid('trim', 'with dpr has no equivalent here');
  }
  const edges = trim?.split(';', 5) ?? ['0', '0', '0', '0'];
  if (edges.length !== 4) throw optionInvalid('trim', 'must be four numbers of pixels');
  const read = (text: string) => readInteger('trim', text, 0, wholeSide);
  const [top = 0, right = 0, bottom = 0, left = 0] = edges.map(read);
  const [x = left, y = top, ...sides] = named.map((text) =>
    text === undefined ? undefined : read(text),
  );
  // The crop ends at the image's edges.
  const [width = right === 0 ? wholeSide : Math.max(1, size.get().width - x - right)] = sides;
  const height =
    sides[1] ?? (bottom === 0 ? wholeSide : Math.max(1, size.get().height - y - bottom));
  if (x > 0 || y > 0 || width < wholeSide || height < wholeSide) {
    native.set('trim', 'crop', [x, y, width, height].join(','));
  }
}

/** Longer than any source. */
const wholeSide = 100_000;

/** The URLs of Cloudflare Images' transformations. */
export const cloudflare: UrlDialect = {
  title: 'Cloudflare',
  form: /\/cdn-cgi\/image\/|^https?:\/\/imagedelivery\.net\//i,
  translate,
};
