import fc, { type Arbitrary } from 'fast-check';
import { gravities } from '../../../contract/image-terms.ts';
import { alignments, blends } from '../../../pool/variant.ts';
import { inputNamed } from '../../server/control/inputs.ts';

const word = fc.stringMatching(/^[a-z]{1,8}$/);
const host = fc.oneof(
  { weight: 6, arbitrary: word.map((name) => `${name}.example`) },
  { weight: 1, arbitrary: word.map((name) => `*.${name}.EXAMPLE.`) },
  fc.constantFrom('bücher.example', '127.0.0.1', 'intranet', '10.0.0.1', '[::1]', 'a:80', '', '*'),
  fc.domain(),
  fc.string({ unit: 'binary' }),
);
const notSources = 'ftp://a.example/ http://10.0.0.1/ https:a.example http://[ x:y'.split(' ');
const url = fc.oneof(
  { weight: 40, arbitrary: word.map((name) => `https://a.example/${name}`) },
  fc.webUrl({ withFragments: true, withQueryParameters: true }),
  fc.constantFrom(...notSources, ''),
  fc.string(),
);
const integer = (minimum: number, maximum: number) =>
  fc.oneof(
    { weight: 40, arbitrary: fc.integer({ min: minimum, max: maximum }) },
    fc.constantFrom(minimum, maximum, minimum - 1, maximum + 1, -0, 1e308, 50.5, 2 ** 53),
  );
const name = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 82 }),
  fc.string({ unit: 'binary' }),
);

const headerName = fc.oneof(
  { weight: 6, arbitrary: word },
  fc.constantFrom('Authorization', 'Host', 'if-match', 'a b', ''),
);
const headerValue = fc.oneof(
  { weight: 6, arbitrary: word },
  fc.constantFrom('Basic YTpi', ' a', 'a\r\nb: c', 'é', ''),
);

/** Objects of these fields, some of them missing or of another type. */
const arbitraryBody = (
  fields: Readonly<Record<string, Arbitrary<unknown>>>,
): Arbitrary<unknown> => {
  const damaged = Object.entries(fields).map(([field, arbitrary]) => [
    field,
    fc.oneof({ weight: 40, arbitrary }, fc.jsonValue({ maxDepth: 2 })),
  ]);
  const record = fc.record(Object.fromEntries(damaged), { requiredKeys: [] });
  const extra = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2 });
  return fc.oneof(
    { weight: 12, arbitrary: record },
    { weight: 2, arbitrary: fc.tuple(record, extra).map(([a, b]) => ({ ...a, ...b })) },
    fc.jsonValue({ maxDepth: 3 }),
  );
};

/** JSON Schema keywords that determine the generated values. */
interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly maxItems?: number;
  readonly format?: string;
}

/** Returns mostly valid values of a field. */
function generatedBy(schema: Schema): Arbitrary<unknown> {
  const { type, enum: words, minimum = 0, maximum = 0, items, maxItems = 4 } = schema;
  if (words !== undefined) return fc.constantFrom(...words, 'Cover');
  if (type === 'boolean') return fc.boolean();
  if (type === 'integer') return integer(minimum, maximum);
  if (items !== undefined) return fc.array(generatedBy(items), { maxLength: maxItems + 1 });
  if (schema.format?.startsWith('uri')) return url;
  return name;
}

/** Returns the schemas of a body's fields. */
const arbitraryFields = (name: string) =>
  (inputNamed(name).schema as { properties: Record<string, Schema> }).properties;

const allGeneratedBy = (fields: Readonly<Record<string, Schema>>) =>
  Object.fromEntries(Object.entries(fields).map(([field, schema]) => [field, generatedBy(schema)]));

/** Leave out URLs that need a setting, and variants, which replace other fields. */
const { callbackUrl: _, ...purgeFields } = arbitraryFields('PurgeInput');
const { callbackUrl: __, variants: ___, ...prewarmFields } = arbitraryFields('PrewarmInput');

const imageParameters = arbitraryBody({
  w: integer(1, 10_000),
  fmt: fc.constantFrom('auto', 'webp', 'jpeg', 'png', 'bmp'),
  blur: fc.oneof(fc.boolean(), integer(1, 100)),
  bg: fc.constantFrom('fff', 'tomato', '#fff', '123456', 'teal', 'nocolour'),
  crop: fc.constantFrom('0,0,9,9', '1,2,3,4', '5,0,90,9', '0,0,0,0', '1_2_3_4'),
  fallback: url,
  download: name,
});

/**
 * Returns the bodies by name.
 * @param watermarks URLs of images @param signed project of the URLs to sign
 */
export const bodiesWith = (watermarks: readonly string[], signed: string) =>
  ({
    CreateProjectInput: arbitraryBody({
      ...allGeneratedBy(arbitraryFields('CreateProjectInput')),
      allowedOrigins: fc.array(host, { maxLength: 5 }),
    }),
    UpdateProjectInput: arbitraryBody(allGeneratedBy(arbitraryFields('UpdateProjectInput'))),
    ProjectSettingsInput: arbitraryBody({
      ...allGeneratedBy(arbitraryFields('ProjectSettingsInput')),
      // Only of this machine, because the service fetches them.
      watermarkUrl: fc.oneof(
        { weight: 40, arbitrary: fc.constantFrom(...watermarks) },
        fc.constantFrom('http://127.0.0.1:1/', ...notSources, ''),
        fc.string(),
      ),
    }),
    PrewarmInput: fc.oneof(
      arbitraryBody(allGeneratedBy(prewarmFields)),
      arbitraryBody({
        sources: generatedBy(arbitraryFields('PrewarmInput')['sources'] ?? {}),
        variants: fc.array(imageParameters, { minLength: 1, maxLength: 5 }),
      }),
    ),
    PurgeInput: arbitraryBody(allGeneratedBy(purgeFields)),
    FreshnessInput: arbitraryBody({
      sourceAge: fc.oneof(integer(1, 31_536_000), fc.constantFrom('origin', 'Origin', null)),
      browserAge: fc.oneof(integer(0, 31_536_000), fc.constant(null)),
      missingAge: fc.oneof(integer(0, 86_400), fc.constant(null)),
      ignoredParameters: fc.constantFrom(null, ['aws'], ['gcs', 'token'], [], ['a b']),
    }),
    ProjectOriginInput: arbitraryBody({
      headers: fc.oneof(
        { weight: 8, arbitrary: fc.dictionary(headerName, headerValue, { maxKeys: 3 }) },
        fc.dictionary(name, name, { maxKeys: 20 }),
      ),
    }),
    UrlSecretInput: arbitraryBody({ secret: word, keepPrevious: fc.boolean() }),
    DeliveryHostInput: arbitraryBody(allGeneratedBy(arbitraryFields('DeliveryHostInput'))),
    LimitsInput: arbitraryBody({
      rendersPerDay: fc.oneof(integer(0, Number.MAX_SAFE_INTEGER), fc.constant(null)),
      bytesPerDay: fc.oneof(integer(0, Number.MAX_SAFE_INTEGER), fc.constant(null)),
      onlyPresets: fc.boolean(),
      widths: fc.oneof(fc.array(integer(1, 10_000), { maxLength: 4 }), fc.constant(null)),
      qualities: fc.oneof(fc.array(integer(1, 100), { maxLength: 4 }), fc.constant(null)),
      unlisted: fc.constantFrom('nearest', 'refuse', 'Nearest'),
    }),
    ProjectKeyInput: arbitraryBody({ name, access: fc.constantFrom('read', 'write', 'all') }),
    SigningSecretInput: arbitraryBody({
      ttlSeconds: fc.oneof(integer(60, 2_592_000), fc.constant(null)),
      replaceAll: fc.boolean(),
    }),
    SignedUrlInput: arbitraryBody({
      url: fc.oneof(
        {
          weight: 8,
          arbitrary: word.map((text) => `/img/http://127.0.0.1/${text}?project=${signed}`),
        },
        fc.constantFrom('/img/', '/image', `/img/https://a.example/?project=${signed}&sig=1`, ''),
        fc.string(),
      ),
      validFor: integer(1, 2_592_000),
    }),
    DomainInput: arbitraryBody({ host }),
    PresetInput: arbitraryBody({
      parameters: imageParameters,
    }),
    LayerInput: fc.oneof(
      arbitraryBody({
        image: arbitraryBody({
          url,
          scale: integer(1, 100),
          position: fc.constantFrom(...gravities, 'top'),
          offsetX: fc.oneof(integer(-100, 100), fc.constantFrom('10%', '-5px', '1.5', '')),
          tiled: fc.boolean(),
          blend: fc.constantFrom(...blends, 'clear'),
        }),
      }),
      arbitraryBody({
        text: arbitraryBody({
          words: name,
          weight: integer(100, 900),
          size: fc.oneof(integer(1, 1_000), fc.constantFrom('fit', 'fill')),
          color: fc.constantFrom('fff', 'tomato', '#fff', 'nocolour'),
          align: fc.constantFrom(...alignments, 'justify'),
        }),
      }),
    ),
  }) satisfies Record<string, Arbitrary<unknown>>;

/** Returns a body as JSON, sometimes with characters removed or inserted. */
export const toText = (body: Arbitrary<unknown>): Arbitrary<string> =>
  fc.oneof(
    { weight: 12, arbitrary: body.map((value) => JSON.stringify(value)) },
    fc
      .tuple(
        body,
        fc.nat(),
        fc.nat(2),
        fc.constantFrom('', '"', '{', ',', '\u0000', '\\u0000', '9e999'),
      )
      .map(([value, at, lost, put]) => {
        const text = JSON.stringify(value);
        const place = at % (text.length + 1);
        // The cut can split a surrogate pair.
        return (text.slice(0, place) + put + text.slice(place + lost)).toWellFormed();
      }),
  );
