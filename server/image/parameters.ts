import { type Fit, fits } from '../../contract/placement.ts';
import { type OutputFormat, outputFormats } from '../../pool/rendering/encode/encodings.ts';
import type { OperationName, OperationValues } from '../../pool/rendering/operations.ts';
import {
  kernels,
  type PlaceholderKind,
  placeholderKinds,
  plainVariant,
} from '../../pool/variant.ts';
import { fileName } from './download.ts';
import { layerNames } from './layer-fields.ts';
import { positionName } from './positions.ts';
import { sourceUrl } from './source-url.ts';
import {
  angle,
  aspectRatio,
  choice,
  colour,
  flag,
  flagOr,
  integer,
  neutral,
  number,
  orWord,
  type ParameterType,
  parts,
  text,
} from './values.ts';

/** One transform parameter of the image endpoint. */
export interface Parameter<T> extends ParameterType<T> {
  readonly aliases: readonly string[];
  readonly meaning: string;
  readonly example: string;
  /** The other parameters of a query with the example. */
  readonly exampleWith: string;
  /** The text that has the effect of its absence, unless a preset or the project has another value; null for none. */
  readonly default: string | null;
  /** What a request without it gets, in words with Markdown. */
  readonly defaultInWords: string;
  /** The parameters of a preset that it replaces in a URL, although their names differ. */
  readonly replaces: readonly string[];
  /**
   * `transform`: part of the variant, and so of the cache key. `delivery`: selects the source or its version, or
   * affects the response only.
   */
  readonly role: 'transform' | 'delivery';
}

function parameter<T>(
  value: ParameterType<T>,
  meaning: string,
  example: string,
  {
    aliases = [],
    exampleWith = 'w=400',
    byDefault = null,
    replaces = [],
    otherwise = byDefault === null ? 'none' : `\`${byDefault}\``,
  }: {
    aliases?: readonly string[];
    exampleWith?: string;
    byDefault?: string | null;
    replaces?: readonly string[];
    otherwise?: string;
  } = {},
): Parameter<T> {
  return {
    ...value,
    meaning,
    example,
    aliases,
    exampleWith,
    default: byDefault,
    defaultInWords: otherwise,
    replaces,
    role: 'transform',
  };
}

function ofDelivery<T>(value: ParameterType<T>, meaning: string, example: string): Parameter<T> {
  return { ...parameter(value, meaning, example), role: 'delivery' };
}

const pixels = integer(0, 100_000);
const side = integer(1, 100_000);
const edge = integer(0, 2_000);
const factor = number(0, 10);
const degrees = angle(integer(-360, 360));
const lightness = number(-100, 100);
const fraction = number(0, 1);
const versionPattern = '^[0-9A-Za-z._-]{1,64}$';
const version: ParameterType<string> = {
  accepts: '1 to 64 letters, digits, dots, hyphens and underscores',
  schema: { type: 'string', pattern: versionPattern },
  parse: (text) => (new RegExp(versionPattern).test(text) ? text : undefined),
};

/** The compiler names each operation without a parameter, and each with another type than its parameter's. */
type OperationParameters = { readonly [Name in OperationName]: Parameter<OperationValues[Name]> };

/**
 * Every parameter by its canonical name, in the order of the documentation. A parameter that requests an operation on
 * pixels has the name of its row in `pool/rendering/operations.ts`, which is the rest of this row. Parsing, error messages, the list of supported
 * parameters, the interface specification and the documentation derive from this table.
 */
export const parameters = {
  w: parameter(
    integer(1, 10_000),
    'Width of the output in CSS pixels; the height follows unless it is given too.',
    '200',
    {
      aliases: ['width'],
      exampleWith: '',
      otherwise: "by `h`, a client hint, or the source; at most the project's `maxWidth`",
    },
  ),
  h: parameter(
    integer(1, 10_000),
    'Height of the output in CSS pixels; the width follows unless it is given too.',
    '200',
    { aliases: ['height'], exampleWith: '', otherwise: 'by `w`, or the source' },
  ),
  ar: parameter(
    aspectRatio,
    'Aspect ratio of the box: gives the height for w, or the width for h, and has no effect with both. With ' +
      'neither, `cover` cuts the picture to the ratio, `contain` adds background to it, `fill` shortens one side, ' +
      'and `inside` and `outside` change nothing.',
    '16:9',
    { exampleWith: 'w=300' },
  ),
  q: parameter(
    orWord(integer(1, 100), 'auto'),
    'Quality of a lossy output. The same value looks about equally good in every format. `auto` chooses a ' +
      'value from 45 to 89 for each picture, so that different pictures look about equally good; for an ' +
      'animation it is 77.',
    '20',
    {
      aliases: ['quality'],
      exampleWith: 'w=400&fmt=webp',
      otherwise: "the project's `defaultQuality`",
    },
  ),
  fmt: parameter(
    choice<OutputFormat | 'auto' | PlaceholderKind>(
      ['auto', ...outputFormats, ...placeholderKinds],
      { jpg: 'jpeg' },
    ),
    'Format of the output; `jxl` is JPEG XL, and `auto` takes the best one that the client names in Accept. `blurhash`, ' +
      '`thumbhash` and `lqip` return a text to show while the picture loads, `json` ' +
      'returns facts about it, such as its size, colours, focus and a perceptual hash.',
    'webp',
    {
      aliases: ['f', 'format'],
      otherwise: "`auto`, or the source's format if the project's `autoFormat` is false",
    },
  ),
  fit: parameter(
    choice<Fit>(fits),
    'How the picture fits the box when both w and h are given: `cover` cuts off the ' +
      'excess, `contain` adds background, `fill` distorts, `inside` and `outside` keep the aspect ratio ' +
      'within or around the box.',
    'contain',
    { exampleWith: 'w=300&h=300&bg=tomato', otherwise: "the project's `defaultFit`" },
  ),
  dpr: parameter(
    orWord(number(1, 3), 'auto'),
    'Device pixels for each CSS pixel: multiplies w, h, extend and the lengths of layers. `auto` takes the client hint.',
    '2',
    { exampleWith: 'w=200', otherwise: "the project's `defaultDpr`" },
  ),
  pos: parameter(
    positionName,
    'The part that `cover` keeps and the place where `contain` puts the picture; also top, right top ' +
      'and so on. `entropy` and `attention` choose the most interesting part.',
    'west',
    {
      aliases: ['position', 'gravity'],
      exampleWith: 'w=200&h=300',
      byDefault: 'center',
      replaces: ['fp'],
    },
  ),
  fp: parameter(
    parts({ x: fraction, y: fraction }),
    'Focal point: `cover` keeps the part around it, as far as the picture allows. Fractions of the width ' +
      'and the height after crop, trim, flip, flop and rotate. Takes precedence over pos.',
    '0.7,0.3',
    { exampleWith: 'w=200&h=300' },
  ),
  bg: parameter(
    colour,
    'Background of the area that the picture does not cover, and of transparency that is flattened.',
    '0a84ff80',
    {
      aliases: ['background', 'b'],
      exampleWith: 'w=300&h=300&fit=contain',
      otherwise: 'transparent; white in an output without transparency',
    },
  ),
  enlarge: parameter(flag, 'Scales up a picture that is smaller than the requested size.', '', {
    exampleWith: 'w=600&animated=0',
    byDefault: '0',
  }),
  kernel: parameter(choice(kernels), 'Interpolation when the picture is scaled.', 'nearest', {
    exampleWith: 'w=100',
    byDefault: plainVariant.kernel,
  }),
  crop: parameter(
    parts({ left: pixels, top: pixels, width: side, height: side }),
    'Uses only this part of the source, in pixels of the upright source, before all other operations.',
    '100,80,400,300',
    { aliases: ['extract'], exampleWith: '' },
  ),
  trim: parameter(
    flagOr(number(0, 100), 10),
    "Cuts off borders that differ from the corner's colour by at most this value.",
    '25',
    { byDefault: '0' },
  ),
  rotate: parameter(
    angle(number(-360, 360)),
    'Rotates clockwise by degrees, before the resize; bg fills the corners.',
    '-12',
    { exampleWith: 'w=400&bg=fff', byDefault: '0' },
  ),
  flip: parameter(flag, 'Mirrors top and bottom, before the rotation.', '', { byDefault: '0' }),
  flop: parameter(flag, 'Mirrors left and right, before the rotation.', '', { byDefault: '0' }),
  extend: parameter(
    parts({ top: edge, right: edge, bottom: edge, left: edge }),
    'Adds a border after the resize, in CSS pixels.',
    '10,10,40,10',
    { exampleWith: 'w=380&bg=fff', byDefault: '0,0,0,0' },
  ),
  flatten: parameter(flag, 'Replaces transparency with the background.', '', {
    exampleWith: 'w=400&bg=gold',
    byDefault: '0',
  }),
  grayscale: parameter(flag, 'Removes the colours.', '', {
    aliases: ['greyscale'],
    byDefault: '0',
  }),
  negate: parameter(flag, 'Inverts the colours.', '', { byDefault: '0' }),
  normalize: parameter(flag, 'Stretches the luminance over the whole range.', '', {
    aliases: ['normalise'],
    byDefault: '0',
  }),
  gamma: parameter(
    neutral(number(1, 3), 1),
    'Gamma correction around the resize: darkens before it and brightens after it.',
    '2.2',
    { byDefault: '1' },
  ),
  brightness: parameter(factor, 'Multiplies the brightness.', '1.3', { byDefault: '1' }),
  saturation: parameter(factor, 'Multiplies the saturation.', '2', { byDefault: '1' }),
  hue: parameter(degrees, 'Rotates the hues, in degrees.', '90', { byDefault: '0' }),
  lightness: parameter(lightness, 'Adds to the lightness.', '20', { byDefault: '0' }),
  modulate: parameter(
    parts({ brightness: factor, saturation: factor, hue: degrees, lightness }),
    '`brightness`, `saturation`, `hue` and `lightness` in one parameter; each by its own name takes ' +
      'precedence.',
    '1.1,0.5,180,0',
    { byDefault: '1,1,0,0', replaces: ['brightness', 'saturation', 'hue', 'lightness'] },
  ),
  tint: parameter(colour, 'Colours the picture and keeps its luminance.', 'c08040'),
  threshold: parameter(
    integer(0, 255),
    'Makes pixels that are at least this light white, and the others black.',
    '128',
  ),
  median: parameter(
    neutral(integer(1, 15), 1),
    'Median filter over a square with sides of this length, which removes specks.',
    '5',
    { byDefault: '1' },
  ),
  blur: parameter(
    flagOr(number(0.3, 100), 1),
    'Gaussian blur with this sigma, in pixels of the output.',
    '5',
    { byDefault: '0' },
  ),
  sharpen: parameter(
    flagOr(number(0.01, 10), 1),
    'Sharpens with an unsharp mask of this sigma, in pixels of the output.',
    '2',
    { byDefault: '0' },
  ),
  opacity: parameter(
    neutral(number(0, 1), 1),
    "Multiplies the picture's opacity; the watermark's does not change.",
    '0.4',
    { byDefault: '1' },
  ),
  page: parameter(
    integer(0, 99_999),
    'Uses only this page of a TIFF or PDF, image of an AVIF or HEIC, or frame of an animation, counted from 0, as a still ' +
      'picture.',
    '1',
    {
      aliases: ['frame'],
      exampleWith: '',
      otherwise:
        'all frames of an animation, the primary image of an AVIF or HEIC, else the first page',
    },
  ),
  lenient: parameter(
    flag,
    'Decodes a truncated or damaged JPEG, PNG, GIF or WebP as far as possible, as browsers do.',
    '',
    { byDefault: '0' },
  ),
  animated: parameter(flag, '0 makes a still picture of an animation.', '0', {
    aliases: ['a'],
    exampleWith: '',
    byDefault: '1',
    replaces: ['page'],
  }),
  lossless: parameter(
    flag,
    'Lossless encoding, in WebP, AVIF and JPEG XL; 0 also prevents it for drawings.',
    '',
    {
      exampleWith: 'w=200&fmt=webp',
      otherwise: 'without visible losses for drawings, if that costs few bytes',
    },
  ),
  maxbytes: parameter(
    integer(1, 100_000_000),
    'Maximum size of a JPEG, WebP, AVIF or JPEG XL in bytes: the quality is the highest that fits, at most q, or ' +
      'near it, found in at most five attempts; quality 1 if none fits. PNG, GIF and `lossless` have no ' +
      'quality to lower.',
    '9000',
    { exampleWith: 'w=400&fmt=webp' },
  ),
  keep: parameter(
    choice(['copyright']),
    "Keeps only the author, copyright and licence of the source's metadata (no location, no camera), " +
      "regardless of the project's settings; as EXIF and XMP, in every format but GIF. A source that is " +
      'delivered byte for byte keeps its Content Credentials (C2PA).',
    'copyright',
    { otherwise: "all or none, by the project's `stripMetadata`" },
  ),
  icc: parameter(
    choice(['keep']),
    'Keeps the colours of a source in its RGB profile, such as Display P3, and the profile, in every ' +
      'format but GIF; without it colours become sRGB.',
    'keep',
    { otherwise: "colours become sRGB, unless the project's `stripMetadata` is false" },
  ),
  hdr: parameter(
    choice(['keep']),
    'Keeps the gain map of a JPEG that has one (Ultra HDR), for HDR screens; the output is a JPEG. ' +
      'Rejected with options that the gain map cannot follow, such as fmt=webp, blur or trim.',
    'keep',
  ),
  v: ofDelivery(
    version,
    'Version of the source, such as a date or a hash. Each version is fetched, rendered and cached as another ' +
      'source would be, so a new one shows a changed picture; it has no other effect.',
    '2026-11-22',
  ),
  preset: ofDelivery(
    text('a name', 40),
    "The project's preset of this name; parameters of the URL take precedence.",
    'card',
  ),
  layer: ofDelivery(
    layerNames,
    "The project's layers of these names, drawn in this order on the picture and its watermark. " +
      '`text.` and the name of a text layer, such as `text.price=19,90 €`, replaces its words; it needs a ' +
      'signed URL unless the layer allows free texts.',
    'badge',
  ),
  fallback: ofDelivery(
    sourceUrl,
    'Another source on an allowed host, used when the source cannot be fetched or is not an image. The ' +
      'response then has `X-Fallback` with the code of the error, and is not stored by caches.',
    'https://shop.example.com/no-picture.png',
  ),
  download: ofDelivery(
    fileName,
    'Makes browsers save the image under this name, with the extension of its format.',
    'My landscape',
  ),
} as const satisfies OperationParameters & Readonly<Record<string, Parameter<unknown>>>;

export type ParameterName = keyof typeof parameters;

export const parameterNames = Object.keys(parameters) as ParameterName[];
