import { ServiceError } from '../../../contract/errors.ts';
import { parseQuery } from '../address.ts';
import { sideGravities } from '../positions.ts';
import { type Site, sourceBelow } from '../site.ts';
import { readSource, withBothSlashes } from '../source-url.ts';
import { colour } from '../values.ts';
import { cssColour } from './css-colour.ts';
import type { ReadUrl, UrlGrammar } from './grammar.ts';
import {
  decodeOption,
  Meaning,
  noEquivalent,
  optionInvalid,
  readInteger,
  readNumber,
  requireMetadata,
} from './meaning.ts';

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

function read(path: string, query: string, site: Site): ReadUrl {
  const [, text = '', source = ''] = /^([^/]*)\/(.*)$/s.exec(path.slice(prefix.length)) ?? [];
  if (!path.startsWith(prefix) || source === '') {
    throw new ServiceError('source_missing', `The path must be ${prefix}options/source.`);
  }
  const options = readOptions(text);
  const meaning = new Meaning();
  for (const [name, value] of options) {
    const row = Object.hasOwn(rows, name) ? rows[name] : undefined;
    if (row === undefined) throw noEquivalent(name);
    row(meaning, value, name, site);
  }
  setSize(meaning, options);
  setGravity(meaning, options);
  setTrim(meaning, options);
  setLossless(meaning, options);
  const isFace = options.get('gravity') === 'face';
  const ignored = options.has('zoom') && !isFace ? ['zoom'] : [];
  return {
    source: toSource(source, query, site),
    parameters: meaning.parameters,
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
function toSource(text: string, query: string, site: Site): URL {
  parseQuery(query);
  const written = withBothSlashes(text) + (query === '' ? '' : `?${query}`);
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(written)) return readSource(written);
  const source = sourceBelow(site, `/${written.replace(/^\/+/, '')}`);
  if (!source.pathname.includes(prefix)) return source;
  throw new ServiceError('source_invalid', `The source must not be below ${prefix}.`);
}

type Row = (meaning: Meaning, value: string, name: string, site: Site) => void;

const positions: Readonly<Record<string, string>> = {
  ...sideGravities,
  auto: 'attention',
  center: 'center',
};

/** Another option's row reads this option. */
const elsewhere: Row = () => {};

/** A factor that changes nothing at 1, and that Cloudflare ignores at 0. */
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
  quality: (meaning, value, name) => meaning.set(name, 'q', readInteger(name, value, 1, 100)),
  format: (meaning, value, name) => {
    const formats = ['auto', 'avif', 'webp', 'jpeg', 'png'];
    if (!formats.includes(value)) throw optionInvalid(name, `must be one of ${formats.join(', ')}`);
    meaning.set(name, 'fmt', value);
  },
  background: setBackground,
  blur: onlyZero,
  sharpen: onlyZero,
  brightness: (meaning, value, name) => {
    const factor = readNumber(name, value, 0, 10);
    if (factor !== 0) meaning.set(name, 'brightness', factor);
  },
  saturation: (meaning, value, name) => {
    const factor = readNumber(name, value, 0, 10);
    if (factor === 0) meaning.set(name, 'grayscale', true);
    else meaning.set(name, 'saturation', factor);
  },
  contrast: onlyNeutral,
  gamma: onlyNeutral,
  rotate: (meaning, value, name) => {
    if (!['0', '90', '180', '270', '360'].includes(value)) {
      throw optionInvalid(name, 'must be 90, 180 or 270');
    }
    meaning.set(name, 'rotate', value);
  },
  flip: (meaning, value, name) => meaning.setFlip(name, value),
  metadata: (meaning, value, name, site) => {
    if (value === 'copyright') meaning.set(name, 'keep', 'copyright');
    else if (value === 'keep') requireMetadata(name, site, false);
    else if (value === 'none') requireMetadata(name, site, true);
    else throw optionInvalid(name, 'must be copyright, keep or none');
  },
  anim: (meaning, value, name) => {
    if (!['true', 'false'].includes(value)) throw optionInvalid(name, 'must be true or false');
    if (value === 'false') meaning.set(name, 'animated', false);
  },
  upscale: (_, value, name) => {
    if (value !== 'interpolate') throw noEquivalent(name);
  },
};

function setBackground(meaning: Meaning, value: string, name: string): void {
  const found = cssColour(value);
  if (found === null) throw optionInvalid(name, 'must be a name, hex digits, rgb() or rgba()');
  const alpha = colour.parse(found)?.slice(7);
  if (alpha !== 'ff' && alpha !== '00') {
    throw optionInvalid(name, 'must be opaque, or transparent as a whole');
  }
  meaning.set(name, 'bg', found);
  if (alpha === 'ff') meaning.set(name, 'flatten', true);
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

function setSize(meaning: Meaning, options: Options): void {
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
  if (width !== undefined && !isAuto) meaning.set('width', 'w', side(width));
  if (height !== undefined) meaning.set('height', 'h', side(height));
  const hasBox = meaning.parameters.has('w') && meaning.parameters.has('h');
  const hasSide = width !== undefined || height !== undefined;
  if (hasBox) meaning.set('fit', 'fit', word);
  else if (fit === 'squeeze' && hasSide) {
    throw optionInvalid('fit', 'squeeze needs a width and a height here');
  }
  if (hasSide && enlarge === true) meaning.set('fit', 'enlarge', true);
  if (isBoxKept) meaning.set('fit', 'enlarge', 'box');
  if (hasBox && fit === 'pad' && !meaning.parameters.has('bg')) meaning.set('fit', 'bg', 'fff');
  // For `auto`, the width follows the client's hints, in device pixels.
  if (!isAuto) meaning.set('dpr', 'dpr', isBoxKept ? 1 : dpr);
}

function setGravity(meaning: Meaning, options: Options): void {
  const gravity = options.get('gravity');
  if (gravity === undefined) return;
  if (gravity === 'face') throw optionInvalid('gravity', 'face has no equivalent here');
  const position = Object.hasOwn(positions, gravity) ? positions[gravity] : undefined;
  const [, x, y] = /^([\d.]+)x([\d.]+)$/.exec(gravity) ?? [];
  if (position === undefined && (x === undefined || y === undefined)) {
    throw optionInvalid('gravity', 'must be auto, a side, or two numbers such as 0.5x0.3');
  }
  if (meaning.parameters.get('fit') !== 'cover') return;
  const isChanged = ['rotate', 'flip', 'flop', 'crop'].some((name) => meaning.parameters.has(name));
  if (gravity !== 'auto' && (isChanged || isTrimmed(options))) {
    throw optionInvalid('gravity', 'with rotate, flip or trim has no equivalent here');
  }
  if (position !== undefined) return meaning.set('gravity', 'pos', position);
  const share = (text = ''): number => readNumber('gravity', text, 0, 1);
  meaning.set('gravity', 'fp', `${share(x)},${share(y)}`);
}

const trimNames = ['trim.left', 'trim.top', 'trim.width', 'trim.height'];

const isTrimmed = (options: Options): boolean =>
  ['trim', ...trimNames].some((name) => options.has(name));

/** A side's whole length: the crop ends at the image's edge. */
const wholeSide = 100_000;

function setTrim(meaning: Meaning, options: Options): void {
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
    if (top + left > 0) meaning.set('trim', 'crop', [left, top, wholeSide, wholeSide].join(','));
    return;
  }
  const [left, top, width, height] = named.map((text, index) =>
    text === undefined
      ? ([0, 0, wholeSide, wholeSide][index] ?? 0)
      : readInteger(trimNames[index] ?? '', text, 0, wholeSide),
  );
  meaning.set('trim', 'crop', [left, top, width, height].join(','));
}

/** WebP at quality 100 is lossless. */
function setLossless(meaning: Meaning, options: Options): void {
  if (options.get('format') !== 'webp' || options.get('quality') !== '100') return;
  meaning.set('quality', 'lossless', true);
}

/** The URLs of Cloudflare Images' transformations. */
export const cloudflare: UrlGrammar = {
  title: 'Cloudflare',
  read,
  examples: [
    {
      url: '/cdn-cgi/image/width=300/a.jpg',
      native: 'dpr=1&w=300',
      meaning: "A path below the host's `base`.",
      size: '300 × 188',
    },
    {
      url: '/cdn-cgi/image/w=300,h=300/https://shop.example/a.jpg?v=1',
      native: 'dpr=1&fit=inside&h=300&w=300',
      meaning: 'A source on an allowed host, with its query.',
      size: '300 × 188',
    },
    {
      url: '/cdn-cgi/image/fit=contain,width=2000,height=2000/a.jpg',
      native: 'dpr=1&enlarge=1&fit=inside&h=2000&w=2000',
      meaning: 'Within the box, scaled up.',
      size: '2000 × 1250',
    },
    {
      url: '/cdn-cgi/image/fit=cover,width=300,height=200/a.jpg',
      native: 'dpr=1&enlarge=1&fit=cover&h=200&w=300',
      meaning: 'Cut to the box.',
      size: '300 × 200',
    },
    {
      url: '/cdn-cgi/image/fit=aspect-crop,width=2000,height=500/a.jpg',
      native: 'dpr=1&fit=cover&h=500&w=2000',
      meaning: "Cut to the box's ratio, not scaled up.",
      size: '1600 × 400',
    },
    {
      url: '/cdn-cgi/image/fit=crop,width=300,height=200,gravity=top/a.jpg',
      native: 'dpr=1&enlarge=box&fit=cover&h=200&pos=north&w=300',
      meaning: 'Cut to the box; no side exceeds the source side.',
      size: '300 × 200',
    },
    {
      url: '/cdn-cgi/image/fit=crop,width=300,height=200,gravity=auto/a.jpg',
      native: 'dpr=1&enlarge=box&fit=cover&h=200&pos=attention&w=300',
      meaning: 'The most interesting part.',
      size: '300 × 200',
    },
    {
      url: '/cdn-cgi/image/fit=crop,width=300,height=200,g=0.7x0.3/a.jpg',
      native: 'dpr=1&enlarge=box&fit=cover&fp=0.7,0.3&h=200&w=300',
      meaning: 'A focal point.',
      size: '300 × 200',
    },
    {
      url: '/cdn-cgi/image/fit=pad,width=300,height=300,background=%23ff8000/a.jpg',
      native: 'bg=ff8000&dpr=1&enlarge=1&fit=contain&flatten=1&h=300&w=300',
      meaning: 'Padded, white by default. `background` also fills transparency.',
      size: '300 × 300',
    },
    {
      url: '/cdn-cgi/image/fit=squeeze,width=300,height=300/a.jpg',
      native: 'dpr=1&enlarge=1&fit=fill&h=300&w=300',
      meaning: 'Distorted.',
      size: '300 × 300',
    },
    {
      url: '/cdn-cgi/image/width=300,dpr=2,quality=60,format=auto/a.jpg',
      native: 'dpr=2&fmt=auto&q=60&w=300',
      meaning: 'Device pixels, quality and format.',
      size: '600 × 375',
    },
    {
      url: '/cdn-cgi/image/width=300,format=webp,quality=100/a.jpg',
      native: 'dpr=1&fmt=webp&lossless=1&q=100&w=300',
      meaning: 'WebP at quality 100 is lossless.',
      size: '300 × 188',
    },
    {
      url: '/cdn-cgi/image/width=300,flip=h,rotate=90/a.jpg',
      native: 'dpr=1&flop=1&rotate=90&w=300',
      meaning: 'Mirrored, then rotated.',
      size: '300 × 480',
    },
    {
      url: '/cdn-cgi/image/trim.left=100,trim.top=80,trim.width=400,trim.height=300/a.jpg',
      native: 'crop=100,80,400,300&dpr=1',
      meaning: 'A part of the source.',
      size: '400 × 300',
    },
    {
      url: '/cdn-cgi/image/width=300,saturation=0,brightness=1.2,anim=false,metadata=copyright/a.jpg',
      native: 'animated=0&brightness=1.2&dpr=1&grayscale=1&keep=copyright&w=300',
      meaning: 'Colours, a still image, and the copyright.',
      size: '300 × 188',
    },
  ],
  notes: [
    "Without `format`, the project's `autoFormat` decides; Cloudflare delivers JPEG or PNG.",
    '`width=auto` follows [client hints](../delivery.md#client-hints).',
    '`metadata=none` and `metadata=keep` need a project with the same `stripMetadata`.',
    '`zoom` without `gravity=face` has no effect, with `x-image-warnings`.',
    '`blur`, `sharpen`, `contrast` and `gamma` accept only values that change nothing, because Cloudflare does not define their scales.',
    'Unsupported (400): `gravity=face`; a gravity other than `auto` with `rotate`, `flip` or `trim`; `trim` from the right or bottom, or with `dpr`; `format=json` and `baseline-jpeg`; qualities in words; `onerror`, `compression`, `slow-connection-quality`, `segment`, `border`, `draw` and `upscale=generate`; and translucent backgrounds.',
    'These URLs are unsigned: a project that requires signatures refuses them.',
  ],
};
