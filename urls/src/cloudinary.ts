import { createHash } from 'node:crypto';
import {
  decodeOption,
  decodeSource,
  parseQuery,
  readInteger,
  readNumber,
  readRatio,
  withBothSlashes,
} from './read.ts';
import {
  NativeQuery,
  noEquivalent,
  optionInvalid,
  type Size,
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
  const chain = new Chain(host, type === 'upload' ? readFormat(source) : null);
  for (const component of components) chain.add(component, source);
  const { query: native, ignored, resolve } = chain.end();
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
  const read = {
    // The libraries encode the whole fetched URL once, except its colons and slashes.
    source: type === 'fetch' ? { url: decodeSource(source) } : { path: `/${source}` },
    query: native,
    ignored: [...ignored, ...others],
  };
  if (resolve === null) return { kind: 'image', ...read };
  return {
    kind: 'needsSize',
    ...read,
    resolve: (size: Size) => ({ kind: 'image', query: resolve(size) }),
  };
}

type Options = Map<string, string>;

/** The native meaning of a chain. */
interface TranslatedChain {
  /** For a source that is larger than the box. */
  readonly query: NativeQuery;
  /** The options that Cloudinary ignores as well. */
  readonly ignored: readonly string[];
  /** Returns the query for a source size, or null if it does not depend on the size. */
  readonly resolve: ((size: Size) => NativeQuery) | null;
}

const resizeNames = ['c', 'w', 'h', 'ar', 'g', 'x', 'y'];

/**
 * A transformation's components, which Cloudinary applies in sequence. This service applies all
 * operations in a fixed order, and refuses a chain in another order unless the result is the same.
 */
class Chain {
  readonly #native = new NativeQuery();
  readonly #ignored: string[] = [];
  readonly #host: UrlHost;
  readonly #extension: string | null;
  #preset: string | null = null;
  #format: string | null = null;
  #quality: string | null = null;
  #dpr: string | null = null;
  #crop = false;
  #resize: Resize | null = null;
  #isTurned = false;
  #rotation = 0;
  #background = false;
  #isFiltered = false;

  /** @param extension the format requested by the public id, or null */
  constructor(host: UrlHost, extension: string | null) {
    this.#host = host;
    this.#extension = extension;
  }

  /**
   * Adds a component.
   * @param source provides the default file name of an attachment
   * @throws UrlError parameter_invalid naming an option that has no equivalent
   */
  add(component: string, source: string): void {
    const options = readComponent(component);
    const isGeometry = resizeNames.some((name) => options.has(name));
    this.#addPreset(options);
    if (isGeometry) this.#addGeometry(options);
    this.#addBackground(options, isGeometry);
    this.#addAngle(options.get('a'), isGeometry);
    this.#addFilters(options);
    this.#addDelivery(options, source);
  }

  end(): TranslatedChain {
    const native = this.#native;
    const resize = this.#resize;
    if (this.#preset !== null) {
      // The values of other options depend on those of the preset.
      const isAlone = !this.#crop && resize === null && !this.#isTurned && !this.#isFiltered;
      if (!isAlone || this.#background || this.#dpr !== null) {
        throw optionInvalid(`t_${this.#preset}`, 'may be chained with f, q and fl only');
      }
    }
    const { presets } = this.#host;
    const preset = Object.hasOwn(presets, this.#preset ?? '') ? presets[this.#preset ?? ''] : {};
    const dpr = readNumber('dpr', this.#dpr ?? '1', 0.1, 10);
    if (dpr !== 1 && (resize === null || resize.sides === 0)) {
      throw optionInvalid('dpr', 'needs a resize before it or with it');
    }
    if (preset?.['dpr'] === undefined) native.set('dpr', 'dpr', dpr >= 1 && dpr <= 3 ? dpr : 1);
    if (resize !== null) setResize(native, resize, dpr);
    const format = this.#format ?? this.#extension;
    if (format !== null) native.set('f', 'fmt', format);
    const { isForLarger = false } = resize ?? {};
    if (resize === null || !isForLarger) {
      return { query: native, ignored: this.#ignored, resolve: null };
    }
    if (this.#crop || this.#isTurned) {
      throw optionInvalid('c_lfill', 'has no equivalent with another change of the geometry');
    }
    const resolve = (size: Size) => queryForSize(resize, dpr, size, native);
    return { query: native, ignored: this.#ignored, resolve };
  }

  #addPreset(options: Options): void {
    const name = options.get('t');
    if (name === undefined) return;
    if (this.#preset !== null) throw optionInvalid('t', 'is given more than once');
    this.#preset = name;
    this.#native.set('t', 'preset', name);
  }

  #addGeometry(options: Options): void {
    if (options.get('c') === 'crop') return this.#addCrop(options);
    const sized = ['c', 'w', 'h', 'ar'].some((name) => options.has(name));
    const gravity = options.get('g');
    if (!sized) {
      // Resize options need a crop.
      this.#ignored.push(...resizeNames.filter((name) => options.has(name)));
      return;
    }
    for (const name of ['x', 'y'])
      if (options.has(name)) throw noEquivalent(`${name}_ without c_crop`);
    if (this.#resize !== null) throw optionInvalid('c', 'is given for more than one resize');
    const resize = readResize(options);
    this.#resize = resize;
    if (gravity === undefined) return;
    if (resize.isPlaced) resize.position = readGravity(gravity);
    else this.#ignored.push('g');
    if (resize.fit === 'contain' && resize.position === 'attention') throw noEquivalent('g_auto');
  }

  /** A source area in pixels, because all other areas depend on the source size. */
  #addCrop(options: Options): void {
    if (this.#crop || this.#resize !== null || this.#isTurned) {
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
    this.#native.set('c_crop', 'crop', area.join(','));
    this.#crop = true;
  }

  /** The background behind transparency and around a padded image. */
  #addBackground(options: Options, isGeometry: boolean): void {
    const isPad = isGeometry && options.get('c') === 'pad';
    const colour = options.get('b');
    if (isPad && (this.#isFiltered || (this.#background && colour === undefined))) {
      throw optionInvalid('c_pad', 'must come before effects and backgrounds');
    }
    if (colour === undefined) return;
    if (this.#isFiltered || options.has('e') || options.has('o')) {
      throw optionInvalid('b', 'must come before effects and opacity');
    }
    if (this.#background) throw optionInvalid('b', 'is given more than once');
    this.#background = true;
    this.#native.set('b', 'bg', readColour(colour));
    this.#native.set('b', 'flatten', true);
  }

  /** This service mirrors, rotates, and then resizes. */
  #addAngle(text: string | undefined, isGeometry: boolean): void {
    if (text === undefined) return;
    const resize = this.#resize;
    // A symmetric resize keeps or adds equal parts on both sides.
    const isSymmetric = resize === null || resize.position === null || resize.position === 'center';
    for (const word of text.split('.', 10)) {
      const isFlip = word === 'hflip' || word === 'vflip';
      if (!isFlip && !/^-?\d{1,3}$/.test(word)) throw noEquivalent(`a_${word}`);
      const degrees = isFlip ? 0 : Number(word) % 360;
      if (!isFlip && degrees === 0) continue;
      const isMisplaced = isFlip
        ? !isSymmetric || this.#rotation % 180 !== 0
        : resize !== null || isGeometry;
      if (isMisplaced) {
        throw optionInvalid(`a_${word}`, 'has no equivalent at this place of the chain');
      }
      this.#isTurned = true;
      if (isFlip) this.#mirror(word === 'hflip' ? 'flop' : 'flip');
      else {
        this.#rotation += degrees;
        this.#native.set('a', 'rotate', this.#rotation % 360);
      }
    }
  }

  #mirror(name: 'flop' | 'flip'): void {
    const isMirrored = this.#native.has(name);
    if (isMirrored) this.#native.delete(name);
    else this.#native.set('a', name, true);
  }

  #addFilters(options: Options): void {
    const effect = options.get('e');
    if (effect !== undefined) {
      if (effect !== 'grayscale' && effect !== 'negate') throw noEquivalent(`e_${effect}`);
      this.#isFiltered = true;
      const isRepeated = effect === 'negate' && this.#native.has('negate');
      if (isRepeated) throw optionInvalid('e_negate', 'is given more than once');
      const hasBars = this.#resize?.fit === 'contain' && !this.#background;
      if (hasBars && effect === 'negate') throw optionInvalid('e_negate', 'after c_pad needs b');
      this.#native.set(`e_${effect}`, effect, true);
    }
    const opacity = options.get('o');
    if (opacity === undefined) return;
    if (this.#native.has('opacity')) throw optionInvalid('o', 'is given more than once');
    this.#isFiltered = true;
    this.#native.set('o', 'opacity', readNumber('o', opacity, 0, 100) / 100);
  }

  #addDelivery(options: Options, source: string): void {
    const native = this.#native;
    const once = (name: string, before: string | null): string | null => {
      const value = options.get(name);
      if (value === undefined) return before;
      if (before !== null) throw optionInvalid(name, 'is given more than once');
      return value;
    };
    this.#dpr = once('dpr', this.#dpr);
    this.#quality = once('q', this.#quality);
    if (options.has('q')) this.#setQuality(this.#quality ?? '');
    const format = options.get('f');
    if (format !== undefined) {
      const native = format === 'auto' ? 'auto' : toFormat(format);
      if (native === null) throw noEquivalent(`f_${format}`);
      if (this.#format !== null) throw optionInvalid('f', 'is given more than once');
      this.#format = native;
    }
    const page = options.get('pg');
    if (page !== undefined) native.set('pg', 'page', readInteger('pg', page, 1, 100_000) - 1);
    const space = options.get('cs') ?? 'srgb';
    if (space !== 'srgb') throw noEquivalent(`cs_${space}`);
    for (const flag of options.get('fl')?.split('.', 20) ?? []) this.#setFlag(flag, source);
  }

  #setQuality(quality: string): void {
    // Cloudinary's default level of `auto` is `good`.
    if (quality === 'auto' || quality === 'auto:good') this.#native.set('q', 'q', 'auto');
    else if (/^\d{1,3}$/.test(quality)) this.#native.set('q', 'q', Number(quality));
    else throw noEquivalent(`q_${quality}`);
  }

  #setFlag(flag: string, source: string): void {
    const [name = '', ...given] = flag.split(':');
    if (name === 'attachment') {
      const file = source.replace(/^.*\//s, '').replace(/\.[A-Za-z0-9]{1,5}$/, '');
      this.#native.set('fl_attachment', 'download', given.join(':') || file);
    } else if (flag === 'keep_attribution') this.#native.set('fl', 'keep', 'copyright');
    // The first flag changes no pixel, and animations stay animated here.
    else if (!['progressive', 'animated', 'awebp'].includes(flag)) throw noEquivalent(`fl_${flag}`);
  }
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
function readComponent(component: string): Map<string, string> {
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

/** Returns this service's name for a Cloudinary format, or null for formats that it lacks. */
const toFormat = (name: string): string | null =>
  (Object.hasOwn(formats, name) && formats[name]) || null;

/** Returns the format requested by the public id's extension, or null. */
function readFormat(source: string): string | null {
  const [, extension = ''] = /\.([A-Za-z0-9]{1,5})$/.exec(source) ?? [];
  return toFormat(extension.toLowerCase());
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

/** @throws UrlError parameter_invalid if a gravity has no equivalent */
function readGravity(text: string): string {
  const gravity = Object.hasOwn(gravities, text) ? gravities[text] : undefined;
  if (gravity === undefined) throw noEquivalent(`g_${text}`);
  return gravity;
}

/** Reads a colour name, or hexadecimal digits after `rgb:` or `#`. */
function readColour(text: string): string {
  const [, digits = text] = /^(?:rgb:|#)([0-9a-f]+)$/i.exec(text) ?? [];
  if (/^(?:auto|blurred|gen_fill|predominant)\b/.test(text)) throw noEquivalent(`b_${text}`);
  return digits;
}

const maxSide = 10_000;

interface Mode {
  readonly fit: string;
  readonly isEnlarged: boolean;
  /** Whether gravity affects the mode. */
  readonly isPlaced: boolean;
  /** Whether a ratio can replace a side. */
  readonly hasRatio: boolean;
}

const modes: Readonly<Record<string, Mode>> = {
  scale: { fit: 'fill', isEnlarged: true, isPlaced: false, hasRatio: true },
  fit: { fit: 'inside', isEnlarged: true, isPlaced: false, hasRatio: false },
  limit: { fit: 'inside', isEnlarged: false, isPlaced: false, hasRatio: false },
  fill: { fit: 'cover', isEnlarged: true, isPlaced: true, hasRatio: true },
  lfill: { fit: 'cover', isEnlarged: false, isPlaced: true, hasRatio: false },
  pad: { fit: 'contain', isEnlarged: true, isPlaced: true, hasRatio: true },
};

/** A resize of a chain. */
interface Resize extends Mode {
  readonly w: number | null;
  readonly h: number | null;
  /** The number of given sides. */
  readonly sides: number;
  readonly ratio: string | number | null;
  position: string | null;
  /** Whether sources smaller than the box keep their size. */
  readonly isForLarger: boolean;
}

/** @throws UrlError parameter_invalid */
function readResize(options: ReadonlyMap<string, string>): Resize {
  const c = options.get('c') ?? 'scale';
  const mode = Object.hasOwn(modes, c) ? modes[c] : undefined;
  if (mode === undefined) throw noEquivalent(`c_${c}`);
  const w = readSide(options, 'w');
  const h = readSide(options, 'h');
  const sides = [w, h].filter((side) => side !== null).length;
  const ratio = readAspect(options.get('ar'));
  if (ratio !== null && (!mode.hasRatio || sides === 2 || (sides === 0 && c !== 'fill'))) {
    throw optionInvalid('ar', `has no equivalent with these sides and c_${c}`);
  }
  if (ratio === null && sides === 0) throw optionInvalid(`c_${c}`, 'needs w or h');
  const isForLarger = c === 'lfill' && sides === 2;
  return { ...mode, w, h, sides, ratio, position: null, isForLarger };
}

/**
 * Reads a side in pixels. Refuses decimals, which are relative to the source, and words, which
 * depend on its size or on client hints.
 */
function readSide(options: ReadonlyMap<string, string>, name: 'w' | 'h'): number | null {
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

/**
 * Returns the query of a resize with no effect on smaller sources.
 * @param larger the query for a larger source
 * @throws UrlError parameter_invalid for a source that is larger in one direction only
 */
function queryForSize(
  { w, h }: Resize,
  dpr: number,
  { width, height }: Size,
  larger: NativeQuery,
): NativeQuery {
  const [isWider, isHigher] = [width >= (w ?? 0) * dpr, height >= (h ?? 0) * dpr];
  if (isWider && isHigher) return larger;
  if (isWider || isHigher) {
    throw optionInvalid(
      'c_lfill',
      'has no equivalent for a source that is larger on one side only',
    );
  }
  const kept = new NativeQuery(larger);
  for (const name of ['w', 'h', 'fit', 'pos']) kept.delete(name);
  kept.set('dpr', 'dpr', 1);
  return kept;
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

/** The URLs of Cloudinary images. */
export const cloudinary: UrlDialect = { title: 'Cloudinary', translate, readSignature };
