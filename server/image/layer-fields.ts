import { gravities } from '../../contract/placement.ts';
import { packagedFamily } from '../../pool/rendering/text/fonts.ts';
import {
  alignments,
  blends,
  type ImageLayer,
  type Length,
  type Placement,
  type TextLayer,
} from '../../pool/variant.ts';
import { isLayerName, layerNamePattern } from '../../store/layer.ts';
import type { PresetValue } from '../../store/preset.ts';
import { sourceUrl } from './source-url.ts';
import {
  angle,
  choice,
  colour,
  flag,
  integer,
  neutral,
  number,
  orWord,
  type ParameterType,
  partPattern,
} from './values.ts';

/** One field of a layer. */
export interface LayerField<T> extends ParameterType<T> {
  readonly meaning: string;
  /** The JSON value that has the effect of its absence; null for none, undefined for a field that a layer must have. */
  readonly default: PresetValue | null | undefined;
  /** A value that shows the effect. */
  readonly example: PresetValue;
  /** The other fields of a layer with the example. */
  readonly exampleWith: Readonly<Record<string, PresetValue>>;
}

type FieldsOf<T> = { readonly [Name in keyof T]: LayerField<T[Name]> };

function field<T>(
  type: ParameterType<T>,
  meaning: string,
  byDefault: PresetValue | null | undefined,
  example: PresetValue,
  exampleWith: Readonly<Record<string, PresetValue>> = {},
): LayerField<T> {
  return { ...type, meaning, default: byDefault, example, exampleWith };
}

/** The most characters of a layer's words. */
export const maxWords = 500;

/** Fields are JSON, where a flag needs no other forms. */
const boolean: ParameterType<boolean> = {
  ...flag,
  accepts: 'true or false',
  schema: { type: 'boolean' },
};

/** CSS pixels as a number, or percent as a text. @param pixels whole; @param percent which may have a fraction */
function length(
  pixels: ParameterType<number>,
  percent: ParameterType<number>,
): ParameterType<Length> {
  const [inPixels, inPercent] = [partPattern(pixels), partPattern(percent)];
  return {
    accepts: `${pixels.accepts}, or ${percent.accepts} with %, such as 10%`,
    schema: {
      anyOf: [pixels.schema, { type: 'string', pattern: `^(?:${inPixels}(?:px)?|${inPercent}%)$` }],
    },
    parse(text) {
      const unit = text.endsWith('%') ? '%' : 'px';
      const written = text.replace(/(?:px|%)$/, '');
      const amount = (unit === '%' ? percent : pixels).parse(written);
      return amount === undefined ? undefined : { amount, unit };
    },
  };
}

const offset = length(integer(-99_999, 99_999), number(-99_999, 99_999));

/** Texts that a renderer shows: without control characters other than line feeds. */
export const words: ParameterType<string> = {
  accepts: `a text of at most ${maxWords} characters, without control characters other than line feeds`,
  schema: {
    type: 'string',
    pattern: '^[^\\x00-\\x09\\x0b-\\x1f\\x7f-\\x9f]*$',
    maxLength: maxWords,
  },
  parse(text) {
    // A character has up to two code units. Longer texts need not be split to be refused.
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

const placement: FieldsOf<Placement> = {
  position: field(
    choice(gravities),
    'The edge or corner of the picture at which the layer is.',
    'southeast',
    'north',
  ),
  offsetX: field(
    offset,
    "Distance from the left or right edge, to the inside; a layer in the middle moves to the right. CSS pixels, or percent of the output's width.",
    0,
    '10%',
  ),
  offsetY: field(
    offset,
    "Distance from the upper or lower edge, to the inside; a layer in the middle moves down. CSS pixels, or percent of the output's height.",
    0,
    40,
  ),
  tiled: field(
    boolean,
    'Repeats the layer over the whole picture, with the offsets as gaps.',
    false,
    true,
  ),
  opacity: field(percent, 'Percent.', 100, 40),
  rotate: field(angle(number(-360, 360)), 'Rotates the layer clockwise, by degrees.', 0, -20),
  blend: field(
    choice(blends),
    'How the colours of the layer are mixed with those below it.',
    'over',
    'difference',
  ),
};

/**
 * Every field of a layer by kind and name. The checks of stored layers, their JSON schemas, the documentation, the
 * gallery and tests derive from this table.
 */
const layerFields = {
  image: {
    url: field(
      sourceUrl,
      "The image's http or https URL, on an allowed host.",
      undefined,
      'https://shop.example.com/badge.png',
    ),
    scale: field(
      percent,
      "Width of the layer after its rotation, in percent of the picture's; its height is at most the picture's.",
      20,
      50,
    ),
    ...placement,
  } satisfies FieldsOf<Omit<ImageLayer, 'kind' | 'isWatermark'>>,
  text: {
    words: field(words, 'The words, unless the URL has others.', '', '19,90 €'),
    freeText: field(
      boolean,
      'Allows other words in URLs without a signature: anyone can then put words on pictures of the project.',
      false,
      true,
    ),
    font: field(fontFamily, 'The family of the font.', packagedFamily.name, packagedFamily.name),
    fontUrl: field<string | null>(
      sourceUrl,
      'The http or https URL of a TTF, OTF or WOFF2 file, on an allowed host, which is used instead of `font`.',
      null,
      'https://shop.example.com/letters.woff2',
    ),
    weight: field(integer(100, 900), 'Weight of the font: 400 is regular, 700 is bold.', 400, 800),
    size: field(
      orWord(length(integer(1, 1_000), number(1, 100)), 'fit'),
      "Size of the font in CSS pixels, or percent of the output's width; `fit` is the largest size with which the words fit the box.",
      32,
      'fit',
    ),
    width: field(
      percent,
      "Width of the box in percent of the picture's; longer lines are broken.",
      100,
      20,
    ),
    height: field(percent, "Height of the box in percent of the picture's.", 100, 12, {
      size: 'fit',
    }),
    color: field(colour, 'Colour of the words.', '000', 'fff'),
    background: field(colour, 'Colour behind the words.', 'transparent', 'gold'),
    padding: field(
      length(integer(0, 500), number(0, 50)),
      "Space between the words and the edges of the background, in CSS pixels, or percent of the output's width.",
      0,
      12,
      { background: 'gold' },
    ),
    align: field(choice(alignments), 'Alignment of several lines.', 'left', 'right'),
    maxLines: field(
      neutral(integer(0, 100), 0),
      'The most lines; the last one ends with an ellipsis if there are more words. 0 is no limit.',
      0,
      1,
      { width: 30 },
    ),
    ...placement,
  } satisfies FieldsOf<Omit<TextLayer, 'kind'> & { freeText: boolean }>,
} as const;

export type LayerKind = keyof typeof layerFields;
export const layerKinds = Object.keys(layerFields) as LayerKind[];

/** The fields of a kind, for code that treats all alike. */
export const fieldsOfKind = (kind: LayerKind): Readonly<Record<string, LayerField<unknown>>> =>
  layerFields[kind];

/** The most layers of an image. */
const maxLayers = 10;

const name = layerNamePattern.slice(1, -1);

/** The value of `layer`. */
export const layerNames: ParameterType<readonly string[]> = {
  accepts: `1 to ${maxLayers} different names of layers, separated by commas`,
  schema: { type: 'string', pattern: `^${name}(?:,${name}){0,${maxLayers - 1}}$` },
  parse(text) {
    const names = text.split(',', maxLayers + 1);
    const isValid = names.length <= maxLayers && names.every(isLayerName);
    return isValid && new Set(names).size === names.length ? names : undefined;
  },
};
