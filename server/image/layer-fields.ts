import { gravities } from '../../contract/image-terms.ts';
import { packagedFamily } from '../../pool/rendering/text/fonts.ts';
import {
  alignments,
  blends,
  type ImageLayer,
  type LayerPlacement,
  type Length,
  type TextLayer,
} from '../../pool/variant.ts';
import { isPartName, type PresetValue, partNamePattern } from '../../store/project.ts';
import { sourceUrl } from './source-url.ts';
import {
  angle,
  choice,
  colour,
  cornerRadius,
  decimalPattern,
  flag,
  integer,
  neutral,
  number,
  type ParameterType,
  withKeyword,
} from './values.ts';

export interface LayerField<T> extends ParameterType<T> {
  readonly meaning: string;
  /**
   * The JSON value with the same effect as omitting the field, or null if there is no such value;
   * undefined for required fields.
   */
  readonly default: PresetValue | null | undefined;
  /** A value with a visible effect. */
  readonly example: PresetValue;
  /** Other fields in the example's layer. */
  readonly exampleContext: Readonly<Record<string, PresetValue>>;
}

type FieldsOf<T> = { readonly [Name in keyof T]: LayerField<T[Name]> };

function field<T>(
  type: ParameterType<T>,
  meaning: string,
  byDefault: PresetValue | null | undefined,
  example: PresetValue,
  exampleContext: Readonly<Record<string, PresetValue>> = {},
): LayerField<T> {
  return { ...type, meaning, default: byDefault, example, exampleContext };
}

export const maxWords = 500;

/** Layer fields are JSON, so flags need no other forms. */
const boolean: ParameterType<boolean> = {
  ...flag,
  accepts: 'true or false',
  schema: { type: 'boolean' },
};

/**
 * CSS pixels as a number, or a percentage as a text.
 * @param pixels whole numbers
 * @param percent allows a fraction
 */
function length(
  pixels: ParameterType<number>,
  percent: ParameterType<number>,
): ParameterType<Length> {
  return {
    accepts: `${pixels.accepts}, or ${percent.accepts} with % or p, such as 10%`,
    schema: {
      anyOf: [pixels.schema, { type: 'string', pattern: `^${decimalPattern}(?:px|%|p)?$` }],
    },
    parse(text) {
      const unit = /[%p]$/.test(text) ? '%' : 'px';
      const written = text.replace(/(?:px|%|p)$/, '');
      const amount = (unit === '%' ? percent : pixels).parse(written);
      return amount === undefined ? undefined : { amount, unit };
    },
  };
}

const side = length(integer(1, 10_000), number(0.1, 100));
const offset = length(integer(-99_999, 99_999), number(-99_999, 99_999));

/** Text that a renderer can show: no control characters except line feeds. */
export const words: ParameterType<string> = {
  accepts: `a text of at most ${maxWords} characters, without control characters other than line feeds`,
  schema: {
    type: 'string',
    pattern: '^[^\\x00-\\x09\\x0b-\\x1f\\x7f-\\x9f]*$',
    maxLength: maxWords,
  },
  parse(text) {
    // A character takes up to two code units. Refuse longer texts before splitting them.
    if (text.length > 2 * maxWords) return undefined;
    const isShown = text.isWellFormed() && !/[^\P{Cc}\n]/u.test(text);
    return isShown && [...text].length <= maxWords ? text : undefined;
  },
};

const fontFamily: ParameterType<string> = {
  accepts: `a family of the service's fonts, such as ${packagedFamily.name}`,
  schema: { type: 'string', pattern: '^[^\\x00-\\x1f\\x7f-\\x9f]{1,100}$' },
  parse: (text) => (/^[^\p{Cc}]{1,100}$/u.test(text) ? text : undefined),
};

const percent = integer(1, 100);

const placement: FieldsOf<LayerPlacement> = {
  position: field(
    choice(gravities),
    'Edge or corner of the image for the layer.',
    'southeast',
    'north',
  ),
  offsetX: field(
    offset,
    'Distance from the left or right edge, in CSS pixels or percent of the output width; moves centred layers to the right.',
    0,
    '10%',
  ),
  offsetY: field(
    offset,
    'Distance from the top or bottom edge, in CSS pixels or percent of the output height; moves centred layers down.',
    0,
    40,
  ),
  tiled: field(
    boolean,
    'Repeats the layer over the whole image, with the offsets as gaps.',
    false,
    true,
  ),
  opacity: field(percent, 'Opacity in percent.', 100, 40),
  rotate: field(angle(number(-360, 360)), 'Rotates the layer clockwise, in degrees.', 0, -20),
  blend: field(
    choice(blends),
    'Blend mode for the layer and the image below it.',
    'over',
    'difference',
  ),
};

/**
 * All layer fields by kind and name. Checks of stored layers, JSON schemas, the documentation, the
 * gallery and tests derive from this table.
 */
const layerFields = {
  image: {
    url: field(
      sourceUrl,
      'http or https URL of the image, on an allowed host.',
      undefined,
      'https://shop.example.com/badge.png',
    ),
    scale: field(
      percent,
      'Layer width after rotation, as a percentage of the image width. The layer is never higher than the image.',
      20,
      50,
    ),
    width: field<Length | null>(
      side,
      "Maximum width, in CSS pixels or percent of the output width. With `width` or `height`, `scale` isn't used.",
      null,
      120,
    ),
    height: field<Length | null>(
      side,
      'Maximum height, in CSS pixels or percent of the output height.',
      null,
      '30%',
    ),
    radius: field(
      cornerRadius,
      'Rounds the corners, in CSS pixels; `max` makes a circle or a pill.',
      0,
      'max',
    ),
    ...placement,
  } satisfies FieldsOf<Omit<ImageLayer, 'kind' | 'isWatermark'>>,
  text: {
    words: field(words, 'Text to draw, unless the URL replaces it.', '', '19,90 €'),
    freeText: field(
      boolean,
      "Allows unsigned URLs to replace the text. Anyone can then put text on the project's images.",
      false,
      true,
    ),
    font: field(fontFamily, 'Font family.', packagedFamily.name, packagedFamily.name),
    fontUrl: field<string | null>(
      sourceUrl,
      'http or https URL of a TTF, OTF or WOFF2 file, on an allowed host. Overrides `font`.',
      null,
      'https://shop.example.com/letters.woff2',
    ),
    weight: field(integer(100, 900), 'Font weight: 400 is regular, 700 is bold.', 400, 800),
    size: field(
      withKeyword(length(integer(1, 1_000), number(1, 100)), 'fit'),
      'Font size, in CSS pixels or percent of the output width; `fit` is the largest size that fits the box.',
      32,
      'fit',
    ),
    width: field(
      percent,
      'Box width as a percentage of the image width. Longer lines wrap.',
      100,
      20,
    ),
    height: field(percent, 'Box height as a percentage of the image height.', 100, 12, {
      size: 'fit',
    }),
    color: field(colour, 'Text colour.', '000', 'fff'),
    background: field(colour, 'Colour behind the text.', 'transparent', 'gold'),
    padding: field(
      length(integer(0, 500), number(0, 50)),
      'Space between the text and the edges of its background, in CSS pixels or percent of the output width.',
      0,
      12,
      { background: 'gold' },
    ),
    align: field(choice(alignments), 'Line alignment.', 'left', 'right'),
    maxLines: field(
      neutral(integer(0, 100), 0),
      'Maximum lines; longer text ends with an ellipsis. `0` means no limit.',
      0,
      1,
      { width: 30 },
    ),
    ...placement,
  } satisfies FieldsOf<Omit<TextLayer, 'kind'> & { freeText: boolean }>,
} as const;

export type LayerKind = keyof typeof layerFields;
export const layerKinds = Object.keys(layerFields) as LayerKind[];

/** Returns the fields of a kind, for code that treats all fields alike. */
export const fieldsOfKind = (kind: LayerKind): Readonly<Record<string, LayerField<unknown>>> =>
  layerFields[kind];

const maxLayers = 10;

const name = partNamePattern.slice(1, -1);

/** The value of `layer`. */
export const layerNames: ParameterType<readonly string[]> = {
  accepts: `1 to ${maxLayers} different layer names, separated by commas`,
  schema: { type: 'string', pattern: `^${name}(?:,${name}){0,${maxLayers - 1}}$` },
  parse(text) {
    const names = text.split(',', maxLayers + 1);
    const isValid = names.length <= maxLayers && names.every(isPartName);
    return isValid && new Set(names).size === names.length ? names : undefined;
  },
};
