import { createHash } from 'node:crypto';
import {
  decodeSource,
  isAbsolute,
  lookUp,
  parseQuery,
  readInteger,
  readNumber,
  readRatio,
  sideGravities,
  withBothSlashes,
} from './read.ts';
import {
  addOverlay,
  choice,
  expiry,
  flip,
  integer,
  noEffect,
  only,
  page,
  percent,
  type Row,
  scaled,
  toPercent,
  within,
  withNearest,
} from './rows.ts';
import {
  Faults,
  NativeQuery,
  noEquivalent,
  optionInvalid,
  type Size,
  type Source,
  type SourceSize,
  type Translation,
  translateSized,
  type UrlDialect,
  type UrlHost,
  type UrlSignature,
} from './translation.ts';

/** Short names of parameters with an equivalent. */
const aliases: Readonly<Record<string, string>> = {
  width: 'w',
  height: 'h',
  f: 'fit',
  fillcolor: 'fill-color',
  inv: 'invert',
  mono: 'monochrome',
  orient: 'or',
  maskbg: 'mask-bg',
  'jpeg-progressive': 'jpg-progressive',
};

/** Parameters that depend on each other. */
const dependent = new Set(
  `ar auto bg border border-radius corner-radius crop dpr fill fill-color fit fp-x fp-y fp-z h lossless mask mask-bg
  mark mark-align mark-alpha mark-h mark-pad mark-scale mark-w mark-x mark-y pad pad-bottom pad-left pad-right pad-top rect usm usmrad w`.split(
    /\s+/,
  ),
);

const ofNames = (row: Row, names: string): Readonly<Record<string, Row>> =>
  Object.fromEntries(names.split(/\s+/).map((name) => [name, row]));

/** Parameters that depend on no other parameter, and those without an equivalent. */
const rows: Readonly<Record<string, Row>> = {
  // The signature, and parameters that change no pixel that visitors see.
  ...ofNames(noEffect, 's ixlib ixid ixsrc colors colorquant iptc svg-sanitize'),
  flip,
  fm: setFormatOption,
  // imgix qualities start at 0.
  q: (native, value, name) => native.set(name, 'q', Math.max(1, readInteger(name, value, 0, 100))),
  'jpg-progressive': (native, value, name) =>
    native.set(name, 'progressive', readFlag(native, value, name) || null),
  chromasub: choice('chroma', { 444: '444', 422: null, 420: '420' }),
  dpi: (native, value, name) =>
    native.set(name, 'density', readInteger(name, value, 0, 10_000) || null),
  invert: (native, value, name) =>
    native.set(name, 'negate', readFlag(native, value, name) || null),
  sat: (native, value, name) => {
    if (value === '-100') native.set(name, 'grayscale', true);
    else percent('saturation')(native, value, name);
  },
  bri: percent('brightness'),
  exp: percent('brightness'),
  vib: scaled('saturation', -100, 100, (value) => 1 + value / 200),
  con: scaled('contrast', -100, 100, (value) => value),
  hue: (native, value, name) => {
    if (value !== '0') integer('hue', 0, 359)(native, value, name);
  },
  sepia: scaled('sepia', 0, 100, (value) => value),
  monochrome: (native, value, name) => native.set(name, 'tint', colour(value)),
  duotone: (native, value, name) =>
    native.set(name, 'duotone', value.split(',', 3).map(colour).join(',')),
  px: scaled('pixelate', 0, 100, within(1, 100, Math.round)),
  // imgix defines no scales: its 10 is a sigma of 1 here.
  blur: scaled(
    'blur',
    0,
    2_000,
    within(0.3, 100, (value) => value / 10),
  ),
  sharp: scaled(
    'sharpen',
    0,
    100,
    within(0.1, 10, (value) => value / 10),
  ),
  or: choice('rotate', {
    0: null,
    1: null,
    90: '90',
    6: '90',
    180: '180',
    3: '180',
    270: '270',
    8: '270',
  }),
  trim: (native, value, name) => {
    if (value !== 'auto') throw noEquivalent(`${name}=${value}`, 'trim=auto');
    native.set(name, 'trim', 10);
  },
  rot: (native, value, name) => {
    const degrees = readNumber(name, value, 0, 360) % 360;
    if (degrees % 180 !== 0)
      throw noEquivalent(`${name}=${value}`, 'or, which turns before the resize');
    native.set(name, 'rotate', degrees || null);
  },
  cs: choice('icc', { origin: 'keep', srgb: null, strip: null, tinysrgb: null }),
  page: setPage,
  frame: setPage,
  // The output format determines the extension.
  dl: (native, value, name) =>
    native.set(name, 'download', value.replace(/\.[A-Za-z0-9]{1,5}$/, '')),
  expires: expiry,
  ...withNearest(
    {
      gam: 'bri',
      high: 'bri',
      htn: 'grayscale',
      shad: 'bri',
    },
    '0',
  ),
  ...withNearest({ 'duotone-alpha': 'duotone without it' }, '100'),
  ...withNearest({
    ch: 'a srcset',
    faceindex: 'crop=faces',
    facepad: 'fit=crop with crop=faces',
    m: 'layer',
    'max-h': 'fit=max',
    'max-height': 'fit=max',
    'max-w': 'fit=max',
    'max-width': 'fit=max',
    'min-h': 'minh',
    'min-height': 'minh',
    'min-w': 'minw',
    'min-width': 'minw',
    palette: 'fmt=json',
    t: 'layer',
    txt: 'layer',
  }),
  ...ofNames(
    only(),
    `annotation b ba balph bc bf bh bm bp bs bw bx by 
    faces fp-debug fps interval license-plate-blur loop lp-blur ma malph
    mb mf mh mp ms mtile mw mx my nr nrs
    pdf-annotation prefix rasterize-bypass reverse
    rot-type rott rottype skip ta tc tcl tf tl tp transparency tsh tsz tt upscale
    upscale-fallback`,
  ),
};

/** The other names of the Rendering API. */
const foreignPrefix =
  /^(?:bg-re|background-re|blend|border|face-|fill-|gif-|grid-|mark|object-removal-|pad-|trim|txt|video-)/;

function readFlag(_: NativeQuery, text: string, name: string): boolean {
  if (text === 'true' || text === '1') return true;
  if (text === 'false' || text === '0') return false;
  throw optionInvalid(name, 'must be true or false');
}

/** The places that an area's words stand for, as shares of the rest of the source. */
const areaPlaces: Readonly<Record<string, number>> = {
  left: 0,
  top: 0,
  center: 0.5,
  middle: 0.5,
  right: 1,
  bottom: 1,
};

/** Sets the source area, in pixels, or as shares of the source's sides if it has a point. */
function setArea(native: NativeQuery, options: Options, size: SourceSize): void {
  const rect = take(options, 'rect');
  if (rect === undefined) return;
  const parts = rect.split(',', 5);
  if (parts.length !== 4) throw optionInvalid('rect', 'must be x,y,w,h');
  const [x = '', y = '', w = '', h = ''] = parts;
  const width = toPixels('rect', w, size, 'width');
  const height = toPixels('rect', h, size, 'height');
  const start = (text: string, side: keyof Size, kept: number): number => {
    const share = lookUp(areaPlaces, text);
    if (share === undefined) return toPixels('rect', text, size, side);
    return share === 0 ? 0 : Math.max(0, Math.round((size.get()[side] - kept) * share));
  };
  const [left, top] = [start(x, 'width', width), start(y, 'height', height)];
  native.set('rect', 'crop', [left, top, width, height].join(','));
}

/** Returns a length in pixels. @param text a share of the source's side if it has a point */
function toPixels(option: string, text: string, size: SourceSize, side: keyof Size): number {
  const value = readNumber(option, text, 0, 100_000);
  return text.includes('.') && value <= 1
    ? Math.round(value * size.get()[side])
    : readInteger(option, text, 0, 100_000);
}

const readFormat = choice('fmt', {
  jpg: 'jpeg',
  pjpg: 'jpeg',
  png: 'png',
  png8: 'png',
  png32: 'png',
  webp: 'webp',
  avif: 'avif',
  gif: 'gif',
});

function setFormatOption(native: NativeQuery, value: string, name: string): void {
  readFormat(native, value, name);
  if (value === 'pjpg') native.set(name, 'progressive', true);
}

function setPage(native: NativeQuery, value: string, name: string): void {
  if (native.has('page')) throw optionInvalid('page', 'excludes frame');
  page(native, value, name);
}

function translate(path: string, query: string, host: UrlHost): Translation {
  return translateSized(readSource(path), [], (size) => {
    const native = new NativeQuery();
    const { options, unknown } = readOptions(query, native);
    const faults = new Faults();
    faults.collect(() => setArea(native, options, size));
    faults.collect(() => setSize(native, options, size));
    faults.collect(() => setFormat(native, options));
    faults.collect(() => setCorners(native, options));
    faults.collect(() => setUnsharpMask(native, options));
    faults.collect(() => setMark(native, options, host));
    faults.throwAny();
    // An option that nothing has taken has no effect in imgix either.
    return { query: native, ignored: [...options.keys(), ...unknown] };
  });
}

/** Reads a path below the host's base, or the encoded URL of a web proxy source. */
function readSource(path: string): Source {
  if (!/^\/https?(?::|%3a)/i.test(path)) return { path };
  return { url: withBothSlashes(decodeSource(path.slice(1))) };
}

/** The dependent options by name. */
type Options = Map<string, string>;

/**
 * Reads the query into rows and dependent options.
 * @throws UrlError parameter_invalid naming a parameter that has no equivalent, or is repeated
 */
function readOptions(query: string, native: NativeQuery) {
  const options: Options = new Map();
  const known = new Set<string>();
  const unknown = new Set<string>();
  const read = (spelling: string, value: string): void => {
    const isEncoded = spelling.endsWith('64');
    const written = isEncoded ? spelling.slice(0, -2) : spelling;
    const name = lookUp(aliases, written) ?? written;
    const row = lookUp(rows, name);
    if (row === undefined && !dependent.has(name)) {
      // The fault of the text names them all.
      const isOfText = name.startsWith('txt-') && names.has('txt');
      if (foreignPrefix.test(name) && !isOfText) throw noEquivalent(spelling);
      unknown.add(spelling);
      return;
    }
    // Only `auto` can be repeated.
    if (known.has(name) && name !== 'auto') throw optionInvalid(name, 'is given more than once');
    known.add(name);
    const text = isEncoded ? decode(spelling, value) : value;
    const before = options.get(name);
    if (row !== undefined) row(native, text, spelling);
    else options.set(name, before === undefined ? text : `${before},${text}`);
  };
  const faults = new Faults();
  const pairs = [...parseQuery(query)];
  const names = new Set(pairs.map(([name]) => name));
  for (const [spelling, value] of pairs) faults.collect(() => read(spelling, value));
  faults.throwAny();
  return { options, unknown };
}

/** Maximum length of a base64url value, in a parameter with a name ending in 64. */
const maxEncodedLength = 2_000;

function decode(name: string, text: string): string {
  const isEncoded = text.length <= maxEncodedLength && /^[\w-]*={0,2}$/.test(text);
  if (!isEncoded) {
    throw optionInvalid(name, `must be at most ${maxEncodedLength} characters of base64url`);
  }
  return Buffer.from(text, 'base64url').toString('utf8');
}

function take(options: Options, name: string): string | undefined {
  const value = options.get(name);
  options.delete(name);
  return value;
}

function setFormat(native: NativeQuery, options: Options): void {
  const auto = new Set(take(options, 'auto')?.split(','));
  for (const word of auto) {
    if (!['format', 'compress', 'enhance'].includes(word)) throw noEquivalent(`auto=${word}`);
  }
  if (auto.has('enhance')) native.set('auto', 'normalize', true);
  // `fm` is for clients that read no better format, which get the source's here.
  if (auto.has('format')) native.set('auto', 'fmt', 'auto');
  if (auto.has('compress') && !native.has('q')) native.set('auto', 'q', 45);
  // Other formats ignore `lossless`.
  const lossless = native.get('fmt') === 'webp' ? take(options, 'lossless') : undefined;
  if (lossless !== undefined && readFlag(native, lossless, 'lossless')) {
    native.set('lossless', 'lossless', true);
  }
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

const nearestFits: Readonly<Record<string, string>> = {
  clamp: 'fit=fill',
  facearea: 'fit=crop with crop=faces',
};

function setSize(native: NativeQuery, options: Options, size: SourceSize): void {
  const fit = take(options, 'fit') ?? 'clip';
  const found = lookUp(fits, fit);
  if (found === undefined) throw noEquivalent(`fit=${fit}`, lookUp(nearestFits, fit));
  const [word, enlarge] = found;
  const isBoxKept = enlarge === 'box';
  const sides = setSides(native, options, size, isBoxKept);
  if (isBoxKept && sides < 2) throw optionInvalid('fit=fillmax', 'needs w and h here');
  // imgix ignores the ratio for other fits.
  const ar = fit === 'crop' || fit === 'fill' ? take(options, 'ar') : undefined;
  if (ar !== undefined) {
    native.set('ar', 'ar', readRatio('ar', ar));
    if (sides === 2) throw optionInvalid('ar', 'with w and h has no equivalent here');
    if (fit === 'fill' && sides === 0) throw optionInvalid('ar', 'with fit=fill needs w or h');
  }
  if (enlarge !== false && sides > 0) native.set('fit', 'enlarge', enlarge);
  // Otherwise, the image is neither cropped nor padded nor distorted.
  const hasBox = ar !== undefined || sides === 2;
  if (hasBox) native.set('fit', 'fit', word);
  setBackground(native, options, fit, hasBox);
  if (fit === 'crop') setPlace(native, options, hasBox);
}

/**
 * Sets the sides and the pixel ratio, which can exceed this service's limits.
 * @param isBoxKept whether the box keeps the ratio's pixels even if the image lacks them
 * @returns the number of sides
 */
function setSides(
  native: NativeQuery,
  options: Options,
  size: SourceSize,
  isBoxKept: boolean,
): number {
  const padding = readPadding(options);
  const dpr = readNumber('dpr', take(options, 'dpr') ?? '1', 0.1, 5);
  const isRatio = dpr >= 1 && dpr <= 3 && !isBoxKept;
  let sides = 0;
  for (const name of ['w', 'h']) {
    const text = take(options, name);
    if (text === undefined) continue;
    const isShare = /^0?\.\d+$/.test(text) || text === '1.0';
    const whole = isShare
      ? Math.max(
          2,
          Math.min(maxSide, toPixels(name, text, size, name === 'w' ? 'width' : 'height')),
        )
      : text;
    const side = readInteger(name, String(whole), 2, maxSide);
    // The padding is a part of the size.
    const [from = 0, to = 0] = padding.filter((_, edge) => edge % 2 === (name === 'w' ? 1 : 0));
    const kept = Math.max(1, side - from - to);
    const pixels = Math.max(1, Math.round(kept * dpr));
    if (pixels > maxSide && !isShare) {
      throw optionInvalid(name, `with dpr must be at most ${maxSide}`);
    }
    native.set(name, name, isRatio ? kept : Math.min(maxSide, pixels));
    sides += 1;
  }
  if (padding.some((edge) => edge > 0)) {
    const factor = isRatio ? 1 : dpr;
    native.set('pad', 'extend', padding.map((edge) => Math.round(edge * factor)).join(','));
  }
  native.set('dpr', 'dpr', isRatio && sides > 0 ? dpr : 1);
  return sides;
}

/** Reads the padding at the top, right, bottom and left, in CSS pixels. */
function readPadding(options: Options): readonly number[] {
  const read = (name: string, otherwise = '0') =>
    readInteger(name, take(options, name) ?? otherwise, 0, 2_000);
  const all = String(read('pad'));
  return ['pad-top', 'pad-right', 'pad-bottom', 'pad-left'].map((name) => read(name, all));
}

/** Rounds the corners of an image that has a border or a mask. */
function setCorners(native: NativeQuery, options: Options): void {
  const border = take(options, 'border');
  if (border !== undefined) {
    const [, width = '', line = ''] = /^(\d{1,4}),([0-9a-f]{3,8})$/i.exec(border) ?? [];
    if (width === '') throw optionInvalid('border', 'must be a width and a colour');
    native.set('border', 'outline', `${width},${colour(line)}`);
    const radius = take(options, 'border-radius');
    if (radius !== undefined) native.set('border-radius', 'radius', radius);
  }
  const mask = take(options, 'mask');
  if (mask === undefined) return;
  const background = take(options, 'mask-bg');
  if (mask !== 'corners' && mask !== 'ellipse') throw noEquivalent('mask', 'mask=corners');
  if (background !== undefined) {
    native.set('mask-bg', 'bg', colour(background));
    native.set('mask-bg', 'flatten', true);
  }
  if (mask === 'ellipse') return native.set('mask', 'radius', 'max');
  const given = take(options, 'corner-radius');
  const [w, h] = ['w', 'h'].map((name) => Number(native.get(name)));
  const shorter = Math.min(w || Number.POSITIVE_INFINITY, h || Number.POSITIVE_INFINITY);
  if (given === undefined && shorter === Number.POSITIVE_INFINITY) {
    throw optionInvalid('mask=corners', 'needs corner-radius, w or h here');
  }
  native.set('corner-radius', 'radius', given ?? Math.round(shorter * 0.2));
}

/** Draws a watermark, at the bottom right unless the URL says where. */
function setMark(native: NativeQuery, options: Options, host: UrlHost): void {
  const mark = take(options, 'mark');
  if (mark === undefined) return;
  const words = (take(options, 'mark-align') ?? 'bottom,right').split(',', 3);
  const side = (...names: readonly string[]) =>
    lookUp(sideGravities, names.find((name) => words.includes(name)) ?? '') ?? '';
  const pad = take(options, 'mark-pad') ?? '10';
  const length = (name: string): string | undefined => {
    const text = take(options, name);
    return text?.includes('.') ? toPercent(readNumber(name, text, 0, 1)) : text;
  };
  const scale = take(options, 'mark-scale');
  addOverlay(native, 'mark', isAbsolute(mark) ? { url: mark } : { path: mark }, host, {
    pos: `${side('top', 'bottom')}${side('left', 'right')}` || 'center',
    w: length('mark-w') ?? (scale === undefined ? undefined : `${scale}%`),
    h: length('mark-h'),
    x: take(options, 'mark-x') ?? pad,
    y: take(options, 'mark-y') ?? pad,
    opacity: take(options, 'mark-alpha'),
  });
}

function setUnsharpMask(native: NativeQuery, options: Options): void {
  const radius = readNumber('usmrad', take(options, 'usmrad') ?? '2.5', 0, 500);
  const amount = readNumber('usm', take(options, 'usm') ?? '0', -100, 100);
  if (amount < 0) throw noEquivalent('usm', 'blur');
  if (amount > 0 && radius > 0) native.set('usm', 'sharpen', Math.min(10, radius));
}

function setBackground(native: NativeQuery, options: Options, fit: string, hasBox: boolean): void {
  const bg = take(options, 'bg');
  if (fit === 'fill' || fit === 'fillmax') {
    const fill = take(options, 'fill');
    if (fill !== undefined && fill !== 'solid' && fill !== 'blur') {
      throw noEquivalent(`fill=${fill}`, 'fill=blur');
    }
    if (fill === 'blur' && hasBox) {
      if (bg !== undefined || native.has('extend') || options.has('mask-bg')) {
        throw optionInvalid('fill=blur', 'with bg, mask-bg or pad has no equivalent here');
      }
      return native.set('fill', 'bg', 'blur');
    }
    // Only solid fills use a fill colour.
    const fillColour = fill === 'solid' ? take(options, 'fill-color') : undefined;
    if (fillColour !== undefined && hasBox) {
      if ((bg ?? fillColour) !== fillColour) {
        throw optionInvalid('fill-color', 'must be the colour of bg here');
      }
      native.set('fill-color', 'bg', colour(fillColour));
    }
  }
  if (bg === undefined) return;
  if (isTranslucent(bg)) throw optionInvalid('bg', 'must be opaque');
  native.set('bg', 'bg', colour(bg));
  native.set('bg', 'flatten', true);
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

/** Faces are found like other interesting parts, and edges like details. */
const smartPlaces: Readonly<Record<string, string>> = {
  faces: 'attention',
  entropy: 'entropy',
  edges: 'entropy',
};

/** Chooses the part that a crop keeps. */
function setPlace(native: NativeQuery, options: Options, hasBox: boolean): void {
  const crop = take(options, 'crop');
  if (crop === undefined || !hasBox) return;
  if (crop === 'focalpoint') setFocalPoint(native, options);
  else {
    const words = new Set(crop.split(',', 5));
    const smart = [...words].map((word) => lookUp(smartPlaces, word)).find(Boolean);
    if (smart !== undefined) return native.set('crop', 'pos', smart);
    const first = (...sides: readonly string[]) => sides.find((side) => words.delete(side)) ?? '';
    const vertical = lookUp(sideGravities, first('top', 'bottom'));
    const horizontal = lookUp(sideGravities, first('left', 'right'));
    words.delete('center');
    if (words.size > 0) throw noEquivalent(`crop=${crop}`);
    native.set('crop', 'pos', `${vertical ?? ''}${horizontal ?? ''}` || null);
  }
  const isMirrored = native.has('flip') || native.has('flop');
  if (isMirrored && (native.has('pos') || native.has('fp'))) {
    throw optionInvalid('flip', 'with crop has no equivalent here');
  }
}

function setFocalPoint(native: NativeQuery, options: Options): void {
  const fraction = (name: string) =>
    Number(readNumber(name, take(options, name) ?? '0.5', 0, 1).toFixed(6));
  native.set('crop', 'fp', `${fraction('fp-x')},${fraction('fp-y')}`);
  const zoom = readNumber('fp-z', take(options, 'fp-z') ?? '1', 1, 100);
  if (zoom !== 1) native.set('fp-z', 'zoom', Math.min(10, zoom));
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
export const imgix: UrlDialect = {
  title: 'imgix',
  form: /^https?:\/\/[^/?#]+\.imgix\.net\//i,
  translate,
  readSignature,
};
