import { maxNameCharacters } from '../../formats/metadata/profile.ts';
import type { SourceFacts } from '../../formats/source-format.ts';
import { scaledSize } from '../../geometry.ts';
import type { OutputFormat } from '../encode/encodings.ts';
import { upright } from '../plan.ts';
import { exifFields, exifSchema } from './exif.ts';
import {
  dominantColour,
  findFocus,
  palette,
  paletteSize,
  perceptualHash,
  type SmallPixels,
} from './pixel-facts.ts';

/** The inputs for the facts. */
export interface FactInputs {
  readonly source: SourceFacts;
  /** The source's size in bytes. */
  readonly bytes: number;
  /** The image for the same request without `fmt`. */
  readonly output: DescribedOutput;
  /** Pixels of the output, or of its first frame. */
  readonly pixels: SmallPixels;
}

export interface DescribedOutput {
  readonly format: OutputFormat;
  readonly width: number;
  readonly height: number;
  readonly body: Uint8Array;
}

/** The part of JSON Schema (2020-12) that the fields use. */
export interface FactSchema {
  readonly type: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, FactSchema>>;
  readonly items?: FactSchema;
}

/** A field in the `fmt=json` response. */
interface Field<T> {
  readonly schema: FactSchema;
  make(described: FactInputs): T | Promise<T>;
}

type Fields = Readonly<Record<string, Field<unknown>>>;
type Values<F extends Fields> = {
  readonly [Name in keyof F]: Awaited<ReturnType<F[Name]['make']>>;
};

function object<const F extends Fields>(description: string, fields: F): Field<Values<F>> {
  const entries = Object.entries(fields);
  return {
    schema: objectSchema(
      description,
      Object.fromEntries(entries.map(([name, { schema }]) => [name, schema])),
    ),
    async make(described) {
      const made = entries.map(
        async ([name, field]) => [name, await field.make(described)] as const,
      );
      return Object.fromEntries(await Promise.all(made)) as Values<F>;
    },
  };
}

const objectSchema = (description: string, properties: Readonly<Record<string, FactSchema>>) => ({
  type: 'object',
  description,
  properties,
  required: Object.keys(properties),
});

const field = <T>(
  type: FactSchema['type'],
  description: string,
  make: Field<T>['make'],
  rules: object = {},
): Field<T> => ({ schema: { type, ...rules, description }, make });

const count = { minimum: 1 };
const hexColour = { type: 'string', pattern: '^#[0-9a-f]{6}$' };
const fraction = { type: 'number', minimum: 0, maximum: 1 };

/** An SVG's size can be fractional. */
export const uprightSize = (source: SourceFacts) => scaledSize(upright(source), 1);

/**
 * The `fmt=json` response. The OpenAPI document, the SDK's type, the documented table and the
 * responses derive from it.
 */
export const imageFacts = object(
  'Facts about the source, and about the output of the same request without `fmt`. Facts about pixels describe the output.',
  {
    source: object('The source.', {
      format: field('string', 'Format, such as `jpeg`.', ({ source }) => source.format.name),
      width: field(
        'integer',
        'Frame size in pixels, upright.',
        ({ source }) => uprightSize(source).width,
        count,
      ),
      height: field(
        'integer',
        'Frame size in pixels, upright.',
        ({ source }) => uprightSize(source).height,
        count,
      ),
      bytes: field('integer', 'File size.', ({ bytes }) => bytes, count),
      pages: field(
        'integer',
        'Pages, or frames of an animation.',
        ({ source }) => source.pages,
        count,
      ),
      frames: field(
        'integer',
        'Frames of an animation, even if the service reads only the first; 1 for a still image.',
        ({ source }) => source.storedFrames,
        count,
      ),
      hasAlpha: field('boolean', 'True if it has transparency.', ({ source }) => source.hasAlpha),
      orientation: field(
        'integer',
        'EXIF orientation of the stored pixels; 1 is upright.',
        ({ source }) => source.orientation,
        { minimum: 1, maximum: 8 },
      ),
      profile: field(
        ['string', 'null'],
        'Colour profile name, such as `Display P3`; null without a named profile.',
        ({ source }) => source.colour.profileName,
        { maxLength: maxNameCharacters },
      ),
    }),
    output: object('The image of the same request without `fmt`.', {
      format: field('string', 'Format, such as `webp`.', ({ output }) => output.format),
      width: field('integer', 'Frame size in pixels.', ({ output }) => output.width, count),
      height: field('integer', 'Frame size in pixels.', ({ output }) => output.height, count),
      bytes: field('integer', 'File size.', ({ output }) => output.body.byteLength, count),
    }),
    dominant: field(
      ['string', 'null'],
      'The colour that covers the largest area; null for a fully transparent image.',
      ({ pixels }) => dominantColour(pixels),
      { pattern: hexColour.pattern },
    ),
    palette: field(
      'array',
      'Up to five colours that represent the image, including the dominant colour, by descending share.',
      ({ pixels }) => palette(pixels),
      {
        maxItems: paletteSize,
        items: objectSchema('A colour and its share.', {
          color: { ...hexColour, description: 'As `#rrggbb`.' },
          share: {
            ...fraction,
            description: 'Fraction of the opaque area that is nearest to this colour.',
          },
        }),
      },
    ),
    focus: field(
      'object',
      'Where `pos=attention` centres a square: a value for `fp`.',
      ({ pixels }) => findFocus(pixels),
      {
        properties: {
          x: { ...fraction, description: 'Fraction of the width.' },
          y: { ...fraction, description: 'Fraction of the height.' },
        },
        required: ['x', 'y'],
      },
    ),
    perceptualHash: field(
      'string',
      '64-bit pHash in hexadecimal: the hashes of similar images differ in few bits.',
      ({ pixels }) => perceptualHash(pixels),
      { pattern: '^[0-9a-f]{16}$' },
    ),
    exif: field(
      'object',
      exifSchema.description,
      ({ output }) => exifFields(output.body),
      exifSchema,
    ),
  },
);
