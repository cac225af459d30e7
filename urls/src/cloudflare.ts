import {
  decodeOption,
  isAbsolute,
  readInteger,
  readNumber,
  readPathname,
  requireMetadata,
  sideGravities,
  withBothSlashes,
} from './read.ts';
import {
  NativeQuery,
  noEquivalent,
  optionInvalid,
  type Source,
  sourceInvalid,
  sourceMissing,
  type Translation,
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

function translate(path: string, query: string, host: UrlHost): Translation {
  const [, text = '', source = ''] = /^([^/]*)\/(.*)$/s.exec(path.slice(prefix.length)) ?? [];
  if (!path.startsWith(prefix) || source === '') {
    throw sourceMissing(`The path must be ${prefix}options/source.`);
  }
  const options = readOptions(text);
  const native = new NativeQuery();
  for (const [name, value] of options) {
    const row = Object.hasOwn(rows, name) ? rows[name] : undefined;
    if (row === undefined) throw noEquivalent(name);
    row(native, value, name, host);
  }
  setSize(native, options);
  setGravity(native, options);
  setTrim(native, options);
  setLossless(native, options);
  const isFace = options.get('gravity') === 'face';
  const ignored = options.has('zoom') && !isFace ? ['zoom'] : [];
  return {
    kind: 'image',
    source: toSource(source, query),
    query: native,
    ignored,
    usesHints: options.get('width') === 'auto',
  };
}

function readOptions(text: string): Options {
  const parts = text.split(',', maxOptions + 1);
  if (text.length > maxOptionsLength || parts.length > maxOptions) {
    throw optionInvalid('The path', 'has too many or too long options');
  }
  const options = new Map<string, string>();
  for (const part of parts) {
    const [, short = part, encoded = ''] = /^([^=]*)=(.*)$/s.exec(part) ?? [];
    const name = Object.hasOwn(fullNames, short) ? (fullNames[short] ?? '') : short;
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

type Row = (native: NativeQuery, value: string, name: string, host: UrlHost) => void;

const positions: Readonly<Record<string, string>> = {
  ...sideGravities,
  auto: 'attention',
  center: 'center',
};

/** Another option's row reads this option. */
const elsewhere: Row = () => {};

/** A factor that keeps the image at 1, and that Cloudflare ignores at 0. */
const onlyNeutral: Row = (_, value, name) => {
  if (![0, 1].includes(readNumber(name, value, 0))) throw noEquivalent(name);
};
const onlyZero: Row = (_, value, name) => {
  if (readNumber(name, value, 0) !== 0) throw noEquivalent(name);
};

const rows: Readonly<Record<string, Row>> = {
  width: elsewhere,
  height: elsewhere,
  fit: elsewhere,
  gravity: elsewhere,
  dpr: elsewhere,
  trim: elsewhere,
  'trim.left': elsewhere,
  'trim.top': elsewhere,
  'trim.width': elsewhere,
  'trim.height': elsewhere,
  zoom: elsewhere,
  quality: (native, value, name) => native.set(name, 'q', readInteger(name, value, 1, 100)),
  format: (native, value, name) => {
    const formats = ['auto', 'avif', 'webp', 'jpeg', 'png'];
    if (!formats.includes(value)) throw optionInvalid(name, `must be one of ${formats.join(', ')}`);
    native.set(name, 'fmt', value);
  },
  background: setBackground,
  blur: onlyZero,
  sharpen: onlyZero,
  brightness: (native, value, name) => {
    const factor = readNumber(name, value, 0, 10);
    if (factor !== 0) native.set(name, 'brightness', factor);
  },
  saturation: (native, value, name) => {
    const factor = readNumber(name, value, 0, 10);
    if (factor === 0) native.set(name, 'grayscale', true);
    else native.set(name, 'saturation', factor);
  },
  contrast: onlyNeutral,
  gamma: onlyNeutral,
  rotate: (native, value, name) => {
    if (!['0', '90', '180', '270', '360'].includes(value)) {
      throw optionInvalid(name, 'must be 90, 180 or 270');
    }
    native.set(name, 'rotate', value);
  },
  flip: (native, value, name) => native.setFlip(name, value),
  metadata: (native, value, name, host) => {
    if (value === 'copyright') native.set(name, 'keep', 'copyright');
    else if (value === 'keep') requireMetadata(name, host, false);
    else if (value === 'none') requireMetadata(name, host, true);
    else throw optionInvalid(name, 'must be copyright, keep or none');
  },
  anim: (native, value, name) => {
    if (!['true', 'false'].includes(value)) throw optionInvalid(name, 'must be true or false');
    if (value === 'false') native.set(name, 'animated', false);
  },
  upscale: (_, value, name) => {
    if (value !== 'interpolate') throw noEquivalent(name);
  },
};

function setBackground(native: NativeQuery, value: string, name: string): void {
  const colour = cssColour(value);
  if (colour === null) throw optionInvalid(name, 'must be a name, hex digits, rgb() or rgba()');
  const alpha = readAlpha(colour);
  if (alpha !== 'ff' && alpha !== '00') {
    throw optionInvalid(name, 'must be opaque, or transparent as a whole');
  }
  native.set(name, 'bg', colour);
  if (alpha === 'ff') native.set(name, 'flatten', true);
}

/**
 * Returns the hex digits or name of a CSS colour, or null for another text. Accepts a name, hex
 * digits after `#`, or whole channels in `rgb()` or `rgba()`.
 */
function cssColour(text: string): string | null {
  const written = text.trim().toLowerCase();
  const [, list] = /^rgba?\(([^()]*)\)$/.exec(written) ?? [];
  if (list !== undefined) return toHex(list);
  return /^#?\w+$/.test(written) ? written.replace('#', '') : null;
}

/** Returns the hex digits of whole channels from 0 to 255 and an opacity from 0 to 1, or null. */
function toHex(list: string): string | null {
  const [red, green, blue, alpha = '1', ...others] = list.split(/\s*[,/]\s*|\s+/).filter(Boolean);
  const channels = [red, green, blue].map((text = '') => (/^\d{1,3}$/.test(text) ? +text : 256));
  const opacity = /^(?:\d|\d?\.\d{1,10})$/.test(alpha) ? Number(alpha) : 2;
  if (others.length > 0 || opacity > 1 || channels.some((channel) => channel > 255)) return null;
  return Buffer.from([...channels, Math.round(opacity * 255)]).toString('hex');
}

/** Returns the hex digits of a colour's opacity. */
function readAlpha(colour: string): string {
  if (colour === 'transparent') return '00';
  const [, short, long] = /^(?:[0-9a-f]{3}([0-9a-f])|[0-9a-f]{6}([0-9a-f]{2}))$/.exec(colour) ?? [];
  return short === undefined ? (long ?? 'ff') : short + short;
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
  if (isAuto && height !== undefined) throw optionInvalid('width', 'auto needs no height here');
  const fit = options.get('fit') ?? 'scale-down';
  const row = Object.hasOwn(fits, fit) ? fits[fit] : undefined;
  if (row === undefined) {
    throw optionInvalid('fit', `must be one of ${Object.keys(fits).join(', ')}`);
  }
  const [word, enlarge] = row;
  const dpr = readNumber('dpr', options.get('dpr') ?? '1', 1, 3);
  // An image smaller than a kept box is delivered whole, whatever the ratio of pixels.
  const isBoxKept = enlarge === 'box' && width !== undefined && height !== undefined;
  const side = (text: string): string | number =>
    isBoxKept && /^\d+$/.test(text) ? Math.round(Number(text) * dpr) : text;
  if (width !== undefined && !isAuto) native.set('width', 'w', side(width));
  if (height !== undefined) native.set('height', 'h', side(height));
  const hasBox = native.has('w') && native.has('h');
  const hasSide = width !== undefined || height !== undefined;
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

function setGravity(native: NativeQuery, options: Options): void {
  const gravity = options.get('gravity');
  if (gravity === undefined) return;
  if (gravity === 'face') throw optionInvalid('gravity', 'face has no equivalent here');
  const position = Object.hasOwn(positions, gravity) ? positions[gravity] : undefined;
  const [, x, y] = /^([\d.]+)x([\d.]+)$/.exec(gravity) ?? [];
  if (position === undefined && (x === undefined || y === undefined)) {
    throw optionInvalid('gravity', 'must be auto, a side, or two numbers such as 0.5x0.3');
  }
  if (native.get('fit') !== 'cover') return;
  const isChanged = ['rotate', 'flip', 'flop', 'crop'].some((name) => native.has(name));
  if (gravity !== 'auto' && (isChanged || isTrimmed(options))) {
    throw optionInvalid('gravity', 'with rotate, flip or trim has no equivalent here');
  }
  if (position !== undefined) return native.set('gravity', 'pos', position);
  const share = (text = ''): number => readNumber('gravity', text, 0, 1);
  native.set('gravity', 'fp', `${share(x)},${share(y)}`);
}

const trimNames = ['trim.left', 'trim.top', 'trim.width', 'trim.height'];

const isTrimmed = (options: Options): boolean =>
  ['trim', ...trimNames].some((name) => options.has(name));

/** A side's whole length: the crop ends at the image's edge. */
const wholeSide = 100_000;

function setTrim(native: NativeQuery, options: Options): void {
  if (!isTrimmed(options)) return;
  if (Number(options.get('dpr') ?? 1) !== 1) {
    throw optionInvalid('trim', 'with dpr has no equivalent here');
  }
  const trim = options.get('trim');
  const named = trimNames.map((name) => options.get(name));
  if (trim !== undefined) {
    if (named.some((value) => value !== undefined)) {
      throw optionInvalid('trim', 'with trim.left and others has no equivalent here');
    }
    const edges = trim.split(';', 5);
    if (edges.length !== 4) throw optionInvalid('trim', 'must be four numbers of pixels');
    const [top = 0, right, bottom, left = 0] = edges.map((text) =>
      readInteger('trim', text, 0, wholeSide),
    );
    if (right !== 0 || bottom !== 0) {
      throw optionInvalid('trim', 'can only cut the top and the left here, or use trim.width');
    }
    if (top + left > 0) native.set('trim', 'crop', [left, top, wholeSide, wholeSide].join(','));
    return;
  }
  const [left, top, width, height] = named.map((text, index) =>
    text === undefined
      ? ([0, 0, wholeSide, wholeSide][index] ?? 0)
      : readInteger(trimNames[index] ?? '', text, 0, wholeSide),
  );
  native.set('trim', 'crop', [left, top, width, height].join(','));
}

/** WebP at quality 100 is lossless. */
function setLossless(native: NativeQuery, options: Options): void {
  if (options.get('format') !== 'webp' || options.get('quality') !== '100') return;
  native.set('quality', 'lossless', true);
}

/** The URLs of Cloudflare Images' transformations. */
export const cloudflare: UrlDialect = { title: 'Cloudflare', translate };
