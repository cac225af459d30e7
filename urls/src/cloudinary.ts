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
import { addOverlay, flag, page, type Row, toPercent } from './rows.ts';
import {
  Faults,
  NativeQuery,
  noEquivalent,
  optionInvalid,
  redactedMark,
  type Size,
  type SourceSize,
  sourceInvalid,
  sourceMissing,
  type Translation,
  translateSized,
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
    throw sourceMissing('The host serves images at /image/upload and /image/fetch only.');
  }
  const { type, components, signature, source } = parts;
  if (components.length > maxComponents) {
    throw optionInvalid('The URL', `has more than ${maxComponents} components`);
  }
  const read = (size: SourceSize): Chain => {
    const chain = readChain(components, source, host, size);
    const { native } = chain;
    const extension = type === 'upload' ? readFormat(source) : null;
    if (extension !== null && !native.has('fmt')) native.set('f', 'fmt', extension);
    // The signature does not cover the version: anyone could request each image as many versions.
    if (signature === null && parts.version !== null) native.set('v', 'v', parts.version);
    return chain;
  };
  // Libraries add the parameters with an underscore.
  const others = [...parseQuery(query).keys()].filter((name) => !name.startsWith('_'));
  if (type === 'fetch' && others.length > 0) {
    throw sourceInvalid('The ? of the source URL in the path must be encoded.');
  }
  // One signature would be valid for both.
  if (type === 'upload' && /^https?(?::|%3a)/i.test(source)) {
    throw sourceInvalid('A source URL needs /image/fetch.');
  }
  // The libraries encode the whole fetched URL once, except its colons and slashes.
  const located = type === 'fetch' ? { url: decodeSource(source) } : { path: `/${source}` };
  return translateSized(located, others, (size) => {
    const { native, ignored, usesHints } = read(size);
    return { query: native, ignored, usesHints };
  });
}

/** @throws UrlError naming every option that has no equivalent */
function readChain(
  components: readonly string[],
  source: string,
  host: UrlHost,
  size: SourceSize,
): Chain {
  const chain: Chain = {
    native: new NativeQuery(),
    ignored: [],
    resize: null,
    size,
    usesHints: false,
  };
  const faults = new Faults();
  const read = components.map((component) => readComponent(component, faults));
  for (let at = 0; at < read.length; at += 1) {
    const options = read[at] ?? new Map();
    if (options.has('l')) {
      const end = findLayerEnd(read, at);
      const parts = read.slice(at, end + 1);
      const all = new Map(parts.flatMap((component) => [...component]));
      all.set('fl', parts.map((component) => component.get('fl') ?? '').join('.'));
      faults.collect(() => addLayer(chain, options, all, host));
      at = end;
    } else addComponent(chain, options, source, host, faults);
  }
  // Their checks would repeat the faults of others.
  faults.throwAny();
  finish(chain, host);
  return chain;
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
  readonly size: SourceSize;
  /** Whether client hints set the width or the pixel ratio. */
  usesHints: boolean;
}

/** Sets an option that the chain must contain once at most. */
function setOnce(chain: Chain, option: string, name: string, value: string | number): void {
  if (chain.native.has(name)) throw optionInvalid(option, 'is given more than once');
  chain.native.set(option, name, value);
}

const hasAny = (native: NativeQuery, ...names: readonly string[]): boolean =>
  names.some((name) => native.has(name));

const isTurned = ({ native }: Chain): boolean => hasAny(native, 'rotate', 'flip', 'flop');
const isFiltered = ({ native }: Chain): boolean =>
  hasAny(
    native,
    'brightness',
    'contrast',
    'grayscale',
    'hue',
    'negate',
    'normalize',
    'opacity',
    'saturation',
    'sepia',
    'threshold',
  );

/** Returns an image's size after the chain so far. @throws UrlError parameter_invalid */
function sizeSoFar({ native, size }: Chain, option: string): Size {
  if (hasAny(native, 'trim', 'rotate')) throw noEquivalent(`${option} after e_trim or a`);
  const [, , width, height] = native.get('crop')?.split(',').map(Number) ?? [];
  const whole = size.get();
  return { width: width ?? whole.width, height: height ?? whole.height };
}

/**
 * Adds a component, and collects the faults of options that have no equivalent.
 * @param source provides the default file name of an attachment
 */
function addComponent(
  chain: Chain,
  options: Options,
  source: string,
  host: UrlHost,
  faults: Faults,
): void {
  const effects = options.get('e');
  const [, region] = regionPattern.exec(effects ?? '') ?? [];
  const isGeometry = region === undefined && resizeNames.some((name) => options.has(name));
  const [preset, border, radius, fallback] = ['t', 'bo', 'r', 'd'].map((name) => options.get(name));
  const steps = [
    () => preset !== undefined && setOnce(chain, 't', 'preset', preset),
    () => effects?.startsWith('trim') && addTrim(chain, effects),
    () => isGeometry && addGeometry(chain, options),
    () => addBackground(chain, options),
    () => addAngle(chain, options.get('a') ?? '0', isGeometry),
    () => (region === undefined ? addFilters(chain, options) : addRegion(chain, region, options)),
    () => border !== undefined && addBorder(chain, border),
    () => radius !== undefined && addRadius(chain, radius),
    () => fallback !== undefined && setOnce(chain, 'd', 'fallback', toFallback(fallback, host)),
    () => addDelivery(chain, options, source),
  ];
  for (const step of steps) faults.collect(step);
}

/**
 * Draws a fetched image, or the project's layer with a name, whose fields replace the other options.
 * @param all the options of the components up to that which applies the layer
 */
function addLayer({ native, ignored }: Chain, options: Options, all: Options, host: UrlHost): void {
  const id = options.get('l') ?? '';
  if (id.startsWith('fetch:')) return addFetchedLayer(native, id, all, host);
  const [kind] = /^(?:text|video|subtitles|lut)(?=:)/.exec(id) ?? [];
  if (kind !== undefined) throw noEquivalent(`l_${kind}`, 'l_ with the name of a stored layer');
  const name = id.toLowerCase().replaceAll(/[^a-z0-9_]+/g, '-');
  native.set('l', 'layer', [native.get('layer') ?? [], name].flat().join(','));
  ignored.push(...[...all.keys()].filter((option) => option !== 'l' && option !== 'fl'));
}

function addFetchedLayer(native: NativeQuery, id: string, options: Options, host: UrlHost): void {
  const url = Buffer.from(id.slice('fetch:'.length), 'base64url').toString();
  const other = [...options.keys()].find((name) => !/^(?:c|f|fl|g|h|l|o|q|r|w|x|y)$/.test(name));
  if (other !== undefined) throw noEquivalent(`${other} of a layer`);
  const gravity = lookUp(gravities, options.get('g') ?? 'center');
  if (gravity === undefined || gravity === 'attention') {
    throw noEquivalent(`g_${options.get('g')} of a layer`, 'g_center');
  }
  const side = (name: string): string | undefined => {
    const text = options.get(name);
    if (text === undefined || !text.includes('.')) return text;
    if (!options.get('fl')?.split('.').includes('relative')) {
      throw noEquivalent(`${name}_${text} of a layer`, 'fl_relative');
    }
    return toPercent(readNumber(name, text, 0, 1));
  };
  addOverlay(native, 'l', { url }, host, {
    pos: gravity,
    w: side('w'),
    h: side('h'),
    x: options.get('x'),
    y: options.get('y'),
    opacity: options.get('o'),
    radius: options.get('r'),
  });
}

/** Returns the index of the component that ends a layer: its own, unless a later one applies it. */
function findLayerEnd(components: readonly Options[], start: number): number {
  const next = components.findIndex((options, at) => at > start && options.has('l'));
  const end = components.findIndex(
    (options, at) => at >= start && options.get('fl')?.split('.').includes('layer_apply'),
  );
  return end === -1 || (next !== -1 && next < end) ? start : end;
}

/** Returns the URL of the image that replaces a missing one: its public id has colons for slashes. */
function toFallback(id: string, { base }: UrlHost): string {
  const names = id.split(':');
  if (names.some((name) => /^\.*$/.test(name)))
    throw optionInvalid(`d_${id}`, 'must be a public id');
  return `${base.replace(/\/+$/, '')}/${names.map(encodeURIComponent).join('/')}`;
}

/** A border in one colour, which the native border takes from the background. */
function addBorder(chain: Chain, text: string): void {
  const { native, resize } = chain;
  const [, pixels, colour] = /^(\d{1,4})px_solid_(.+)$/.exec(text) ?? [];
  if (pixels === undefined || colour === undefined)
    throw noEquivalent(`bo_${text}`, 'bo_1px_solid_black');
  if (isTurned(chain) || (resize?.fit === 'contain' && !native.has('bg'))) {
    throw optionInvalid('bo', 'with a or a padding without b has no equivalent here');
  }
  const digits = toColour(colour);
  if ((native.get('bg') ?? digits) !== digits) {
    throw optionInvalid('bo', 'must have the colour of b here');
  }
  setOnce(chain, 'bo', 'extend', Array(4).fill(pixels).join(','));
  native.set('bo', 'bg', digits);
}

/** Rounds the corners of the finished image: one to four radii, as in CSS, or `max`. */
function addRadius(chain: Chain, text: string): void {
  if (isTurned(chain)) throw optionInvalid('r', 'with a has no equivalent here');
  if (!/^(?:max|\d{1,4}(?::\d{1,4}){0,3})$/.test(text)) throw noEquivalent(`r_${text}`, 'r_20');
  const [first = '', second = first, third = first, fourth = second] = text.split(':');
  const isSame = second === first && third === first && fourth === first;
  setOnce(chain, 'r', 'radius', isSame ? first : [first, second, third, fourth].join(','));
}

/** Checks the options of the whole chain, and sets those that depend on each other. */
function finish(chain: Chain, host: UrlHost): void {
  const { native, resize } = chain;
  const preset = native.get('preset') ?? '';
  // The values of other options depend on those of the preset.
  const isChanged = resize !== null || isTurned(chain) || isFiltered(chain);
  if (
    preset !== '' &&
    (isChanged || hasAny(native, 'crop', 'bg', 'blur', 'dpr', 'sharpen', 'trim'))
  ) {
    throw optionInvalid(`t_${preset}`, 'may be chained with d, f, fl, l and q only');
  }
  if (resize?.isAuto) {
    // The width follows the client's hints, in device pixels.
    chain.usesHints = true;
    native.set('dpr', 'dpr', null);
    return setResize(native, resize, 1);
  }
  const hasSides = resize !== null && resize.sides > 0;
  const isAuto = native.get('dpr') === 'auto';
  if (isAuto && hasSides && resize.enlarge !== 'box') {
    chain.usesHints = true;
    return setResize(native, resize, 1);
  }
  const dpr = isAuto ? 1 : readNumber('dpr', native.get('dpr') ?? '1', 0.1, 10);
  if (dpr !== 1 && !hasSides) {
    throw optionInvalid('dpr', 'needs a resize before it or with it');
  }
  const isOfPreset = lookUp(host.presets, preset)?.['dpr'] !== undefined;
  native.set('dpr', 'dpr', isOfPreset ? null : isNativeRatio(dpr, resize) ? dpr : 1);
  if (resize !== null) setResize(native, resize, dpr);
}

/** Returns whether the native ratio has the same effect: a kept box has the ratio's pixels always. */
const isNativeRatio = (dpr: number, resize: Resize | null): boolean =>
  dpr >= 1 && dpr <= 3 && resize?.enlarge !== 'box';

const resizeNames = ['c', 'w', 'h', 'ar', 'g', 'x', 'y'];

function addGeometry(chain: Chain, options: Options): void {
  if (options.get('c') === 'crop') return addCrop(chain, options);
  if (!['c', 'w', 'h', 'ar'].some((name) => options.has(name))) {
    // Gravity and offsets need a crop.
    chain.ignored.push(...resizeNames.filter((name) => options.has(name)));
    return;
  }
  if (chain.resize !== null) throw optionInvalid('c', 'is given for more than one resize');
  if (hasAny(chain.native, 'blur', 'extend', 'pixelate', 'radius', 'sharpen')) {
    throw optionInvalid('c', 'must come before bo, r, e_blur, e_pixelate and e_sharpen');
  }
  const resize = readResize(chain, options);
  if (resize === null) return;
  if (resize.fit === 'contain') requirePadFirst(chain, options);
  chain.resize = resize;
  if (options.has('g') && !isPlaced(resize.fit)) chain.ignored.push('g');
}

function requirePadFirst(chain: Chain, options: Options): void {
  if (isFiltered(chain) || (chain.native.has('bg') && !options.has('b'))) {
    throw optionInvalid('c_pad', 'must come before effects and backgrounds');
  }
}

/** Sets a source area, which depends on the source size unless it is in pixels from the top left. */
function addCrop(chain: Chain, options: Options): void {
  const { native, resize } = chain;
  if (hasAny(native, 'crop', 'trim') || resize !== null || isTurned(chain)) {
    throw optionInvalid('c_crop', 'must be the first change of the geometry');
  }
  if (options.has('dpr')) throw noEquivalent('c_crop with dpr');
  const [x, y, w, h, ar] = ['x', 'y', 'w', 'h', 'ar'].map((name) => options.get(name));
  const hasOffset = x !== undefined || y !== undefined;
  const gravity = options.get('g') ?? (hasOffset ? 'north_west' : 'center');
  const position = lookUp(gravities, gravity);
  if (position === undefined || position === 'attention') {
    throw noEquivalent(`c_crop with g_${gravity}`, 'c_fill');
  }
  const isWhole = [x ?? '0', y ?? '0', w, h].every((text) => /^\d+$/.test(text ?? ''));
  if (gravity === 'north_west' && isWhole) {
    const area = [x ?? '0', y ?? '0', w ?? '', h ?? ''];
    return native.set('c_crop', 'crop', area.map(Number).join(','));
  }
  const whole = sizeSoFar(chain, 'c_crop');
  let [width, height] = [toPixels('w', w, whole.width), toPixels('h', h, whole.height)];
  if (ar !== undefined) {
    const ratio = toQuotient(readAspect(ar));
    if (w === undefined) width = Math.min(width, Math.round(height * ratio));
    if (h === undefined) height = Math.min(height, Math.round(width / ratio));
  }
  const axes = [
    ['x', whole.width, width, x, 'west', 'east'],
    ['y', whole.height, height, y, 'north', 'south'],
  ] as const;
  const [left, top] = axes.map(([name, side, kept, offset = '0', start, end]) =>
    along(side, kept, toPixels(name, offset, side), position, start, end),
  );
  native.set('c_crop', 'crop', [left, top, width, height].join(','));
}

/** Returns a length in pixels, at most a whole. @param text a share of it if it has a point */
function toPixels(option: string, text: string | undefined, whole: number): number {
  if (text === undefined) return whole;
  const value = readNumber(option, text, 0, 100_000);
  const isSide = option === 'w' || option === 'h';
  const pixels = Math.round(text.includes('.') ? value * whole : value);
  return Math.max(isSide ? 1 : 0, Math.min(whole, pixels));
}

const toQuotient = (ratio: string | number | null): number => {
  const [width = 1, height = 1] = String(ratio).split(':').map(Number);
  return width / height;
};

/** Returns where a part of a side starts. @param start and @param end the words of the side's ends */
function along(
  whole: number,
  kept: number,
  offset: number,
  position: string,
  start: string,
  end: string,
): number {
  const rest = whole - kept;
  const from = position.includes(start)
    ? offset
    : position.includes(end)
      ? rest - offset
      : Math.floor(rest / 2) + offset;
  return Math.max(0, Math.min(rest, from));
}

/** The background behind transparency and around a padded image. */
function addBackground(chain: Chain, options: Options): void {
  const colour = options.get('b');
  if (colour === undefined) return;
  const effect = options.get('e')?.split(':', 1)[0] ?? '';
  const isFilter = effect !== '' && !harmlessToBackground.has(effect);
  if (isFiltered(chain) || isFilter || options.has('o')) {
    throw optionInvalid('b', 'must come before effects and opacity');
  }
  const backdrop = toBackdrop(colour);
  if (backdrop !== null) return setOnce(chain, 'b', 'bg', backdrop);
  setOnce(chain, 'b', 'bg', toColour(colour));
  chain.native.set('b', 'flatten', true);
}

/** Reads a background that follows from the image; null for a colour. */
function toBackdrop(text: string): string | null {
  // Cloudinary does not define its scale: 400, as in its examples, is the default here.
  const [, intensity] = /^blurred(?::(\d{1,4})(?::-?\d{1,3})?)?$/.exec(text) ?? [];
  if (intensity !== undefined)
    return `blur,${Math.max(1, Math.min(2_000, Number(intensity))) / 20}`;
  if (text === 'blurred') return 'blur,5';
  if (/^auto(?::(?:border|predominant))?$/.test(text)) return 'edge';
  const isOther = /^(?:auto|blurred|gen_fill|predominant)\b/.test(text);
  if (isOther) throw noEquivalent(`b_${text}`, text.startsWith('blurred') ? 'b_blurred' : 'b_auto');
  return null;
}

/** The effects that leave a plain background as it is. */
const harmlessToBackground = new Set(['trim', 'blur', 'pixelate', 'sharpen', 'unsharp_mask']);

/** Reads a colour name, or hexadecimal digits after `rgb:` or `#`. */
const toColour = (text: string): string => /^(?:rgb:|#)([0-9a-f]+)$/i.exec(text)?.[1] ?? text;

/** This service mirrors, rotates, and then resizes. */
function addAngle(chain: Chain, text: string, isGeometry: boolean): void {
  const { native, resize } = chain;
  for (const word of text.split('.', 10)) {
    // Images are always upright.
    if (word === 'exif') continue;
    const mirror = lookUp(mirrors, word);
    if (mirror === undefined && !/^-?\d{1,3}$/.test(word)) throw noEquivalent(`a_${word}`);
    const rotation = Number(native.get('rotate') ?? 0);
    const degrees = mirror === undefined ? Number(word) % 360 : 0;
    if (mirror === undefined && degrees === 0) continue;
    // A symmetric resize keeps or adds equal parts on both sides.
    const isSymmetric = (resize?.position ?? 'center') === 'center';
    const canTurn = degrees % 90 === 0 && isSymmetric && resize?.point === null && !resize.isAuto;
    const isMisplaced =
      mirror === undefined
        ? resize === null
          ? isGeometry
          : !canTurn
        : !isSymmetric || rotation % 180 !== 0;
    if (isMisplaced) {
      throw noEquivalent(`a_${word} at this place of the chain`, `a_${word} at its start`);
    }
    if (mirror === undefined) {
      // Turning the box, too, keeps the result.
      if (resize !== null && degrees % 180 !== 0) chain.resize = turnBox(resize);
      native.set('a', 'rotate', (rotation + degrees) % 360);
    } else native.set('a', mirror, native.has(mirror) ? null : true);
  }
}

const turnBox = (resize: Resize): Resize => {
  const ratio = resize.ratio === null ? null : 1 / toQuotient(resize.ratio);
  return { ...resize, w: resize.h, h: resize.w, ratio };
};

const mirrors: Readonly<Record<string, string>> = { hflip: 'flop', vflip: 'flip' };

function addFilters(chain: Chain, options: Options): void {
  const { native, resize } = chain;
  const effect = options.get('e');
  if (effect !== undefined && !effect.startsWith('trim')) {
    const [name = '', level = '', ...others] = effect.split(':');
    const row = lookUp(effects, name);
    if (row === undefined || others.length > 0) {
      throw noEquivalent(`e_${effect}`, lookUp(nearestEffects, name));
    }
    const hasBars = resize?.fit === 'contain' && !native.has('bg');
    if (hasBars && !harmlessToBackground.has(name) && name !== 'grayscale') {
      throw optionInvalid(`e_${name}`, 'after c_pad needs b');
    }
    const once = new NativeQuery();
    row(once, level, `e_${effect}`);
    for (const [parameter, { text, option }] of once) {
      if (native.has(parameter) && parameter !== 'grayscale') {
        throw optionInvalid(`e_${name}`, 'is given more than once');
      }
      native.set(option, parameter, text);
    }
  }
  const opacity = options.get('o');
  if (opacity !== undefined) setOnce(chain, 'o', 'opacity', readNumber('o', opacity, 0, 100) / 100);
}

/** An effect whose level is a number. @param otherwise the level if there is none */
const level =
  (
    name: string,
    minimum: number,
    maximum: number,
    otherwise: number,
    convert: (level: number) => number,
  ): Row =>
  (native, text, option) =>
    native.set(
      option,
      name,
      convert(text === '' ? otherwise : readInteger(option, text, minimum, maximum)),
    );

/** Cloudinary does not define its scales; 100 is the default of both effects, like 1 here. */
const toSigma = (strength: number): number => Math.min(10, Math.max(0.3, strength / 100));

const sharpen = level('sharpen', 1, 2_000, 100, toSigma);

const toFactor = (percent: number): number => 1 + percent / 100;

/** The effects by name, with a level after a colon. */
const effects: Readonly<Record<string, Row>> = {
  grayscale: flag('grayscale'),
  negate: flag('negate'),
  blackwhite: level('threshold', 0, 100, 50, (percent) => Math.round(percent * 2.55)),
  blur: level('blur', 1, 2_000, 100, (strength) => Math.max(0.3, strength / 100)),
  sharpen,
  unsharp_mask: sharpen,
  brightness: level('brightness', -99, 100, 80, toFactor),
  saturation: level('saturation', -100, 100, 80, toFactor),
  vibrance: level('saturation', -100, 100, 20, (percent) => 1 + percent / 200),
  contrast: level('contrast', -100, 100, 0, (percent) => percent),
  hue: level('hue', -100, 100, 80, (percent) => Math.round(percent * 1.8)),
  sepia: level('sepia', 1, 100, 80, (percent) => percent),
  pixelate: level('pixelate', 1, 200, 5, (side) => side),
  vignette: level('vignette', 0, 100, 20, (percent) => percent),
  ...Object.fromEntries(
    ['improve', 'auto_brightness', 'auto_color', 'auto_contrast'].map((name) => [
      name,
      flag('normalize'),
    ]),
  ),
};

/** What comes closest to the effects without an equivalent. */
const nearestEffects: Readonly<Record<string, string>> = {
  art: 'a preset',
  blur_faces: 'e_blur',
  colorize: 'tint',
  tint: 'tint',
  trim: 'e_trim with a tolerance',
};

const regionPattern = /^(blur|pixelate)_region(?::\d{1,4})?$/;

/** Hides an area of the image so far, which this service does in the source. */
function addRegion(chain: Chain, kind: string, options: Options): void {
  const { native } = chain;
  const option = `e_${kind}_region`;
  if (isTurned(chain)) throw optionInvalid(option, 'with a has no equivalent here');
  const before = sizeSoFar(chain, option);
  const [cropLeft = 0, cropTop = 0] = native.get('crop')?.split(',').map(Number) ?? [];
  const [across, down] = scalesOf(chain.resize, before, option);
  const axis = (start: 'x' | 'y', side: 'w' | 'h', { whole, cut, scale }: Axis, from: number) => {
    const first = toPixels(start, options.get(start) ?? '0', whole);
    const length = toPixels(side, options.get(side), whole - first);
    return [Math.round((first + cut) / scale) + from, Math.max(1, Math.round(length / scale))];
  };
  const [x, w] = axis('x', 'w', across, cropLeft);
  const [y, h] = axis('y', 'h', down, cropTop);
  const area = [x, y, w, h].join(',');
  const name = `${kind}area`;
  const areas = native.get(name);
  native.set(option, name, areas === undefined ? area : `${areas},${area}`);
}

/** A resized side: its length, the length cut off before it, and its scale. */
interface Axis {
  readonly whole: number;
  readonly cut: number;
  readonly scale: number;
}

function scalesOf(resize: Resize | null, { width, height }: Size, option: string): [Axis, Axis] {
  const { w, h, fit, ratio, enlarge, position, point } = resize ?? { w: null, h: null };
  const isPlaced = fit === 'contain' || position === 'attention' || point || ratio;
  if (isPlaced || enlarge === 'box' || resize?.isAuto) {
    throw optionInvalid(option, 'with this resize has no equivalent here');
  }
  const [across, down] = [(w ?? 0) / width, (h ?? 0) / height];
  const sided = w === null || h === null ? across || down || 1 : null;
  const factor = sided ?? (fit === 'cover' ? Math.max(across, down) : Math.min(across, down));
  const scale = enlarge === false ? Math.min(1, factor) : factor;
  const isDistorted = sided === null && fit === 'fill';
  const axis = (side: number, box: number | null, own: number, start: string, end: string) => {
    const scaled = isDistorted ? own : scale;
    const whole = fit === 'cover' && sided === null && box !== null ? box : side * scaled;
    const cut = along(side * scaled, whole, 0, position ?? 'center', start, end);
    return { whole, cut, scale: scaled };
  };
  return [axis(width, w, across, 'west', 'east'), axis(height, h, down, 'north', 'south')];
}

/** Removes borders, which this service does before it turns and resizes. */
function addTrim(chain: Chain, effect: string): void {
  const [, tolerance = ''] = /^trim(?::(\d{1,3}))?$/.exec(effect) ?? [];
  if (tolerance === '' && effect !== 'trim') {
    throw noEquivalent(`e_${effect}`, nearestEffects['trim']);
  }
  if (chain.resize !== null || isTurned(chain)) {
    throw optionInvalid('e_trim', 'must come before resizes and a');
  }
  // The parameter reads 0 and 1 as flags; colours differ by at least 1, so that 0.1 acts like 0.
  const value = tolerance === '' ? 10 : Number(tolerance);
  setOnce(chain, 'e_trim', 'trim', value === 0 ? 0.1 : value === 1 ? '1.0001' : value);
}

function addDelivery(chain: Chain, options: Options, source: string): void {
  const { native } = chain;
  const [dpr, quality, format, density] = ['dpr', 'q', 'f', 'dn'].map((name) => options.get(name));
  const space = options.get('cs') ?? 'srgb';
  if (dpr !== undefined) setOnce(chain, 'dpr', 'dpr', dpr);
  if (quality !== undefined) setOnce(chain, 'q', 'q', readQuality(quality));
  const [, chroma] = /:(420|444)$/.exec(quality ?? '') ?? [];
  if (chroma !== undefined) native.set('q', 'chroma', chroma);
  if (density !== undefined) setOnce(chain, 'dn', 'density', density);
  if (format !== undefined) {
    const native = /^auto(?::|$)/.test(format) ? 'auto' : lookUp(formats, format);
    if (native === undefined) throw noEquivalent(`f_${format}`, 'f_auto');
    setOnce(chain, 'f', 'fmt', native);
  }
  if (options.has('pg')) page(native, options.get('pg') ?? '', 'pg');
  if (space !== 'srgb') throw noEquivalent(`cs_${space}`);
  for (const flag of options.get('fl')?.split('.', 20) ?? []) setFlag(native, flag, source);
}

/** Fixed qualities for the levels of `auto` that are not its default, `good`. */
const qualities: Readonly<Record<string, string>> = {
  auto: 'auto',
  'auto:good': 'auto',
  'auto:best': '86',
  'auto:eco': '60',
  'auto:low': '50',
  jpegmini: 'auto',
};

function readQuality(quality: string): string {
  // `auto` looks at the content.
  const written = quality.replace(/:(?:4\d\d|sensitive)$/, '');
  const native = lookUp(qualities, written) ?? (/^\d{1,3}$/.test(written) ? written : null);
  if (native === null) throw noEquivalent(`q_${quality}`, 'q_auto');
  return native;
}

function setFlag(native: NativeQuery, flag: string, source: string): void {
  const [name = '', ...given] = flag.split(':');
  if (name === 'attachment') {
    const file = source.replace(/^.*\//s, '').replace(/\.[A-Za-z0-9]{1,5}$/, '');
    native.set('fl_attachment', 'download', given.join(':') || file);
  } else if (name === 'progressive') native.set('fl', 'progressive', given[0] !== 'none');
  else if (flag === 'keep_attribution') native.set('fl', 'keep', 'copyright');
  else if (!harmlessFlags.has(name)) throw noEquivalent(`fl_${flag}`, lookUp(nearestFlags, name));
}

/** Flags that change no pixel, or that describe what this service does anyway. */
const harmlessFlags = new Set(
  `animated any_format apng awebp force_strip immutable_cache lossy no_overflow png8 preserve_transparency
  relative sanitize strip_profile`.split(/\s+/),
);

const nearestFlags: Readonly<Record<string, string>> = {
  getinfo: 'fmt=json',
  keep_iptc: 'fl_keep_attribution',
  layer_apply: 'a layer before it',
};

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

/** Reads a component's options, and collects the faults of unknown and repeated options. */
function readComponent(component: string, faults: Faults): Options {
  const options = new Map<string, string>();
  const written = component.split(',', maxOptions + 1);
  if (written.length > maxOptions) {
    throw optionInvalid('A component', `must have at most ${maxOptions} options`);
  }
  const isLayer = written.some((option) => toName(option) === 'l');
  for (const option of written) faults.collect(() => readOption(options, option, isLayer));
  return options;
}

function readOption(options: Map<string, string>, option: string, isLayer: boolean): void {
  const name = toName(option);
  if (!understood.has(name) && !isLayer) throw noEquivalent(option, lookUp(nearest, name));
  const value = decodeOption(option, option.slice(name.length + 1));
  const before = options.get(name);
  if (before !== undefined && name !== 'fl') {
    throw optionInvalid(name, 'is given more than once in a component');
  }
  options.set(name, before === undefined ? value : `${before}.${value}`);
}

/** Parameters with an equivalent for at least some values. */
const understood = new Set('a ar b bo c cs d dn dpr e f fl g h l o pg q r t w x y'.split(' '));

/** What comes closest to the parameters without an equivalent. */
const nearest: Readonly<Record<string, string>> = {
  co: 'tint',
  if: 'c_limit, which resizes only larger images',
  u: 'l_ with the name of a stored layer',
  z: 'c_crop',
};

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

/** Faces and subjects are found like other interesting parts. */
const isSmart = (gravity: string): boolean =>
  /^(?:auto|(?:adv_)?faces?)(?::(?:auto|(?:adv_)?faces?|subject|classic|none)){0,2}$/.test(gravity);

/** Returns whether gravity has an effect. */
const isPlaced = (fit: string): boolean => fit === 'cover' || fit === 'contain';

/** This service's fit, and the value of `enlarge`. */
const fits: Readonly<Record<string, readonly [fit: string, enlarge: boolean | 'box']>> = {
  scale: ['fill', true],
  fit: ['inside', true],
  limit: ['inside', false],
  mfit: ['inside', true],
  fill: ['cover', true],
  lfill: ['cover', 'box'],
  // The best crop, whose area does not depend on faces here.
  auto: ['cover', true],
  fill_pad: ['cover', true],
  thumb: ['cover', true],
  pad: ['contain', true],
  lpad: ['contain', 'box'],
  mpad: ['contain', 'box'],
};

/** The modes that change an image only if it is smaller than the box. */
const minimumModes = new Set(['mfit', 'mpad']);

const nearestModes: Readonly<Record<string, string>> = {
  auto_pad: 'c_pad',
  imagga_crop: 'c_fill with g_auto',
  imagga_scale: 'c_fill with g_auto',
};

/** A resize of a chain. */
interface Resize {
  readonly fit: string;
  readonly enlarge: boolean | 'box';
  readonly w: number | null;
  readonly h: number | null;
  /** The number of given sides. */
  readonly sides: number;
  readonly ratio: string | number | null;
  readonly position: string | null;
  /** The focal point, or null. */
  readonly point: string | null;
  /** Whether client hints set the width. */
  readonly isAuto: boolean;
}

/** Returns null if the mode changes nothing. @throws UrlError parameter_invalid */
function readResize(chain: Chain, options: Options): Resize | null {
  const c = options.get('c') ?? 'scale';
  const [fit, enlarge] = lookUp(fits, c) ?? [];
  if (fit === undefined || enlarge === undefined)
    throw noEquivalent(`c_${c}`, lookUp(nearestModes, c));
  const isAuto = /^auto(?::|$)/.test(options.get('w') ?? '');
  if (isAuto && options.has('h')) throw optionInvalid('w_auto', "can't be combined with h here");
  const w = isAuto ? null : readSide(chain, options, 'w');
  const h = readSide(chain, options, 'h');
  const sides = [w, h].filter((side) => side !== null).length;
  const ratio = readAspect(options.get('ar'));
  const canCrop = fit === 'cover' && enlarge !== 'box';
  if (ratio !== null && (fit === 'inside' || sides === 2 || (sides === 0 && !canCrop && !isAuto))) {
    throw optionInvalid('ar', `has no equivalent with these sides and c_${c}`);
  }
  if (ratio === null && sides === 0 && !isAuto) throw optionInvalid(`c_${c}`, 'needs w or h');
  if (minimumModes.has(c)) {
    const { width, height } = sizeSoFar(chain, `c_${c}`);
    if (width >= (w ?? Number.POSITIVE_INFINITY) || height >= (h ?? Number.POSITIVE_INFINITY))
      return null;
  }
  const gravity = isPlaced(fit) ? options.get('g') : undefined;
  const point = gravity === 'xy_center' ? readPoint(chain, options) : null;
  if (point === null) {
    for (const name of ['x', 'y']) {
      if (options.has(name)) throw noEquivalent(`${name}_ without c_crop`, 'g_xy_center');
    }
  }
  const position =
    gravity === undefined || point !== null
      ? null
      : isSmart(gravity)
        ? 'attention'
        : lookUp(gravities, gravity);
  if (position === undefined || (position === 'attention' && fit !== 'cover')) {
    throw noEquivalent(`g_${gravity}`, fit === 'cover' ? 'g_auto' : 'g_center');
  }
  return { fit, enlarge, w, h, sides, ratio, position, point, isAuto };
}

/** Reads the middle of the part to keep. */
function readPoint(chain: Chain, options: Options): string {
  const { width, height } = sizeSoFar(chain, 'g_xy_center');
  const share = (name: string, whole: number) =>
    Number((toPixels(name, options.get(name) ?? '0', whole) / whole).toFixed(6));
  return `${share('x', width)},${share('y', height)}`;
}

/** Reads a side in pixels, or as a share of the source's if it has a point. */
function readSide(chain: Chain, options: Options, name: 'w' | 'h'): number | null {
  const text = options.get(name);
  if (text === undefined) return null;
  if (/^\d*\.\d+$/.test(text)) {
    const whole = sizeSoFar(chain, `${name}_${text}`)[name === 'w' ? 'width' : 'height'];
    const pixels = Math.round(readNumber(name, text, 0, 100) * whole);
    return Math.max(1, Math.min(maxSide, pixels));
  }
  if (!/^\d+$/.test(text)) throw noEquivalent(`${name}_${text}`, `${name}_ in pixels`);
  return readInteger(name, text, 1, maxSide);
}

function readAspect(text: string | undefined): string | number | null {
  if (text === undefined) return null;
  if (text.includes(':')) return readRatio('ar', text, 'must be W:H or a number');
  return readNumber('ar', text, 0.0001, 10_000);
}

/** @param dpr device pixels per pixel, which multiply the sides */
function setResize(native: NativeQuery, resize: Resize, dpr: number): void {
  const { w, h, sides, ratio, fit, enlarge, position, point, isAuto } = resize;
  for (const [name, side] of [
    ['w', w],
    ['h', h],
  ] as const) {
    if (side === null) continue;
    native.set(name, name, isNativeRatio(dpr, resize) ? side : Math.max(1, Math.round(side * dpr)));
  }
  if (ratio !== null) native.set('ar', 'ar', ratio);
  const hasBox = sides === 2 || ratio !== null;
  const isKept = enlarge === 'box' ? hasBox : enlarge && sides > 0;
  if (isKept && !isAuto) native.set('c', 'enlarge', enlarge);
  if (!hasBox) return;
  native.set('c', 'fit', fit);
  if (position !== null && position !== 'center') native.set('g', 'pos', position);
  if (point !== null && fit === 'cover') native.set('g', 'fp', point);
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
  form: /^https?:\/\/res\.cloudinary\.com\/|\/image\/(?:upload|fetch|private|authenticated)\//i,
  translate,
  readSignature,
  redact: (path) => path.replace(secrets, redactedMark),
};
