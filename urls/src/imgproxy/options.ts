import { decodeOption, lookUp, readExpiry, readInteger, readNumber } from '../read.ts';
import { contrast, type Row as NativeRow, saturation, scaled } from '../rows.ts';
import { Faults, NativeQuery, noEquivalent, optionInvalid } from '../translation.ts';

/** A direction, with edge offsets that are positive towards the inside of the image. */
export interface Gravity {
  readonly type: string;
  readonly x: number;
  readonly y: number;
}

interface Crop {
  readonly width: number;
  readonly height: number;
  readonly gravity: Gravity | null;
}

/** Background around the image, with the image's place if the option names one. */
interface Extension {
  readonly gravity: Gravity | null;
}

interface Watermark {
  /** In percent. */
  readonly opacity: number;
  readonly position: string;
  /** Offsets in pixels, or as shares below 1. */
  readonly x: number;
  readonly y: number;
  /** The largest share of the image's sides, or 0. */
  readonly scale: number;
}

/** A URL's options if it sets no option. Later options replace earlier ones. */
const noOptions = () => ({
  /** The parameters of options whose meaning depends on no other option. */
  native: new NativeQuery(),
  /** Names of options without an effect here. */
  ignored: [] as string[],
  width: 0,
  height: 0,
  resizingType: null as string | null,
  zoom: 1,
  dpr: null as number | null,
  enlarge: null as boolean | null,
  /** To the sides. */
  extension: null as Extension | null,
  /** To the ratio of the sides. */
  ratioExtension: null as Extension | null,
  gravity: null as Gravity | null,
  crop: null as Crop | null,
  /** Top, right, bottom and left. */
  padding: [0, 0, 0, 0] as readonly number[],
  rotate: 0,
  flipHorizontal: false,
  flipVertical: false,
  stripMetadata: null as boolean | null,
  keepCopyright: null as boolean | null,
  fileName: null as string | null,
  attachment: false,
  preset: null as string | null,
  /** Left, top, width and height of areas, as shares of the source's sides. */
  blurAreas: [] as readonly number[],
  watermark: null as Watermark | null,
  watermarkUrl: null as string | null,
  /** Delivers the whole image. */
  raw: false,
  /** The extensions of the sources that are delivered whole. */
  rawExtensions: [] as readonly string[],
  /** By native format. */
  formatQualities: new Map() as ReadonlyMap<string, number>,
});

export type ImgproxyOptions = ReturnType<typeof noOptions>;

type Arguments = readonly string[];

interface Row {
  /** The first name is used in messages. */
  readonly names: readonly [string, ...string[]];
  readonly maxArguments: number;
  readonly read: (options: ImgproxyOptions, args: Arguments, name: string) => void;
}

/** All other flag values are false. */
const trueWords = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);
const isTrue = (text = ''): boolean => trueWords.has(text);

const given = (text: string | undefined): text is string => text !== undefined && text !== '';

const gravityNames: Readonly<Record<string, string>> = {
  ce: 'center',
  no: 'north',
  noea: 'northeast',
  ea: 'east',
  soea: 'southeast',
  so: 'south',
  sowe: 'southwest',
  we: 'west',
  nowe: 'northwest',
  sm: 'smart',
  fp: 'point',
};

/** Faces and objects are found like other interesting parts. */
const smart: Gravity = { type: 'smart', x: 0, y: 0 };

function readGravity([word = '', ...offsets]: Arguments, option: string): Gravity {
  if (word === 'obj' || word === 'objw') return smart;
  const type = lookUp(gravityNames, word);
  if (type === undefined) {
    const words = [...Object.keys(gravityNames), 'obj'].join(', ');
    throw optionInvalid(option, `must use one of the gravities ${words}`);
  }
  const isPoint = type === 'point';
  if (type === 'smart' ? offsets.length > 0 : offsets.length > 2 || (isPoint && !offsets[1])) {
    throw optionInvalid(option, 'has the wrong number of arguments');
  }
  const [minimum, maximum] = isPoint ? [0, 1] : [-100_000, 100_000];
  const [x = 0, y = 0] = offsets.map((text) =>
    text === '' ? 0 : readNumber(option, text, minimum, maximum),
  );
  return { type, x, y };
}

function readCrop([width = '', height = '0', ...gravity]: Arguments, name: string): Crop {
  return {
    width: readNumber(name, width, 0, 100_000),
    height: readNumber(name, height, 0, 100_000),
    gravity: gravity.length > 0 ? readGravity(gravity, name) : null,
  };
}

function readExtension([extend, ...gravity]: Arguments, name: string): Extension | null {
  const placed = gravity.length > 0 ? readGravity(gravity, name) : null;
  return isTrue(extend) ? { gravity: placed } : null;
}

function readResizingType([type = '']: Arguments): string {
  if (['fit', 'fill', 'fill-down', 'force', 'auto'].includes(type)) return type;
  throw optionInvalid('resizing_type', 'must be fit, fill, fill-down, force or auto');
}

const readSide = ([text = '']: Arguments, name: string): number =>
  readInteger(name, text, 0, 10_000);

function readSize(options: ImgproxyOptions, args: Arguments, name: string): void {
  const [width, height, enlarge, ...extend] = args;
  if (given(width)) options.width = readSide([width], name);
  if (given(height)) options.height = readSide([height], name);
  if (given(enlarge)) options.enlarge = isTrue(enlarge);
  if (given(extend[0])) options.extension = readExtension(extend, name);
}

function readPadding(args: Arguments, name: string): readonly number[] {
  const edge = (text: string | undefined, otherwise: number): number =>
    given(text) ? readInteger(name, text, 0, 2_000) : otherwise;
  const top = edge(args[0], 0);
  const right = edge(args[1], top);
  return [top, right, edge(args[2], top), edge(args[3], right)];
}

function readRotation([text = '']: Arguments, name: string): number {
  const angle = readInteger(name, text, -36_000, 36_000);
  if (angle % 90 !== 0) throw optionInvalid(name, 'must be a multiple of 90');
  return ((angle % 360) + 360) % 360;
}

function setBackground({ native }: ImgproxyOptions, args: Arguments, name: string): void {
  const colour = readColour(args, name);
  native.set(name, 'bg', colour);
  native.set(name, 'flatten', colour === null ? null : true);
}

function readColour(args: Arguments, name: string): string | null {
  const [first = ''] = args;
  if (args.length === 1) {
    if (first === '') return null;
    if (/^(?:[0-9a-f]{3}|[0-9a-f]{6})$/i.test(first)) return first.toLowerCase();
    throw optionInvalid(name, 'must be a colour of 3 or 6 hex digits');
  }
  if (args.length !== 3) throw optionInvalid(name, 'must have one or three arguments');
  const channels = args.map((text) => readInteger(name, text, 0, 255));
  return Buffer.from(channels).toString('hex');
}

function readTrim([threshold = '', colour, ...equal]: Arguments, name: string) {
  if (given(colour) || equal.some(isTrue)) {
    throw noEquivalent(`${name} with a colour or equal sides`, `${name}:${threshold}`);
  }
  if (threshold === '') return null;
  const value = readNumber(name, threshold, 0, 100);
  // Colours differ by at least 1, so 0.1 acts like 0. The parameter reads 1 as a flag.
  return value === 0 ? 0.1 : value === 1 ? '1.0001' : value;
}

const formats = ['jpeg', 'png', 'webp', 'avif', 'gif', 'jxl'];

/** @throws UrlError parameter_invalid naming the option */
export function formatName([text = '']: Arguments, option = 'format'): string {
  const format = text === 'jpg' ? 'jpeg' : text;
  if (formats.includes(format)) return format;
  throw optionInvalid(option, `must be one of ${formats.join(', ')}`);
}

/** Reads pairs of formats and qualities. */
function readFormatQualities(args: Arguments, name: string): ReadonlyMap<string, number> {
  if (args.length % 2 !== 0) throw optionInvalid(name, 'must have pairs of arguments');
  const qualities = new Map<string, number>();
  for (let at = 0; at < args.length; at += 2) {
    const format = formatName(args.slice(at, at + 1), name);
    qualities.set(format, readInteger(name, args[at + 1] ?? '', 0, 100));
  }
  return qualities;
}

/** Reads the encoded URL of another source. */
function readFallback([text = '']: Arguments, name: string): string | null {
  const url = Buffer.from(text, 'base64url').toString();
  if (url === '' || URL.canParse(url)) return url || null;
  throw optionInvalid(name, 'must be an absolute URL in base64url');
}

/** Reads a sigma and areas. Every area is blurred as strongly as hiding it needs. */
function readAreas([sigma = '', ...areas]: Arguments, name: string): readonly number[] {
  if (isZero(sigma)) return [];
  if (areas.length % 4 !== 0) throw optionInvalid(name, 'must have four numbers for each area');
  return areas.map((text) => readNumber(name, text, 0, 1));
}

function readWatermark(
  [opacity = '', position = 'ce', ...numbers]: Arguments,
  name: string,
): Watermark | null {
  if (isZero(opacity)) return null;
  const [x = 0, y = 0, scale = 0] = numbers.map((text) =>
    text === '' ? 0 : readNumber(name, text, -100_000, 100_000),
  );
  return {
    opacity: Math.max(1, Math.round(readNumber(name, opacity, 0, 1) * 100)),
    position: lookUp(gravityNames, position) ?? position,
    x,
    y,
    scale,
  };
}

const kernels = ['nearest', 'linear', 'cubic', 'lanczos2', 'lanczos3'];

function readKernel([text = '']: Arguments, name: string): string {
  if (kernels.includes(text)) return text;
  throw optionInvalid(name, `must be one of ${kernels.join(', ')}`);
}

function readFileName([text = '', encoded]: Arguments, name: string): string | null {
  const decoded = isTrue(encoded)
    ? Buffer.from(text, 'base64url').toString()
    : decodeOption(name, text);
  return decoded || null;
}

/** imgproxy ignores times before 1970. */
const readExpires = ([text = '']: Arguments, name: string): number | null =>
  (/^-\d{1,12}$/.test(text) ? 0 : readExpiry(name, text)) || null;

/** An option without an effect for some values, and no equivalent for the others. */
const only = (
  names: Row['names'],
  isHarmless: (text: string) => boolean,
  nearest?: string,
): Row => ({
  names,
  maxArguments: 10,
  read: (_, [text = ''], name) => {
    if (!isHarmless(text)) throw noEquivalent(name, nearest);
  },
});

/** An option that changes nothing that visitors see, or a limit that the service has itself. */
const ignored = (...names: Row['names']): Row => ({
  names,
  maxArguments: 10,
  read: (options, _, name) => options.ignored.push(name),
});
const isOff = (text: string): boolean => !isTrue(text);
const isZero = (text: string): boolean => /^0(?:\.0+)?$/.test(text);

/** An option whose meaning depends on others. */
const state = <K extends keyof ImgproxyOptions>(
  names: Row['names'],
  maxArguments: number,
  key: K,
  read: (args: Arguments, name: string) => ImgproxyOptions[K],
): Row => ({
  names,
  maxArguments,
  read: (options, args, name) => {
    options[key] = read(args, name);
  },
});

/** An option that is a native parameter. Null removes the parameter. */
const parameter = (
  names: Row['names'],
  maxArguments: number,
  key: string,
  read: (args: Arguments, name: string) => string | number | null,
): Row => ({
  names,
  maxArguments,
  read: ({ native }, args, name) => native.set(name, key, read(args, name)),
});

/** An option with one argument that other services have too. */
const row = (names: Row['names'], set: NativeRow): Row => ({
  names,
  maxArguments: 1,
  read: ({ native }, [text = ''], name) => set(native, text, name),
});

/** A difference of 8-bit channels, for one of the lightness in percent. */
const brightness = scaled('lightness', -255, 255, (value) => value / 2.55);

/** Returns whether an effect has an intensity above 0, of which only 1 has an equivalent. */
function isIntense(intensity: string, name: string): boolean {
  if (isZero(intensity)) return false;
  if (Number(intensity) !== 1) throw noEquivalent(`${name}:${intensity}`, `${name}:1`);
  return true;
}

const readMonochrome = ([intensity = '', colour = 'b3b3b3']: Arguments, name: string) =>
  isIntense(intensity, name) ? readColour([colour], name) : null;

const readDuotone = (
  [intensity = '', dark = '000000', light = 'ffffff']: Arguments,
  name: string,
) =>
  isIntense(intensity, name)
    ? [dark, light].map((colour) => readColour([colour], name)).join(',')
    : null;

const flag = ([text]: Arguments): boolean => isTrue(text);
const upTo =
  (maximum: number) =>
  ([text = '']: Arguments, name: string) =>
    readNumber(name, text, 0, maximum) || null;
const wholeUpTo =
  (maximum: number) =>
  ([text = '']: Arguments, name: string) =>
    readInteger(name, text, 0, maximum) || null;
const factor = ([text = '']: Arguments, name: string) => readNumber(name, text, 0.0001, 100);

const rows: readonly Row[] = [
  {
    names: ['resize', 'rs'],
    maxArguments: 8,
    read: (options, [type, ...size], name) => {
      if (given(type)) options.resizingType = readResizingType([type]);
      readSize(options, size, name);
    },
  },
  { names: ['size', 's'], maxArguments: 7, read: readSize },
  state(['resizing_type', 'rt'], 1, 'resizingType', readResizingType),
  state(['width', 'w'], 1, 'width', readSide),
  state(['height', 'h'], 1, 'height', readSide),
  parameter(['min-width', 'mw'], 1, 'minw', (args, name) => readSide(args, name) || null),
  parameter(['min-height', 'mh'], 1, 'minh', (args, name) => readSide(args, name) || null),
  state(['zoom', 'z'], 1, 'zoom', factor),
  state(['dpr'], 1, 'dpr', factor),
  state(['enlarge', 'el'], 1, 'enlarge', flag),
  state(['extend', 'ex'], 4, 'extension', readExtension),
  state(['extend_aspect_ratio', 'extend_ar', 'exar'], 4, 'ratioExtension', readExtension),
  state(['gravity', 'g'], 3, 'gravity', readGravity),
  state(['crop', 'c'], 5, 'crop', readCrop),
  parameter(['trim', 't'], 4, 'trim', readTrim),
  state(['padding', 'pd'], 4, 'padding', readPadding),
  state(['rotate', 'rot'], 1, 'rotate', readRotation),
  {
    names: ['flip', 'fl'],
    maxArguments: 2,
    read: (options, [horizontal, vertical]) => {
      if (given(horizontal)) options.flipHorizontal = isTrue(horizontal);
      if (given(vertical)) options.flipVertical = isTrue(vertical);
    },
  },
  { names: ['background', 'bg'], maxArguments: 3, read: setBackground },
  parameter(['blur', 'bl'], 1, 'blur', upTo(100)),
  parameter(['sharpen', 'sh'], 1, 'sharpen', upTo(10)),
  parameter(['quality', 'q'], 1, 'q', wholeUpTo(100)),
  state(['format_quality', 'fq'], 20, 'formatQualities', readFormatQualities),
  parameter(['autoquality', 'aq'], 5, 'q', ([method]) => (method === 'none' ? null : 'auto')),
  parameter(['dpi'], 1, 'density', wholeUpTo(10_000)),
  {
    names: ['jpeg_options', 'jpgo'],
    maxArguments: 10,
    read: ({ native }, [progressive, full], name) => {
      if (given(progressive)) native.set(name, 'progressive', isTrue(progressive));
      if (given(full)) native.set(name, 'chroma', isTrue(full) ? '444' : null);
    },
  },
  parameter(['max_bytes', 'mb'], 1, 'maxbytes', wholeUpTo(100_000_000)),
  parameter(['format', 'f', 'ext'], 1, 'fmt', formatName),
  state(['strip_metadata', 'sm'], 1, 'stripMetadata', flag),
  state(['keep_copyright', 'kcr'], 1, 'keepCopyright', flag),
  parameter(['strip_color_profile', 'scp'], 1, 'icc', (args) => (flag(args) ? null : 'keep')),
  parameter(['cachebuster', 'cb'], 1, 'v', ([text]) => text || null),
  parameter(['expires', 'exp'], 1, 'exp', readExpires),
  state(['filename', 'fn'], 2, 'fileName', readFileName),
  state(['return_attachment', 'att'], 1, 'attachment', flag),
  {
    names: ['preset', 'pr'],
    maxArguments: 20,
    read: (options, [preset = '', ...others], name) => {
      if (others.length > 0 || options.preset !== null) {
        throw optionInvalid(name, 'must name one preset; store one with the parameters of all');
      }
      options.preset = preset;
    },
  },
  only(['auto_rotate', 'ar'], isTrue),
  parameter(['pixelate', 'pix'], 1, 'pixelate', ([text = ''], name) => {
    const side = readInteger(name, text, 0, 10_000);
    return side < 2 ? null : Math.min(200, side);
  }),
  state(['watermark', 'wm'], 6, 'watermark', readWatermark),
  state(['blur_areas', 'ba'], 81, 'blurAreas', readAreas),
  only(['preserve_hdr', 'ph'], isOff, 'hdr=keep'),
  only(['enforce_thumbnail', 'eth'], isOff),
  state(['raw'], 1, 'raw', flag),
  state(['skip_processing', 'skp'], 20, 'rawExtensions', (args) => args),
  // The Pro options.
  parameter(['page', 'pg'], 1, 'page', ([text = ''], name) => readInteger(name, text, 0, 99_999)),
  parameter(['disable_animation', 'da'], 1, 'animated', (args) => (flag(args) ? '0' : null)),
  parameter(['resizing_algorithm', 'ra'], 1, 'kernel', readKernel),
  row(['saturation', 'sa'], saturation),
  parameter(['fallback_image_url', 'fiu'], 1, 'fallback', readFallback),
  row(['brightness', 'br'], brightness),
  row(['contrast', 'co'], contrast),
  {
    names: ['adjust', 'a'],
    maxArguments: 3,
    read: ({ native }, args, name) => {
      for (const [at, set] of [brightness, contrast, saturation].entries()) {
        const text = args[at];
        if (given(text)) set(native, text, name);
      }
    },
  },
  parameter(['monochrome', 'mc'], 2, 'tint', readMonochrome),
  parameter(['duotone', 'dt'], 3, 'duotone', readDuotone),
  state(['watermark_url', 'wmu'], 1, 'watermarkUrl', readFallback),
  only(['unsharp_masking', 'unsharpening', 'ush'], (text) => text === '', 'sh'),
  {
    names: ['max_animation_frames', 'maf'],
    maxArguments: 1,
    read: ({ native, ignored }, [frames], name) => {
      if (frames === '1') native.set(name, 'animated', false);
      else ignored.push(name);
    },
  },
  ignored('max_src_resolution', 'msr'),
  ignored('max_src_file_size', 'msfs'),
  ignored('max_animation_frame_resolution', 'mafr'),
  ignored('max_result_dimension', 'mrd'),
  ignored('png_options', 'pngo'),
  ignored('webp_options', 'webpo'),
  ignored('avif_options', 'avifo'),
];

export const imgproxyOptionNames: readonly string[] = rows.flatMap(({ names }) => names);

const rowsByName: ReadonlyMap<string, Row> = new Map(
  rows.flatMap((row) => row.names.map((name) => [name, row] as const)),
);

/**
 * Reads segments such as `rs:fill:300:200`.
 * @throws UrlError parameter_invalid naming the option
 */
export function readImgproxyOptions(segments: readonly string[]): ImgproxyOptions {
  const options = noOptions();
  const faults = new Faults();
  for (const segment of segments) faults.collect(() => readOption(options, segment));
  faults.throwAny();
  return options;
}

function readOption(options: ImgproxyOptions, segment: string): void {
  const [name = '', ...args] = segment.split(':', 90);
  const row = rowsByName.get(name);
  if (row === undefined) throw noEquivalent(name === '' ? 'An unnamed option' : name);
  const [title] = row.names;
  if (args.length > row.maxArguments) throw optionInvalid(title, 'has too many arguments');
  row.read(options, args, title);
}
