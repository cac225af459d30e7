import { createHash } from 'node:crypto';
import {
  decodeOption,
  decodeSource,
  lookUp,
  parseQuery,
  readInteger,
  readNumber,
  readRatio,
  withBothSlashes,
} from './read.ts';
import { page } from './rows.ts';
import {
  NativeQuery,
  noEquivalent,
  optionInvalid,
  redactedMark,
  sourceInvalid,
  sourceMissing,
  type Translation,
  type UrlDialect,
  type UrlHost,
  type UrlSignature,
} from './translation.ts';

/** For the path after the delivery type. */
const maxPathLength = 6_000;
const maxComponents = 30;

/** A path with the cloud name, which private CDNs and CNAMEs leave out. */
const pathPattern =
  /^\/(?:[^/]+\/)?image\/(?<type>upload|fetch)\/(?:s--(?<signature>[\w-]*)--\/)?(?<rest>.+)$/s;

/** URL parts exactly as sent. */
interface Parts {
  readonly type: string;
  readonly signature: string | null;
  readonly components: readonly string[];
  /** Digits, or null. */
  readonly version: string | null;
  readonly source: string;
}

function split(path: string): Parts | null {
  const { type, signature = null, rest } = pathPattern.exec(path)?.groups ?? {};
  if (type === undefined || rest === undefined || rest.length > maxPathLength) return null;
  const segments = rest.split('/');
  // A fetched URL contains slashes too. The last segment always belongs to the source.
  const isSource = (segment: string): boolean =>
    type === 'fetch' && /^https?(?::|%3a)/i.test(segment);
  const last = segments.length - 1;
  const isOption = (segment: string, at: number) =>
    at < last && !isSource(segment) && isComponent(segment);
  const end = segments.findIndex((segment, at) => !isOption(segment, at));
  const [, version = null] = (end < last && /^v(\d{1,20})$/.exec(segments[end] ?? '')) || [];
  const source = segments.slice(version === null ? end : end + 1).join('/');
  const written = type === 'fetch' ? withBothSlashes(source) : source;
  // A version moved before a signed URL's options would turn them into folders of the source.
  if (signature !== null && version !== null && isOption(segments[end + 1] ?? '', end + 1)) {
    throw optionInvalid('The version', 'of a signed URL must follow the options');
  }
  return { type, signature, components: segments.slice(0, end), version, source: written };
}

function translate(path: string, query: string, host: UrlHost): Translation {
  const parts = split(path);
  if (parts === null) {
    throw sourceMissing('The host has images at /image/upload and /image/fetch only.');
  }
  const { type, components, signature, source } = parts;
  if (components.length > maxComponents) {
    throw optionInvalid('The URL', `has more than ${maxComponents} components`);
  }
  const chain: Chain = { native: new NativeQuery(), ignored: [], resize: null };
  for (const component of components) addComponent(chain, readComponent(component), source);
  const { native } = chain;
  finish(chain, host);
  const extension = type === 'upload' ? readFormat(source) : null;
  if (extension !== null && !native.has('fmt')) native.set('f', 'fmt', extension);
  // The signature does not cover the version: anyone could request each image as many versions.
  if (signature === null && parts.version !== null) native.set('v', 'v', parts.version);
  // Libraries add the parameters with an underscore.
  const others = [...parseQuery(query).keys()].filter((name) => !name.startsWith('_'));
  if (type === 'fetch' && others.length > 0) {
    throw sourceInvalid('The ? of the source URL in the path must be encoded.');
  }
  // One signature would be valid for both.
  if (type === 'upload' && /^https?(?::|%3a)/i.test(source)) {
    throw sourceInvalid('A source URL needs /image/fetch.');
  }
  return {
    kind: 'image',
    // The libraries encode the whole fetched URL once, except its colons and slashes.
    source: type === 'fetch' ? { url: decodeSource(source) } : { path: `/${source}` },
    query: native,
    ignored: [...chain.ignored, ...others],
  };
}

type Options = ReadonlyMap<string, string>;

/**
 * The meaning of a transformation's components, which Cloudinary applies in sequence. This service
 * applies all operations in a fixed order, and refuses a chain in another order unless the result
 * is the same.
 */
interface Chain {
  readonly native: NativeQuery;
  /** The options that Cloudinary ignores as well. */
  readonly ignored: string[];
  resize: Resize | null;
}

/** Sets an option that the chain must contain once at most. */
function setOnce(chain: Chain, option: string, name: string, value: string | number): void {
  if (chain.native.has(name)) throw optionInvalid(option, 'is given more than once');
  chain.native.set(option, name, value);
}

const hasAny = (native: NativeQuery, ...names: readonly string[]): boolean =>
  names.some((name) => native.has(name));

const isTurned = ({ native }: Chain): boolean => hasAny(native, 'rotate', 'flip', 'flop');
const isFiltered = ({ native }: Chain): boolean => hasAny(native, 'grayscale', 'negate', 'opacity');

/**
 * Adds a component.
 * @param source provides the default file name of an attachment
 * @throws UrlError parameter_invalid naming an option that has no equivalent
 */
function addComponent(chain: Chain, options: Options, source: string): void {
  const isGeometry = resizeNames.some((name) => options.has(name));
  const preset = options.get('t');
  if (preset !== undefined) setOnce(chain, 't', 'preset', preset);
  if (isGeometry) addGeometry(chain, options);
  addBackground(chain, options);
  addAngle(chain, options.get('a') ?? '0', isGeometry);
  addFilters(chain, options);
  addDelivery(chain, options, source);
}

/** Checks the options of the whole chain, and sets those that depend on each other. */
function finish(chain: Chain, host: UrlHost): void {
  const { native, resize } = chain;
  const preset = native.get('preset') ?? '';
  // The values of other options depend on those of the preset.
  const isChanged = resize !== null || isTurned(chain) || isFiltered(chain);
  if (preset !== '' && (isChanged || hasAny(native, 'crop', 'bg', 'dpr'))) {
    throw optionInvalid(`t_${preset}`, 'may be chained with f, q and fl only');
  }
  const dpr = readNumber('dpr', native.get('dpr') ?? '1', 0.1, 10);
  if (dpr !== 1 && (resize === null || resize.sides === 0)) {
    throw optionInvalid('dpr', 'needs a resize before it or with it');
  }
  const isOfPreset = lookUp(host.presets, preset)?.['dpr'] !== undefined;
  native.set('dpr', 'dpr', isOfPreset ? null : dpr >= 1 && dpr <= 3 ? dpr : 1);
  if (resize !== null) setResize(native, resize, dpr);
}

const resizeNames = ['c', 'w', 'h', 'ar', 'g', 'x', 'y'];

function addGeometry(chain: Chain, options: Options): void {
  if (options.get('c') === 'crop') return addCrop(chain, options);
  if (!['c', 'w', 'h', 'ar'].some((name) => options.has(name))) {
    // Gravity and offsets need a crop.
    chain.ignored.push(...resizeNames.filter((name) => options.has(name)));
    return;
  }
  for (const name of ['x', 'y']) {
    if (options.has(name)) throw noEquivalent(`${name}_ without c_crop`);
  }
  if (chain.resize !== null) throw optionInvalid('c', 'is given for more than one resize');
  const resize = readResize(options);
  if (resize.fit === 'contain') requirePadFirst(chain, options);
  chain.resize = resize;
  if (options.has('g') && !isPlaced(resize.fit)) chain.ignored.push('g');
}

function requirePadFirst(chain: Chain, options: Options): void {
  if (isFiltered(chain) || (chain.native.has('bg') && !options.has('b'))) {
    throw optionInvalid('c_pad', 'must come before effects and backgrounds');
  }
}

/** A source area in pixels, because all other areas depend on the source size. */
function addCrop(chain: Chain, options: Options): void {
  if (chain.native.has('crop') || chain.resize !== null || isTurned(chain)) {
    throw optionInvalid('c_crop', 'must be the first change of the geometry');
  }
  if (options.has('dpr') || options.has('ar')) throw noEquivalent('c_crop with dpr or ar');
  const gravity = options.get('g');
  const isAtCorner =
    gravity === 'north_west' || (gravity === undefined && (options.has('x') || options.has('y')));
  if (!isAtCorner) throw noEquivalent(`c_crop with g_${gravity ?? 'center'}`);
  const side = (name: string, least: number) =>
    readInteger(name, options.get(name) ?? (least === 0 ? '0' : ''), least, 100_000);
  const area = [side('x', 0), side('y', 0), side('w', 1), side('h', 1)];
  chain.native.set('c_crop', 'crop', area.join(','));
}

/** The background behind transparency and around a padded image. */
function addBackground(chain: Chain, options: Options): void {
  const colour = options.get('b');
  if (colour === undefined) return;
  if (isFiltered(chain) || options.has('e') || options.has('o')) {
    throw optionInvalid('b', 'must come before effects and opacity');
  }
  if (/^(?:auto|blurred|gen_fill|predominant)\b/.test(colour)) throw noEquivalent(`b_${colour}`);
  // A colour name, or hexadecimal digits after `rgb:` or `#`.
  const [, digits = colour] = /^(?:rgb:|#)([0-9a-f]+)$/i.exec(colour) ?? [];
  setOnce(chain, 'b', 'bg', digits);
  chain.native.set('b', 'flatten', true);
}

/** This service mirrors, rotates, and then resizes. */
function addAngle(chain: Chain, text: string, isGeometry: boolean): void {
  const { native, resize } = chain;
  for (const word of text.split('.', 10)) {
    const mirror = lookUp(mirrors, word);
    if (mirror === undefined && !/^-?\d{1,3}$/.test(word)) throw noEquivalent(`a_${word}`);
    const rotation = Number(native.get('rotate') ?? 0);
    const degrees = mirror === undefined ? Number(word) % 360 : 0;
    if (mirror === undefined && degrees === 0) continue;
    // A symmetric resize keeps or adds equal parts on both sides.
    const isSymmetric = (resize?.position ?? 'center') === 'center';
    const isMisplaced =
      mirror === undefined ? resize !== null || isGeometry : !isSymmetric || rotation % 180 !== 0;
    if (isMisplaced) {
      throw optionInvalid(`a_${word}`, 'has no equivalent at this place of the chain');
    }
    if (mirror === undefined) native.set('a', 'rotate', (rotation + degrees) % 360);
    else native.set('a', mirror, native.has(mirror) ? null : true);
  }
}

const mirrors: Readonly<Record<string, string>> = { hflip: 'flop', vflip: 'flip' };

function addFilters(chain: Chain, options: Options): void {
  const { native, resize } = chain;
  const effect = options.get('e');
  if (effect !== undefined) {
    if (effect !== 'grayscale' && effect !== 'negate') throw noEquivalent(`e_${effect}`);
    if (effect === 'negate') {
      const hasBars = resize?.fit === 'contain' && !native.has('bg');
      if (hasBars) throw optionInvalid('e_negate', 'after c_pad needs b');
      if (native.has('negate')) throw optionInvalid('e_negate', 'is given more than once');
    }
    native.set(`e_${effect}`, effect, true);
  }
  const opacity = options.get('o');
  if (opacity !== undefined) setOnce(chain, 'o', 'opacity', readNumber('o', opacity, 0, 100) / 100);
}

function addDelivery(chain: Chain, options: Options, source: string): void {
  const { native } = chain;
  const [dpr, quality, format] = ['dpr', 'q', 'f'].map((name) => options.get(name));
  const space = options.get('cs') ?? 'srgb';
  if (dpr !== undefined) setOnce(chain, 'dpr', 'dpr', dpr);
  if (quality !== undefined) setOnce(chain, 'q', 'q', readQuality(quality));
  if (format !== undefined) {
    const native = format === 'auto' ? 'auto' : lookUp(formats, format);
    if (native === undefined) throw noEquivalent(`f_${format}`);
    setOnce(chain, 'f', 'fmt', native);
  }
  if (options.has('pg')) page(native, options.get('pg') ?? '', 'pg');
  if (space !== 'srgb') throw noEquivalent(`cs_${space}`);
  for (const flag of options.get('fl')?.split('.', 20) ?? []) setFlag(native, flag, source);
}

function readQuality(quality: string): string {
  // Cloudinary's default level of `auto` is `good`.
  if (quality === 'auto' || quality === 'auto:good') return 'auto';
  if (/^\d{1,3}$/.test(quality)) return quality;
  throw noEquivalent(`q_${quality}`);
}

function setFlag(native: NativeQuery, flag: string, source: string): void {
  const [name = '', ...given] = flag.split(':');
  if (name === 'attachment') {
    const file = source.replace(/^.*\//s, '').replace(/\.[A-Za-z0-9]{1,5}$/, '');
    native.set('fl_attachment', 'download', given.join(':') || file);
  } else if (flag === 'keep_attribution') native.set('fl', 'keep', 'copyright');
  // The first flag changes no pixel, and animations stay animated here.
  else if (!['progressive', 'animated', 'awebp'].includes(flag)) throw noEquivalent(`fl_${flag}`);
}

/** All names of Cloudinary's transformation parameters; other segments are folders. */
const names = new Set(
  `a ac af ar b bl bo br c co cs d dl dn dpr du e eo f fl fn fps g h if ki l o p pg q r so sp t u vc vs w x y
  z`.split(/\s+/),
);

const toName = (option: string): string => /^([a-z]{1,3})_./.exec(option)?.[1] ?? '';

/** Returns whether a path segment is a transformation component. */
function isComponent(segment: string): boolean {
  const options = segment.split(',', 100);
  return options.every((option) => names.has(toName(option)) || option.startsWith('$'));
}

const maxOptions = 40;

/**
 * Reads a component's options.
 * @throws UrlError parameter_invalid naming an option that has no equivalent, or a repeated
 *   option
 */
function readComponent(component: string): Options {
  const options = new Map<string, string>();
  const written = component.split(',', maxOptions + 1);
  if (written.length > maxOptions) {
    throw optionInvalid('A component', `must have at most ${maxOptions} options`);
  }
  for (const option of written) {
    const name = toName(option);
    if (!understood.has(name)) throw noEquivalent(option);
    if (options.has(name)) throw optionInvalid(name, 'is given more than once in a component');
    options.set(name, decodeOption(option, option.slice(name.length + 1)));
  }
  return options;
}

/** Parameters with an equivalent for at least some values. */
const understood = new Set('a ar b c cs dpr e f fl g h o pg q t w x y'.split(' '));

const formats: Readonly<Record<string, string>> = {
  jpg: 'jpeg',
  jpeg: 'jpeg',
  png: 'png',
  webp: 'webp',
  avif: 'avif',
  gif: 'gif',
  jxl: 'jxl',
};

/** Returns the format requested by the public id's extension, or null. */
function readFormat(source: string): string | null {
  const [, extension = ''] = /\.([A-Za-z0-9]{1,5})$/.exec(source) ?? [];
  return lookUp(formats, extension.toLowerCase()) ?? null;
}

const gravities: Readonly<Record<string, string>> = {
  center: 'center',
  north: 'north',
  north_east: 'northeast',
  east: 'east',
  south_east: 'southeast',
  south: 'south',
  south_west: 'southwest',
  west: 'west',
  north_west: 'northwest',
  auto: 'attention',
};

const maxSide = 10_000;

/** Returns whether gravity has an effect. */
const isPlaced = (fit: string): boolean => fit === 'cover' || fit === 'contain';

/** This service's fit, and whether it enlarges. */
const fits: Readonly<Record<string, readonly [fit: string, isEnlarged: boolean]>> = {
  scale: ['fill', true],
  fit: ['inside', true],
  limit: ['inside', false],
  fill: ['cover', true],
  lfill: ['cover', false],
  pad: ['contain', true],
};

/** A resize of a chain. */
interface Resize {
  readonly fit: string;
  readonly isEnlarged: boolean;
  readonly w: number | null;
  readonly h: number | null;
  /** The number of given sides. */
  readonly sides: number;
  readonly ratio: string | number | null;
  readonly position: string | null;
}

/** @throws UrlError parameter_invalid */
function readResize(options: Options): Resize {
  const c = options.get('c') ?? 'scale';
  const [fit, isEnlarged] = lookUp(fits, c) ?? [];
  if (fit === undefined || isEnlarged === undefined) throw noEquivalent(`c_${c}`);
  const w = readSide(options, 'w');
  const h = readSide(options, 'h');
  const sides = [w, h].filter((side) => side !== null).length;
  const ratio = readAspect(options.get('ar'));
  if (
    ratio !== null &&
    (!['scale', 'fill', 'pad'].includes(c) || sides === 2 || (sides === 0 && c !== 'fill'))
  ) {
    throw optionInvalid('ar', `has no equivalent with these sides and c_${c}`);
  }
  if (ratio === null && sides === 0) throw optionInvalid(`c_${c}`, 'needs w or h');
  // Keeping a smaller source whole would depend on its size.
  if (c === 'lfill' && sides === 2) throw noEquivalent('c_lfill with w and h');
  const gravity = isPlaced(fit) ? options.get('g') : undefined;
  const position = gravity === undefined ? null : lookUp(gravities, gravity);
  if (position === undefined || (position === 'attention' && fit !== 'cover')) {
    throw noEquivalent(`g_${gravity}`);
  }
  return { fit, isEnlarged, w, h, sides, ratio, position };
}

/**
 * Reads a side in pixels. Refuses decimals, which are relative to the source, and words, which
 * depend on its size or on client hints.
 */
function readSide(options: Options, name: 'w' | 'h'): number | null {
  const text = options.get(name);
  if (text === undefined) return null;
  if (!/^\d+$/.test(text)) throw noEquivalent(`${name}_${text}`);
  return readInteger(name, text, 1, maxSide);
}

function readAspect(text: string | undefined): string | number | null {
  if (text === undefined) return null;
  if (text.includes(':')) return readRatio('ar', text, 'must be W:H or a number');
  return readNumber('ar', text, 0.0001, 10_000);
}

/** @param dpr device pixels per pixel, which multiply the sides */
function setResize(native: NativeQuery, resize: Resize, dpr: number): void {
  const { w, h, sides, ratio, fit, isEnlarged, position } = resize;
  for (const [name, side] of [
    ['w', w],
    ['h', h],
  ] as const) {
    if (side === null) continue;
    const isRatio = dpr >= 1 && dpr <= 3;
    native.set(name, name, isRatio ? side : Math.max(1, Math.round(side * dpr)));
  }
  if (ratio !== null) native.set('ar', 'ar', ratio);
  if (isEnlarged && sides > 0) native.set('c', 'enlarge', true);
  if (sides < 2 && ratio === null) return;
  native.set('c', 'fit', fit);
  if (position !== null && position !== 'center') native.set('g', 'pos', position);
}

/** The first characters of a digest in base64url. */
export function cloudinarySignature(
  secret: string,
  text: string,
  algorithm: 'sha1' | 'sha256' = 'sha1',
  length = 8,
): string {
  return createHash(algorithm).update(`${text}${secret}`).digest('base64url').slice(0, length);
}

function readSignature(path: string): UrlSignature | null {
  const parts = split(path);
  if (parts === null || parts.signature === null) return null;
  // Without the version.
  const text = [...parts.components, parts.source].join('/');
  return {
    text: parts.signature,
    expected: ({ secret }) => [
      cloudinarySignature(secret, text),
      cloudinarySignature(secret, text, 'sha256'),
      cloudinarySignature(secret, text, 'sha256', 32),
    ],
  };
}

/** A signature, a layer's text or encoded source, and the text of a variable. */
const secrets = /(?<=(?:^|\/)s--)[^/]+|(?<=\b[lu]_(?:fetch|text):)[^/]+|(?<=_!)[^/]+/g;

/** The URLs of Cloudinary images. */
export const cloudinary: UrlDialect = {
  title: 'Cloudinary',
  translate,
  readSignature,
  redact: (path) => path.replace(secrets, redactedMark),
};
