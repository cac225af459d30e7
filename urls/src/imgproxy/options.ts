import { decodeOption, readExpiry, readInteger, readNumber } from '../read.ts';
import { noEquivalent, optionInvalid } from '../translation.ts';

/** A direction, with edge offsets that are positive towards the inside of the image. */
export interface Placement {
  readonly type: string;
  readonly x: number;
  readonly y: number;
}

export interface Crop {
  readonly width: number;
  readonly height: number;
  readonly gravity: Placement | null;
}

/** A URL's options if it sets no option. Later options replace earlier ones. */
const noOptions = {
  width: 0,
  height: 0,
  resizingType: null as string | null,
  zoom: [1, 1] as readonly [number, number],
  dpr: null as number | null,
  enlarge: null as boolean | null,
  extend: false,
  extendGravity: null as Placement | null,
  /** Whether to extend the image to the sides' ratio instead of to the sides. */
  extendRatio: false,
  extendRatioGravity: null as Placement | null,
  gravity: null as Placement | null,
  crop: null as Crop | null,
  trim: null as number | null,
  /** Top, right, bottom and left. */
  padding: [0, 0, 0, 0] as readonly [number, number, number, number],
  rotate: 0,
  flipHorizontal: false,
  flipVertical: false,
  background: null as string | null,
  blur: 0,
  sharpen: 0,
  quality: 0,
  formatQuality: new Map() as ReadonlyMap<string, number>,
  maxBytes: 0,
  format: null as string | null,
  stripMetadata: null as boolean | null,
  keepCopyright: null as boolean | null,
  profile: false,
  version: null as string | null,
  fileName: null as string | null,
  attachment: false,
  /** Unix seconds, or 0 if the URL does not expire. */
  expires: 0,
  preset: null as string | null,
};

type Options = typeof noOptions;
export interface ImgproxyOptions extends Options {
  /** The options before the preset, which the preset replaces. */
  beforePreset?: Options;
}

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

const gravityNames: Readonly<Record<string, Placement['type']>> = {
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

function readPlacement(option: string, [word = '', ...offsets]: Arguments): Placement {
  const type = Object.hasOwn(gravityNames, word) ? gravityNames[word] : undefined;
  if (type === undefined) throw optionInvalid(option, 'has a gravity without an equivalent here');
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

const side = (name: string, text: string): number => readInteger(name, text, 0, 10_000);

function readResizingType(type: string, name: string): string {
  if (['fit', 'fill', 'fill-down', 'force'].includes(type)) return type;
  throw optionInvalid(name, 'must be fit, fill, fill-down or force');
}

function readExtend(options: ImgproxyOptions, [extend, ...gravity]: Arguments, name: string): void {
  options.extend = isTrue(extend);
  if (gravity.length > 0) options.extendGravity = readPlacement(name, gravity);
}

function readSize(options: ImgproxyOptions, args: Arguments, name: string): void {
  const [width, height, enlarge, ...extend] = args;
  if (given(width)) options.width = side(name, width);
  if (given(height)) options.height = side(name, height);
  if (given(enlarge)) options.enlarge = isTrue(enlarge);
  if (given(extend[0])) readExtend(options, extend, name);
}

function readPadding(name: string, args: Arguments, { padding }: ImgproxyOptions) {
  const edge = (text: string | undefined, otherwise: number): number =>
    given(text) ? readInteger(name, text, 0, 2_000) : otherwise;
  const top = edge(args[0], padding[0]);
  const right = edge(args[1], top);
  return [top, right, edge(args[2], top), edge(args[3], right)] as const;
}

function readBackground(name: string, args: Arguments): string | null {
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

function readTrim(name: string, [threshold = '', colour, ...equal]: Arguments): number | null {
  if (given(colour) || equal.some(isTrue)) {
    throw optionInvalid(name, 'with a colour or equal sides has no equivalent here');
  }
  return threshold === '' ? null : readNumber(name, threshold, 0, 100);
}

function readFormatQuality(name: string, args: Arguments): ReadonlyMap<string, number> {
  if (args.length % 2 !== 0) throw optionInvalid(name, 'must have pairs of format and quality');
  return new Map(
    args.flatMap((format, index) =>
      index % 2 === 0
        ? [[formatName(name, format), readInteger(name, args[index + 1] ?? '', 0, 100)]]
        : [],
    ),
  );
}

const formats = ['jpeg', 'png', 'webp', 'avif', 'gif', 'jxl'];

/** @throws UrlError parameter_invalid naming the option */
export function formatName(option: string, text: string): string {
  const format = text === 'jpg' ? 'jpeg' : text;
  if (formats.includes(format)) return format;
  throw optionInvalid(option, `must be one of ${formats.join(', ')}`);
}

function readFileName(name: string, [text = '', encoded]: Arguments): string {
  return isTrue(encoded) ? Buffer.from(text, 'base64url').toString() : decodeOption(name, text);
}

/** An option with no equivalent for any other value. */
const only = (names: Row['names'], isHarmless: (text: string) => boolean): Row => ({
  names,
  maxArguments: 10,
  read: (_, [text = ''], name) => {
    if (!isHarmless(text)) throw noEquivalent(name);
  },
});
const isOff = (text: string): boolean => !isTrue(text);
const isZero = (text: string): boolean => /^0(?:\.0+)?$/.test(text);

/** An option with one argument. */
const single = <K extends keyof ImgproxyOptions>(
  names: Row['names'],
  key: K,
  read: (text: string, name: string) => ImgproxyOptions[K],
): Row => ({
  names,
  maxArguments: 1,
  read: (options, [text = ''], name) => {
    options[key] = read(text, name);
  },
});

/** An option with several arguments that form one value. */
const several = <K extends keyof ImgproxyOptions>(
  names: Row['names'],
  maxArguments: number,
  key: K,
  read: (name: string, args: Arguments, before: ImgproxyOptions) => ImgproxyOptions[K],
): Row => ({
  names,
  maxArguments,
  read: (options, args, name) => {
    options[key] = read(name, args, options);
  },
});

const ofSide = (text: string, name: string): number => side(name, text);
const upTo = (maximum: number) => (text: string, name: string) =>
  readNumber(name, text, 0, maximum);
const wholeUpTo = (maximum: number) => (text: string, name: string) =>
  readInteger(name, text, 0, maximum);

const rows: readonly Row[] = [
  {
    names: ['resize', 'rs'],
    maxArguments: 8,
    read: (options, [type, ...size], name) => {
      if (given(type)) options.resizingType = readResizingType(type, 'resizing_type');
      readSize(options, size, name);
    },
  },
  { names: ['size', 's'], maxArguments: 7, read: readSize },
  single(['resizing_type', 'rt'], 'resizingType', readResizingType),
  single(['width', 'w'], 'width', ofSide),
  single(['height', 'h'], 'height', ofSide),
  only(['min-width', 'mw'], isZero),
  only(['min-height', 'mh'], isZero),
  several(['zoom', 'z'], 2, 'zoom', (name, [across = '', down = across]) => {
    const factor = (text: string) => readNumber(name, text, 0.0001, 100);
    return [factor(across), factor(down)];
  }),
  single(['dpr'], 'dpr', (text, name) => readNumber(name, text, 0.0001, 100)),
  single(['enlarge', 'el'], 'enlarge', isTrue),
  { names: ['extend', 'ex'], maxArguments: 4, read: readExtend },
  {
    names: ['extend_aspect_ratio', 'extend_ar', 'exar'],
    maxArguments: 4,
    read: (options, [extend, ...gravity], name) => {
      options.extendRatio = isTrue(extend);
      if (gravity.length > 0) options.extendRatioGravity = readPlacement(name, gravity);
    },
  },
  several(['gravity', 'g'], 3, 'gravity', readPlacement),
  several(['crop', 'c'], 5, 'crop', (name, [width = '', height = '0', ...gravity], before) => ({
    width: readNumber(name, width, 0, 100_000),
    height: readNumber(name, height, 0, 100_000),
    gravity: gravity.length > 0 ? readPlacement(name, gravity) : (before.crop?.gravity ?? null),
  })),
  several(['trim', 't'], 4, 'trim', readTrim),
  several(['padding', 'pd'], 4, 'padding', readPadding),
  single(['rotate', 'rot'], 'rotate', (text, name) => {
    const angle = readInteger(name, text, -36_000, 36_000);
    if (angle % 90 !== 0) throw optionInvalid(name, 'must be a multiple of 90');
    return ((angle % 360) + 360) % 360;
  }),
  {
    names: ['flip', 'fl'],
    maxArguments: 2,
    read: (options, [horizontal, vertical]) => {
      if (given(horizontal)) options.flipHorizontal = isTrue(horizontal);
      if (given(vertical)) options.flipVertical = isTrue(vertical);
    },
  },
  several(['background', 'bg'], 3, 'background', readBackground),
  single(['blur', 'bl'], 'blur', upTo(100)),
  single(['sharpen', 'sh'], 'sharpen', upTo(10)),
  single(['quality', 'q'], 'quality', wholeUpTo(100)),
  several(['format_quality', 'fq'], 20, 'formatQuality', (name, args, { formatQuality }) => {
    return new Map([...formatQuality, ...readFormatQuality(name, args)]);
  }),
  single(['max_bytes', 'mb'], 'maxBytes', wholeUpTo(100_000_000)),
  single(['format', 'f', 'ext'], 'format', (text, name) => formatName(name, text)),
  single(['strip_metadata', 'sm'], 'stripMetadata', isTrue),
  single(['keep_copyright', 'kcr'], 'keepCopyright', isTrue),
  single(['strip_color_profile', 'scp'], 'profile', (text) => !isTrue(text)),
  single(['cachebuster', 'cb'], 'version', (text) => text || null),
  // imgproxy ignores times before 1970.
  single(['expires', 'exp'], 'expires', (text, name) =>
    /^-\d{1,12}$/.test(text) ? 0 : Number(readExpiry(name, text)),
  ),
  several(['filename', 'fn'], 2, 'fileName', (name, args) => readFileName(name, args) || null),
  single(['return_attachment', 'att'], 'attachment', isTrue),
  {
    names: ['preset', 'pr'],
    maxArguments: 20,
    read: (options, [preset = '', ...others], name) => {
      if (others.length > 0 || options.preset !== null) {
        throw optionInvalid(name, 'must name one preset');
      }
      options.preset = preset;
      options.beforePreset = { ...options };
    },
  },
  only(['auto_rotate', 'ar'], isTrue),
  only(['pixelate', 'pix'], (text) => text === '0' || text === '1'),
  only(['watermark', 'wm'], isZero),
  only(['preserve_hdr', 'ph'], isOff),
  only(['enforce_thumbnail', 'eth'], isOff),
  only(['raw'], isOff),
];

const rowsByName: ReadonlyMap<string, Row> = new Map(
  rows.flatMap((row) => row.names.map((name) => [name, row] as const)),
);

/**
 * Reads segments such as `rs:fill:300:200`.
 * @throws UrlError parameter_invalid naming the option
 */
export function readImgproxyOptions(segments: readonly string[]): ImgproxyOptions {
  const options: ImgproxyOptions = { ...noOptions };
  for (const segment of segments) {
    const [name = '', ...args] = segment.split(':', 24);
    const row = rowsByName.get(name);
    if (row === undefined) throw noEquivalent(name === '' ? 'An option without a name' : name);
    const [title] = row.names;
    if (args.length > row.maxArguments) throw optionInvalid(title, 'has too many arguments');
    row.read(options, args, title);
  }
  return options;
}
