import { type Fit, fitModes, gravities } from '../../contract/image-terms.ts';
import {
  chromas,
  type OutputFormat,
  outputFormats,
} from '../../pool/rendering/encode/encodings.ts';
import type { OperationName, OperationValues, Outline } from '../../pool/rendering/operations.ts';
import {
  type Effect,
  kernels,
  type PlaceholderKind,
  type Position,
  placeholderKinds,
  plainVariant,
  strategies,
} from '../../pool/variant.ts';
import { fileName } from './download.ts';
import { layerNames } from './layer-fields.ts';
import { sourceReference, sourceUrl } from './source-url.ts';
import {
  angle,
  aspectRatio,
  background,
  choice,
  colour,
  cornerRadius,
  duotone,
  flag,
  flagOrNumber,
  integer,
  neutral,
  number,
  type ParameterType,
  parts,
  sideOrShare,
  sourceArea,
  sourceAreas,
  text,
  withKeyword,
} from './values.ts';

/** Parameter groups, in display order. */
type ParameterGroup = 'size' | 'crop' | 'format' | 'colour' | 'filters' | 'layers' | 'delivery';

/** Request headers that can change an image, in the order of `Vary`. */
export const varyingHeaders = [
  'Accept',
  'Sec-CH-DPR',
  'Sec-CH-Width',
  'Sec-CH-Viewport-Width',
  'DPR',
  'Width',
  'Viewport-Width',
] as const;
export type VaryingHeader = (typeof varyingHeaders)[number];

/** The values of the options that decide whether request headers count, and the project's setting. */
export interface HeaderChoice {
  readonly w?: unknown;
  readonly h?: unknown;
  readonly dpr?: unknown;
  readonly fmt?: unknown;
  readonly autoFormat: boolean;
}

export interface Parameter<T> extends ParameterType<T> {
  readonly group: ParameterGroup;
  readonly aliases: readonly string[];
  readonly meaning: string;
  readonly example: string;
  /** Other parameters in the example's query. */
  readonly exampleContext: string;
  /**
   * The value with the same effect as omitting the parameter, unless a preset or project sets the
   * parameter. Null if there is no such value.
   */
  readonly default: string | null;
  /** The effect of omitting the parameter, as Markdown. */
  readonly defaultInWords: string;
  /** Preset parameters that this parameter in a URL replaces, in addition to its own name. */
  readonly replaces: readonly string[];
  /**
   * `transform`: part of the variant and the cache key. `delivery`: selects the source or its
   * version, or affects only the response.
   */
  readonly role: 'transform' | 'delivery';
  /** Whether a URL can contain it if its project allows only presets. */
  readonly isBesidePresets: boolean;
  /** Returns the request headers that decide in the parameter's place. */
  readonly varies: (choice: HeaderChoice) => readonly VaryingHeader[];
  /** The parameter that it belongs to, which a form asks for first. */
  readonly needs?: string;
  /** Of a parameter for delivery that changes the image. Others have the effect of their field. */
  readonly effect?: Effect | undefined;
}

function parameter<T>(
  group: ParameterGroup,
  value: ParameterType<T>,
  meaning: string,
  example: string,
  {
    aliases = [],
    exampleContext = 'w=400',
    byDefault = null,
    replaces = [],
    otherwise = byDefault === null ? '–' : `\`${byDefault}\``,
    varies = () => [],
  }: {
    aliases?: readonly string[];
    exampleContext?: string;
    byDefault?: string | null;
    replaces?: readonly string[];
    otherwise?: string;
    varies?: Parameter<T>['varies'];
  } = {},
): Parameter<T> {
  return {
    ...value,
    group,
    meaning,
    example,
    aliases,
    exampleContext,
    default: byDefault,
    defaultInWords: otherwise,
    replaces,
    role: 'transform',
    isBesidePresets: false,
    varies,
  };
}

function ofDelivery<T>(
  group: ParameterGroup,
  value: ParameterType<T>,
  meaning: string,
  example: string,
  effect?: Effect,
): Parameter<T> {
  const isBesidePresets = group === 'delivery';
  return {
    ...parameter(group, value, meaning, example),
    role: 'delivery',
    isBesidePresets,
    effect,
  };
}

/** Gravities by CSS side name. */
const sideGravities: Readonly<Record<string, Position>> = {
  top: 'north',
  right: 'east',
  bottom: 'south',
  left: 'west',
};

/** sharp's positions, as other names of its gravities; of two sides in either order. */
const spellings: Readonly<Record<string, Position>> = {
  centre: 'center',
  ...sideGravities,
  ...corner('right', 'top', 'northeast'),
  ...corner('right', 'bottom', 'southeast'),
  ...corner('left', 'bottom', 'southwest'),
  ...corner('left', 'top', 'northwest'),
};

function corner(side: string, end: string, position: Position): Record<string, Position> {
  const names = [' ', '-', '_', ','].flatMap((between) => [
    side + between + end,
    end + between + side,
  ]);
  return Object.fromEntries(names.map((name) => [name, position]));
}

/** The value of `pos`. */
const positionName: ParameterType<Position> = choice<Position>(
  [...gravities, ...strategies],
  spellings,
);

const areas = sourceAreas(20);
const edge = integer(0, 2_000);
const factor = number(0, 10);
const degrees = angle(integer(-360, 360));
const lightness = number(-100, 100);
const fraction = number(0, 1);
const lineWidth = integer(1, 1_000);
const outline: ParameterType<Outline> = {
  accepts: `width,colour: ${lineWidth.accepts}, and ${colour.accepts}`,
  schema: {
    type: 'string',
    pattern: `^0{0,5}(?:[1-9][0-9]{0,2}|1000)(?:\\.0{1,20})?[,_]${colour.schema.pattern?.slice(1)}`,
  },
  parse(text) {
    const [, width = '', written = ''] = /^(0{0,5}\d{1,4}(?:\.0{1,20})?)[,_](.+)$/.exec(text) ?? [];
    const [side, parsed] = [lineWidth.parse(width), colour.parse(written)];
    return side === undefined || parsed === undefined ? undefined : { width: side, colour: parsed };
  },
};
const versionPattern = '^[0-9A-Za-z._-]{1,64}$';
const version: ParameterType<string> = {
  accepts: '1 to 64 letters, digits, dots, hyphens and underscores',
  schema: { type: 'string', pattern: versionPattern },
  parse: (text) => (new RegExp(versionPattern).test(text) ? text : undefined),
};

/**
 * Makes the compiler report operations that lack a parameter, and parameters of the wrong type. A
 * backdrop is a value of `bg`.
 */
type OperationParameters = {
  readonly [Name in Exclude<OperationName, 'backdrop'>]: Parameter<OperationValues[Name]>;
};

/**
 * All parameters by canonical name, in the documentation's order. A parameter for a pixel operation
 * shares its name with a row in `pool/rendering/operations.ts`, which contains its effect. Parsing,
 * error messages, the list of supported parameters, the OpenAPI document and the documentation
 * derive from this table.
 */
export const parameters = {
  w: parameter(
    'size',
    sideOrShare(integer(1, 10_000)),
    'Output width in CSS pixels, or in percent of the source: `50p` is half of its width. Without `h`, the height keeps the aspect ratio.',
    '200',
    {
      aliases: ['width'],
      exampleContext: '',
      otherwise: "from `h`, a client hint or the source, up to the project's `maxWidth`",
      varies: ({ w, h }) =>
        w === undefined && h === undefined
          ? ['Sec-CH-Width', 'Sec-CH-Viewport-Width', 'Width', 'Viewport-Width']
          : [],
    },
  ),
  h: parameter(
    'size',
    sideOrShare(integer(1, 10_000)),
    'Output height in CSS pixels, or in percent of the source. Without `w`, the width keeps the aspect ratio.',
    '200',
    { aliases: ['height'], exampleContext: '', otherwise: 'from `w` or the source' },
  ),
  minw: parameter(
    'size',
    integer(1, 10_000),
    'Minimum width of the image in CSS pixels: scales it up if needed, even beyond its own pixels. `w` and `h` still ' +
      'crop it around `pos` or `fp`. Ignored by `fill`.',
    '300',
    { exampleContext: 'w=200&h=200&fit=inside' },
  ),
  minh: parameter('size', integer(1, 10_000), 'Minimum height, like `minw`.', '200', {
    exampleContext: 'w=200&h=200&fit=inside',
  }),
  ar: parameter(
    'size',
    aspectRatio,
    'Aspect ratio of the box. Sets the height for `w` or the width for `h`; ignored if both are set. With neither, `cover` ' +
      'crops the image to the ratio, `contain` pads it, and `fill` shortens one side.',
    '16:9',
    { exampleContext: 'w=300' },
  ),
  q: parameter(
    'format',
    withKeyword(integer(1, 100), 'auto'),
    'Quality of lossy output, on one scale for all formats. `auto` chooses a value from 45 to 89 per image, so that ' +
      'different images look about equally good; animations get 77.',
    '20',
    {
      aliases: ['quality'],
      exampleContext: 'w=400&fmt=webp',
      otherwise: "the project's `defaultQuality`",
    },
  ),
  fmt: parameter(
    'format',
    choice<OutputFormat | 'auto' | PlaceholderKind>(
      ['auto', ...outputFormats, ...placeholderKinds],
      { jpg: 'jpeg' },
    ),
    'Output format. `auto` chooses the best format that `Accept` names; `jxl` is JPEG XL. `blurhash`, `thumbhash` and ' +
      '`lqip` return a text placeholder to show while the image loads; `json` returns facts about the image.',
    'webp',
    {
      aliases: ['f', 'format'],
      otherwise: "`auto`, or the source's format if the project's `autoFormat` is false",
      // Facts are about the image that the request would get without `fmt`.
      varies: ({ fmt = 'json', autoFormat }) =>
        fmt === 'auto' || (fmt === 'json' && autoFormat) ? ['Accept'] : [],
    },
  ),
  fit: parameter(
    'size',
    choice<Fit>(fitModes),
    'How the image fits the box of `w` and `h`: `cover` crops, `contain` pads with background, `fill` distorts, ' +
      '`inside` and `outside` keep the aspect ratio within or around the box.',
    'contain',
    { exampleContext: 'w=300&h=300&bg=tomato', otherwise: "the project's `defaultFit`" },
  ),
  dpr: parameter(
    'size',
    withKeyword(number(1, 3), 'auto'),
    'Device pixels per CSS pixel: multiplies `w`, `h`, `extend`, `radius` and layer lengths. `auto` uses the client hint.',
    '2',
    {
      exampleContext: 'w=200',
      otherwise: "the project's `defaultDpr`",
      // Without a width, hinted CSS pixels become device pixels.
      varies: ({ w, h, dpr }) =>
        dpr === 'auto' || (dpr === undefined && w === undefined && h === undefined)
          ? ['Sec-CH-DPR', 'DPR']
          : [],
    },
  ),
  pos: parameter(
    'crop',
    positionName,
    'Part of the image that `cover` keeps, or where `contain` places the image. Words such as top and right top also ' +
      'work; `entropy` and `attention` find the most interesting part.',
    'west',
    {
      aliases: ['position', 'gravity'],
      exampleContext: 'w=200&h=300',
      byDefault: 'center',
      replaces: ['fp'],
    },
  ),
  fp: parameter(
    'crop',
    parts({ x: fraction, y: fraction }),
    'Focal point that `cover` keeps: fractions of the width and height after `crop`, `trim`, `flip`, `flop` and ' +
      '`rotate`. Overrides `pos`.',
    '0.7,0.3',
    { exampleContext: 'w=200&h=300' },
  ),
  zoom: parameter(
    'crop',
    number(0.1, 10),
    'Factor of the scale at which `cover` shows the image around `fp` or `pos`: above 1 it crops more, below 1 less, so ' +
      'that the output ends where the image does. `entropy` and `attention` count as `center`.',
    '2.5',
    { exampleContext: 'w=300&h=200&fp=0.7,0.3', byDefault: '1' },
  ),
  bg: parameter(
    'colour',
    background,
    'Background colour for padding and flattened transparency. Behind an image that `contain` or `extend` pads, even ' +
      'where it is transparent, `blur` shows a blurred copy with this sigma in CSS pixels, by default 20, and `edge` the ' +
      'mean colour of its outermost pixels. Without padding, both mean the default.',
    'blur',
    {
      aliases: ['background', 'b'],
      exampleContext: 'w=300&h=300&fit=contain',
      otherwise: 'transparent; white in formats without transparency',
    },
  ),
  enlarge: parameter(
    'size',
    withKeyword(flag, 'box'),
    'Scales up smaller images. `box` does not scale up, but keeps the box: `contain` pads the image, even to a single ' +
      "side; `cover` and `fill` limit each side to the image's; `dpr` decreases, at most to 1, if the image has too few " +
      'pixels.',
    '',
    {
      exampleContext: 'w=600&animated=0',
      byDefault: '0',
    },
  ),
  kernel: parameter('size', choice(kernels), 'Interpolation kernel for scaling.', 'nearest', {
    exampleContext: 'w=100',
    byDefault: plainVariant.kernel,
  }),
  crop: parameter(
    'crop',
    sourceArea,
    'Crops the source before all other operations, in pixels of the upright source, or in shares of its sides if a ' +
      'number is not whole: `0.1,0.2,0.5,0.5`.',
    '100,80,400,300',
    { aliases: ['extract'], exampleContext: '' },
  ),
  trim: parameter(
    'crop',
    flagOrNumber(number(0, 100), 10),
    "Removes borders that differ from the corner's colour by at most this value.",
    '25',
    { byDefault: '0' },
  ),
  rotate: parameter(
    'crop',
    angle(number(-360, 360)),
    'Rotates clockwise, in degrees, before the resize. `bg` fills the corners.',
    '-12',
    { exampleContext: 'w=400&bg=fff', byDefault: '0' },
  ),
  flip: parameter('crop', flag, 'Mirrors vertically before the rotation.', '', { byDefault: '0' }),
  flop: parameter('crop', flag, 'Mirrors horizontally before the rotation.', '', {
    byDefault: '0',
  }),
  extend: parameter(
    'size',
    parts({ top: edge, right: edge, bottom: edge, left: edge }),
    'Adds a border in CSS pixels after the resize.',
    '10,10,40,10',
    { exampleContext: 'w=380&bg=fff', byDefault: '0,0,0,0' },
  ),
  flatten: parameter('colour', flag, 'Replaces transparency with the background.', '', {
    exampleContext: 'w=400&bg=gold',
    byDefault: '0',
  }),
  grayscale: parameter('colour', flag, 'Converts to grey.', '', {
    aliases: ['greyscale'],
    byDefault: '0',
  }),
  negate: parameter('colour', flag, 'Inverts the colours.', '', { byDefault: '0' }),
  normalize: parameter('colour', flag, 'Stretches the luminance to the full range.', '', {
    aliases: ['normalise'],
    byDefault: '0',
  }),
  gamma: parameter(
    'colour',
    neutral(number(1, 3), 1),
    'Gamma correction: darkens before the resize and brightens after it.',
    '2.2',
    { byDefault: '1' },
  ),
  brightness: parameter('colour', factor, 'Multiplies the brightness.', '1.3', { byDefault: '1' }),
  saturation: parameter('colour', factor, 'Multiplies the saturation.', '2', { byDefault: '1' }),
  hue: parameter('colour', degrees, 'Rotates the hue, in degrees.', '90', { byDefault: '0' }),
  lightness: parameter('colour', lightness, 'Adds to the lightness.', '20', { byDefault: '0' }),
  modulate: parameter(
    'colour',
    parts({ brightness: factor, saturation: factor, hue: degrees, lightness }),
    '`brightness`, `saturation`, `hue` and `lightness` in one parameter. The separate parameters override it.',
    '1.1,0.5,180,0',
    { byDefault: '1,1,0,0', replaces: ['brightness', 'saturation', 'hue', 'lightness'] },
  ),
  contrast: parameter(
    'colour',
    neutral(number(-100, 100), 0),
    'Contrast in percent: -100 makes the image grey, 100 doubles the distance from middle grey, like `contrast(2)` in CSS.',
    '40',
    { byDefault: '0' },
  ),
  sepia: parameter(
    'colour',
    neutral(number(0, 100), 0),
    'Tones the image like an old photograph, in percent, as `sepia()` does in CSS.',
    '80',
    { byDefault: '0' },
  ),
  duotone: parameter(
    'colour',
    duotone,
    'Replaces black with the first colour, white with the second, and other brightnesses with a mixture.',
    '1b2a6b,ffd27f',
  ),
  vignette: parameter(
    'filters',
    neutral(number(0, 100), 0),
    'Darkens the image towards its corners, by this percentage at the corners.',
    '60',
    { byDefault: '0' },
  ),
  blurarea: parameter(
    'filters',
    areas,
    'Blurs areas of the source, such as faces, before `flip` and `rotate`, so strongly that nobody can recognise them. In pixels of the ' +
      'upright source, like `crop`.',
    '200,120,250,180',
    { exampleContext: 'crop=0,0,600,450' },
  ),
  pixelatearea: parameter(
    'filters',
    areas,
    'Pixelates areas of the source, such as number plates, as `blurarea` blurs them.',
    '200,120,250,180',
    { exampleContext: 'crop=0,0,600,450' },
  ),
  pixelate: parameter(
    'filters',
    neutral(integer(1, 200), 1),
    'Replaces squares with this side length, in output pixels, with their mean colour.',
    '12',
    { byDefault: '1' },
  ),
  tint: parameter('colour', colour, 'Tints the image and keeps its luminance.', 'c08040'),
  threshold: parameter(
    'colour',
    integer(0, 255),
    'Makes pixels of at least this lightness white and all others black.',
    '128',
  ),
  median: parameter(
    'filters',
    neutral(integer(1, 15), 1),
    'Median filter over a square with this side length; removes specks.',
    '5',
    { byDefault: '1' },
  ),
  blur: parameter(
    'filters',
    flagOrNumber(number(0.3, 100), 1),
    'Gaussian blur with this sigma, in output pixels.',
    '5',
    { byDefault: '0' },
  ),
  sharpen: parameter(
    'filters',
    flagOrNumber(number(0.01, 10), 1),
    'Unsharp mask with this sigma, in output pixels.',
    '2',
    { byDefault: '0' },
  ),
  opacity: parameter(
    'colour',
    neutral(number(0, 1), 1),
    "Multiplies the image's opacity; the watermark keeps its own.",
    '0.4',
    { byDefault: '1' },
  ),
  outline: parameter(
    'colour',
    outline,
    'Draws a line along the edge, inside the image and its rounded corners. The width is in CSS pixels.',
    '6,tomato',
    { exampleContext: 'w=240&h=240&radius=40' },
  ),
  radius: parameter(
    'crop',
    cornerRadius,
    'Rounds the corners by this radius in CSS pixels, or by one for each corner, clockwise from the top left; `max` ' +
      'makes a circle or a pill. Layers are cut too. The corners are transparent; formats without transparency get `bg`.',
    'max',
    { exampleContext: 'w=240&h=240', byDefault: '0' },
  ),
  page: parameter(
    'format',
    integer(0, 99_999),
    'Renders a single page of a TIFF or PDF, image of an AVIF or HEIC, or frame of an animation, counted from 0.',
    '1',
    {
      aliases: ['frame'],
      exampleContext: '',
      otherwise:
        'all frames of an animation, the primary image of an AVIF or HEIC, otherwise the first page',
    },
  ),
  lenient: parameter(
    'delivery',
    flag,
    'Decodes truncated or damaged JPEGs, PNGs, GIFs and WebPs as far as possible. JPEGs and GIFs that only lack their end are also decoded without it.',
    '',
    { byDefault: '0' },
  ),
  animated: parameter('format', flag, '`0` renders a still image of an animation.', '0', {
    aliases: ['a'],
    exampleContext: '',
    byDefault: '1',
    replaces: ['page'],
  }),
  lossless: parameter(
    'format',
    flag,
    'Lossless encoding for WebP, AVIF and JPEG XL. `0` also disables it for drawings.',
    '',
    {
      exampleContext: 'w=200&fmt=webp',
      otherwise: 'drawings are encoded without visible loss if that adds few bytes',
    },
  ),
  chroma: parameter(
    'format',
    choice(chromas),
    'Resolution of colour in a lossy JPEG, AVIF or WebP: `444` is full, `420` half in both directions, which some ' +
      'Android decoders of AVIF need. WebP always stores half, and `444` makes its edges sharper.',
    '444',
    {
      exampleContext: 'w=400&fmt=jpeg',
      otherwise: 'full in AVIF, and in JPEG from `q=90` on or for sharp coloured edges',
    },
  ),
  progressive: parameter(
    'format',
    flag,
    'Encodes a JPEG in several scans, so that browsers show a coarse image first.',
    '',
    { exampleContext: 'w=400&fmt=jpeg', byDefault: '0' },
  ),
  density: parameter(
    'format',
    integer(30, 10_000),
    'Pixels per inch that a JPEG or PNG states, from which programs derive the printed size. The pixels do not change.',
    '300',
    { exampleContext: 'w=400&fmt=jpeg' },
  ),
  maxbytes: parameter(
    'format',
    integer(1, 100_000_000),
    'Maximum bytes of a JPEG, WebP, AVIF or JPEG XL: lowers the quality from `q` to about the highest that fits, or to ' +
      '1. PNG, GIF and lossless output have no quality to lower.',
    '9000',
    { exampleContext: 'w=400&fmt=webp' },
  ),
  keep: parameter(
    'format',
    choice(['copyright']),
    'Keeps only author, copyright and licence metadata, as EXIF and XMP, in every format except GIF, regardless of the ' +
      "project's settings.",
    'copyright',
    { otherwise: "all metadata or none, depending on the project's `stripMetadata`" },
  ),
  icc: parameter(
    'colour',
    choice(['keep']),
    'Keeps the source colours in their RGB profile, such as Display P3, in every format except GIF.',
    'keep',
    { otherwise: "colours are converted to sRGB unless the project's `stripMetadata` is false" },
  ),
  hdr: parameter(
    'colour',
    choice(['keep']),
    'Keeps the gain map of an Ultra HDR JPEG for HDR screens; the output is a JPEG. For such a source, options that ' +
      'the gain map cannot follow, such as `fmt=webp`, `blur` or `trim`, return 400; other sources ignore `hdr`.',
    'keep',
  ),
  v: ofDelivery(
    'delivery',
    version,
    'Source version, such as a date or a hash. Each version is fetched, rendered and cached separately, so a new ' +
      'version shows a changed source.',
    '2026-11-22',
    'source',
  ),
  preset: ofDelivery(
    'delivery',
    text('a name', 40),
    "Applies the project's preset with this name. Parameters in the URL override it.",
    'card',
  ),
  layer: ofDelivery(
    'layers',
    layerNames,
    "Draws the project's layers with these names, in this order. A parameter such as `text.price=19,90 €` replaces the " +
      'text of the layer `price`; it requires a signed URL unless the layer allows free text.',
    'badge',
  ),
  overlay: ofDelivery(
    'layers',
    sourceReference,
    "Draws another image over the image, from the project's `origin` or, in signed URLs, any allowed host. `overlay.w`, " +
      '`overlay.h`, `overlay.pos`, `overlay.x`, `overlay.y`, `overlay.opacity` and `overlay.radius` are ' +
      "the overlay's width, height and so on; `overlay2` to `overlay4` draw more images.",
    '/emblem.svg',
    'pixels',
  ),
  fallback: ofDelivery(
    'delivery',
    sourceUrl,
    'Another source on an allowed host, used if the source cannot be fetched or is not an image. Caches keep ' +
      'the response briefly, and `X-Fallback` contains the error code.',
    'https://shop.example.com/no-image.png',
  ),
  download: ofDelivery(
    'delivery',
    fileName,
    'Makes browsers save the image under this name, plus the extension of its format.',
    'My landscape',
  ),
  filename: {
    ...ofDelivery(
      'delivery',
      fileName,
      'Name that browsers propose when someone saves the shown image, plus the extension of its format.',
      'red shoe',
    ),
    defaultInWords: "the source's name",
  },
} as const satisfies OperationParameters & Readonly<Record<string, Parameter<unknown>>>;

export type ParameterName = keyof typeof parameters;

export const parameterNames = Object.keys(parameters) as ParameterName[];
