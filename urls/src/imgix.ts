import { createHash } from 'node:crypto';
import {
  decodeSource,
  parseQuery,
  readExpiry,
  readInteger,
  readNumber,
  readRatio,
  sideGravities,
  withBothSlashes,
} from './read.ts';
import {
  NativeQuery,
  noEquivalent,
  optionInvalid,
  type Source,
  type Translation,
  type UrlDialect,
  type UrlSignature,
} from './translation.ts';

/** Short names of parameters with an equivalent. */
const aliases: Readonly<Record<string, string>> = {
  width: 'w',
  height: 'h',
  f: 'fit',
  fillcolor: 'fill-color',
  inv: 'invert',
  'jpeg-progressive': 'jpg-progressive',
};

/** Parameters with an equivalent for at least some values. */
const understood = new Set(
  `ar auto bg chromasub crop cs dl dpr expires fill fill-color fit flip fm fp-x fp-y fp-z frame h invert
  jpg-progressive lossless page q rect sat w`.split(/\s+/),
);

/** Library parameters, which imgix ignores in images, and the signature. */
const silent = new Set(['ixlib', 'ixid', 's']);

/** The Rendering API's other parameters, with their short names. */
const foreign = new Set(
  `annotation b ba balph bc bf bh blur bm bp bri bs bw bx by ch colorquant colors con corner-radius dpi duotone
  duotone-alpha exp faceindex facepad faces fp-debug fps gam high htn hue interval iptc license-plate-blur loop lp-blur m
  ma malph mask mask-bg maskbg max-h max-height max-w max-width mb mf mh min-h min-height min-w min-width mono
  monochrome mp ms mtile mw mx my nr nrs or orient pad palette pdf-annotation prefix px rasterize-bypass reverse rot
  rot-type rott rottype sepia shad sharp skip svg-sanitize t ta tc tcl tf tl tp transparency trim tsh tsz tt txt
  upscale upscale-fallback usm usmrad vib`.split(/\s+/),
);
const foreignPrefix =
  /^(?:bg-re|background-re|blend|border|face-|fill-|gif-|grid-|mark|object-removal-|pad-|trim|txt|video-)/;

/** Adjustments without effect at 0. */
const adjustments = new Set(
  'blur bri con exp gam high htn hue pad px rot sepia shad sharp usm vib'.split(' '),
);

const isForeign = (name: string): boolean => foreign.has(name) || foreignPrefix.test(name);

/** Maximum length of a base64url value, in a parameter with a name ending in 64. */
const maxEncodedLength = 2_000;

function decoded(name: string, text: string): string {
  const isEncoded = text.length <= maxEncodedLength && /^[\w-]*={0,2}$/.test(text);
  if (!isEncoded) {
    throw optionInvalid(name, `must be at most ${maxEncodedLength} characters of base64url`);
  }
  return Buffer.from(text, 'base64url').toString('utf8');
}

/** The parameters of an imgix URL by long name. Each can be taken once. */
class ImgixQuery {
  readonly #given = new Map<string, string>();
  readonly #unknown = new Set<string>();

  /**
   * @throws UrlError parameter_invalid naming a parameter that has no equivalent, or is
   *   repeated
   */
  constructor(query: string) {
    for (const [name, value] of parseQuery(query)) this.#add(name, value);
  }

  #add(spelling: string, value: string): void {
    const isEncoded = spelling.endsWith('64') && !silent.has(spelling);
    const written = isEncoded ? spelling.slice(0, -2) : spelling;
    const name = (Object.hasOwn(aliases, written) && aliases[written]) || written;
    if (silent.has(name)) {
      if (name === 's' && this.#given.has('s')) throw optionInvalid('s', 'is given more than once');
      if (name === 's') this.#given.set('s', '');
      return;
    }
    if (!understood.has(name)) {
      if (adjustments.has(name) && value === '0') return;
      if (isForeign(name)) throw noEquivalent(spelling);
      this.#unknown.add(spelling);
      return;
    }
    const text = isEncoded ? decoded(spelling, value) : value;
    const before = this.#given.get(name);
    // Only `auto` can be repeated.
    if (before !== undefined && name !== 'auto')
      throw optionInvalid(name, 'is given more than once');
    this.#given.set(name, before === undefined ? text : `${before},${text}`);
  }

  /** Returns a parameter's value, and removes it from the ignored parameters. */
  take(name: string): string | undefined {
    const value = this.#given.get(name);
    this.#given.delete(name);
    return value;
  }

  /** @throws UrlError parameter_invalid if the value is not a flag */
  takeFlag(name: string): boolean | undefined {
    const text = this.take(name);
    if (text === undefined) return undefined;
    if (text === 'true' || text === '1') return true;
    if (text === 'false' || text === '0') return false;
    throw optionInvalid(name, 'must be true or false');
  }

  /** Returns the parameters that were not taken, and those that imgix does not support. */
  ignored(): string[] {
    return [...this.#given.keys(), ...this.#unknown].filter((name) => name !== 's');
  }
}

function translate(path: string, query: string): Translation {
  const options = new ImgixQuery(query);
  const native = new NativeQuery();
  setSize(native, options);
  setFormat(native, options);
  setColours(native, options);
  setOthers(native, options);
  const expires = options.take('expires');
  if (expires !== undefined) native.set('expires', 'exp', readExpiry('expires', expires));
  return { kind: 'image', source: readSource(path), query: native, ignored: options.ignored() };
}

/** Reads a path below the host's base, or the encoded URL of a web proxy source. */
function readSource(path: string): Source {
  if (!/^\/https?(?::|%3a)/i.test(path)) return { path };
  return { url: withBothSlashes(decodeSource(path.slice(1))) };
}

const formats: Readonly<Record<string, string>> = {
  jpg: 'jpeg',
  pjpg: 'jpeg',
  png: 'png',
  png32: 'png',
  webp: 'webp',
  avif: 'avif',
  gif: 'gif',
};

function setFormat(native: NativeQuery, options: ImgixQuery): void {
  const auto = new Set(options.take('auto')?.split(','));
  for (const word of auto) {
    if (word !== 'format' && word !== 'compress') throw noEquivalent(`auto=${word}`);
  }
  const fm = options.take('fm');
  if (fm !== undefined) {
    const format = Object.hasOwn(formats, fm) ? formats[fm] : undefined;
    if (format === undefined) throw noEquivalent(`fm=${fm}`);
    if (auto.size > 0) throw optionInvalid('fm', 'with auto has no equivalent here');
    native.set('fm', 'fmt', format);
  }
  if (auto.has('format')) native.set('auto', 'fmt', 'auto');
  else if (auto.has('compress')) throw noEquivalent('auto=compress without format');

  const q = options.take('q');
  // imgix qualities start at 0.
  if (q !== undefined) native.set('q', 'q', Math.max(1, readInteger('q', q, 0, 100)));
  else if (auto.has('compress')) native.set('auto', 'q', 45);

  // This flag changes no pixel.
  options.takeFlag('jpg-progressive');
  // Other formats ignore `lossless`.
  if (fm === 'webp' && options.takeFlag('lossless')) native.set('lossless', 'lossless', true);
}

function setColours(native: NativeQuery, options: ImgixQuery): void {
  if (options.takeFlag('invert')) native.set('invert', 'negate', true);
  const sat = options.take('sat') ?? '0';
  if (sat === '-100') native.set('sat', 'grayscale', true);
  else if (Number(sat) !== 0) throw optionInvalid('sat', 'has no equivalent here except -100');
  const space = options.take('cs') ?? 'srgb';
  if (space === 'origin') native.set('cs', 'icc', 'keep');
  else if (space !== 'srgb' && space !== 'tinysrgb') throw noEquivalent(`cs=${space}`);
  const subsampling = options.take('chromasub') ?? '420';
  if (subsampling !== '420') throw noEquivalent(`chromasub=${subsampling}`);
}

function setOthers(native: NativeQuery, options: ImgixQuery): void {
  const page = options.take('page');
  const frame = options.take('frame');
  if (page !== undefined && frame !== undefined) throw optionInvalid('page', 'excludes frame');
  const name = page === undefined ? 'frame' : 'page';
  const text = page ?? frame;
  if (text !== undefined) native.set(name, 'page', readInteger(name, text, 1, 100_000) - 1);
  const file = options.take('dl');
  // The output format determines the extension.
  if (file !== undefined) native.set('dl', 'download', file.replace(/\.[A-Za-z0-9]{1,5}$/, ''));
}

/** Maximum side that imgix delivers, in pixels. */
const maxSide = 8_192;

/** This service's fit, and the value of `enlarge`. */
const fits: Readonly<Record<string, readonly [fit: string, enlarge: boolean | 'box']>> = {
  clip: ['inside', true],
  crop: ['cover', true],
  fill: ['contain', true],
  fillmax: ['contain', 'box'],
  max: ['inside', false],
  min: ['cover', false],
  scale: ['fill', true],
};

interface Box {
  readonly w: number | null;
  readonly h: number | null;
  readonly fit: string;
  /** Whether both sides are known, so that the image is cropped, padded or distorted. */
  readonly hasBoth: boolean;
}

function setSize(native: NativeQuery, options: ImgixQuery): void {
  setArea(native, options);
  const box = readBox(native, options);
  const flip = options.take('flip');
  if (flip !== undefined) native.setFlip('flip', flip);
  setBackground(native, options, box);
  if (box.fit !== 'crop') return;
  const isPlaced = setPlace(native, options, box);
  if (isPlaced && flip !== undefined)
    throw optionInvalid('flip', 'with crop has no equivalent here');
}

/**
 * Sets the source area. Fractions and words depend on the source size, except those for the top
 * left.
 */
function setArea(native: NativeQuery, options: ImgixQuery): void {
  const rect = options.take('rect');
  if (rect === undefined) return;
  const [x = '', y = '', ...sides] = rect.split(',', 5);
  const parts = [x === 'left' ? '0' : x, y === 'top' ? '0' : y, ...sides];
  if (parts.length !== 4 || !parts.every((part) => /^\d{1,6}$/.test(part))) {
    throw optionInvalid('rect', 'must be x,y,w,h in whole pixels');
  }
  native.set('rect', 'crop', parts.map(Number).join(','));
}

function readBox(native: NativeQuery, options: ImgixQuery): Box {
  const fit = options.take('fit') ?? 'clip';
  const found = Object.hasOwn(fits, fit) ? fits[fit] : undefined;
  if (found === undefined) throw noEquivalent(`fit=${fit}`);
  const [word, enlarge] = found;
  const isBoxKept = enlarge === 'box';
  const [w, h] = readSides(native, options, isBoxKept);
  if (isBoxKept && (w === null || h === null)) {
    throw optionInvalid('fit=fillmax', 'needs w and h here');
  }
  // imgix ignores the ratio for other fits.
  const ar = fit === 'crop' || fit === 'fill' ? options.take('ar') : undefined;
  const ratio = ar === undefined ? null : readRatio('ar', ar);
  if (ratio !== null && w !== null && h !== null) {
    throw optionInvalid('ar', 'with w and h has no equivalent here');
  }
  if (ratio !== null && fit === 'fill' && w === null && h === null) {
    throw optionInvalid('ar', 'with fit=fill needs w or h');
  }
  if (ratio !== null) native.set('ar', 'ar', ratio);
  if (enlarge !== false && (w !== null || h !== null)) native.set('fit', 'enlarge', enlarge);
  const hasBoth = ratio !== null || (w !== null && h !== null);
  if (hasBoth) native.set('fit', 'fit', word);
  return { w, h, fit, hasBoth };
}

/**
 * Sets the sides and the pixel ratio, which can exceed this service's limits.
 * @param isBoxKept whether the box keeps the ratio's pixels even if the image lacks them
 */
function readSides(
  native: NativeQuery,
  options: ImgixQuery,
  isBoxKept: boolean,
): [w: number | null, h: number | null] {
  const dpr = readNumber('dpr', options.take('dpr') ?? '1', 0.1, 5);
  const isRatio = dpr >= 1 && dpr <= 3 && !isBoxKept;
  const read = (name: 'w' | 'h'): number | null => {
    const text = options.take(name);
    if (text === undefined) return null;
    const side = readInteger(name, text, 2, maxSide);
    const pixels = Math.max(1, Math.round(side * dpr));
    if (pixels > maxSide) throw optionInvalid(name, `with dpr must be at most ${maxSide}`);
    native.set(name, name, isRatio ? side : pixels);
    return side;
  };
  const [w, h] = [read('w'), read('h')];
  const hasSide = w !== null || h !== null;
  native.set('dpr', 'dpr', isRatio && hasSide ? dpr : 1);
  return [w, h];
}

/** Moves the alpha from the start of a colour to its end. */
function colour(text: string): string {
  const [, alpha, rest] = /^([0-9a-f])([0-9a-f]{3})$/i.exec(text) ?? [];
  if (alpha !== undefined) return `${rest}${alpha}`;
  const [, alphas, digits] = /^([0-9a-f]{2})([0-9a-f]{6})$/i.exec(text) ?? [];
  return alphas === undefined ? text : `${digits}${alphas}`;
}

const isTranslucent = (text: string): boolean =>
  /^(?:[0-9a-e][0-9a-f]{3}|(?!ff)[0-9a-f]{2}[0-9a-f]{6})$/i.test(text);

function setBackground(native: NativeQuery, options: ImgixQuery, { fit, hasBoth }: Box): void {
  const bg = options.take('bg');
  if (fit === 'fill' || fit === 'fillmax') {
    const fill = options.take('fill');
    if (fill !== undefined && fill !== 'solid') throw noEquivalent(`fill=${fill}`);
    // Only solid fills use a fill colour.
    const fillColour = fill === undefined ? undefined : options.take('fill-color');
    if (bg !== undefined && hasBoth) {
      throw optionInvalid('bg', `with fit=${fit} has no equivalent here; use fill-color`);
    }
    if (fillColour !== undefined && hasBoth) native.set('fill-color', 'bg', colour(fillColour));
  }
  if (bg === undefined) return;
  if (isTranslucent(bg)) throw optionInvalid('bg', 'must be opaque');
  native.set('bg', 'bg', colour(bg));
  native.set('bg', 'flatten', true);
}

/** @returns whether the crop keeps a part other than the middle */
function setPlace(native: NativeQuery, options: ImgixQuery, { hasBoth }: Box): boolean {
  const crop = options.take('crop');
  if (crop === undefined || !hasBoth) return false;
  if (crop === 'focalpoint') return setFocalPoint(native, options);
  if (crop === 'entropy') {
    native.set('crop', 'pos', 'entropy');
    return true;
  }
  const words = new Set(crop.split(',', 5));
  const side = (first: string, other: string): string => {
    if (words.has(first) && words.has(other)) throw noEquivalent(`crop=${crop}`);
    const word = words.has(first) ? first : words.has(other) ? other : '';
    return sideGravities[word] ?? '';
  };
  const position = `${side('top', 'bottom')}${side('left', 'right')}`;
  for (const word of words) {
    if (!Object.hasOwn(sideGravities, word) && word !== 'center')
      throw noEquivalent(`crop=${crop}`);
  }
  if (position === '') return false;
  native.set('crop', 'pos', position);
  return true;
}

function setFocalPoint(native: NativeQuery, options: ImgixQuery): boolean {
  const fraction = (name: string) =>
    Number(readNumber(name, options.take(name) ?? '0.5', 0, 1).toFixed(6));
  const [x, y] = [fraction('fp-x'), fraction('fp-y')];
  if (readNumber('fp-z', options.take('fp-z') ?? '1', 1, 100) !== 1) throw noEquivalent('fp-z');
  native.set('crop', 'fp', `${x},${y}`);
  return true;
}

/** Returns the signature of the secret, the path and the preceding query, in hexadecimal digits. */
export function imgixSignature(secret: string, path: string, query: string): string {
  const text = `${secret}${path}${query === '' ? '' : `?${query}`}`;
  return createHash('md5').update(text).digest('hex');
}

function readSignature(path: string, query: string): UrlSignature | null {
  const pairs = query.split('&');
  const signature = pairs.find((pair) => pair === 's' || pair.startsWith('s='));
  if (signature === undefined) return null;
  const signed = pairs.filter((pair) => pair !== signature).join('&');
  return {
    text: signature.slice(2),
    expected: ({ secret }) => [imgixSignature(secret, path, signed)],
  };
}

/** The URLs of imgix's Rendering API. */
export const imgix: UrlDialect = { title: 'imgix', translate, readSignature };
