import fc, { type Arbitrary } from 'fast-check';
import type { InputName } from '../../../server/control/validate.ts';

const word = fc.stringMatching(/^[a-z]{1,8}$/);
const host = fc.oneof(
  { weight: 6, arbitrary: word.map((name) => `${name}.example`) },
  { weight: 1, arbitrary: word.map((name) => `*.${name}.EXAMPLE.`) },
  fc.constantFrom('bücher.example', '127.0.0.1', 'intranet', '10.0.0.1', '[::1]', 'a:80', '', '*'),
  fc.domain(),
  fc.string({ unit: 'binary' }),
);
const notSources = [
  'ftp://a.example/',
  'http://10.0.0.1/',
  'https:a.example',
  'http://[',
  'x:y',
  '',
];
const url = fc.oneof(
  { weight: 40, arbitrary: word.map((name) => `https://a.example/${name}`) },
  fc.webUrl({ withFragments: true, withQueryParameters: true }),
  fc.constantFrom(...notSources),
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
const position = fc.constantFrom('center', 'north', 'southwest', 'middle');

/** Objects of these fields, some of them missing or of another type. */
const bodyOf = (fields: Readonly<Record<string, Arbitrary<unknown>>>): Arbitrary<unknown> => {
  const spoilt = Object.entries(fields).map(([field, arbitrary]) => [
    field,
    fc.oneof({ weight: 40, arbitrary }, fc.jsonValue({ maxDepth: 2 })),
  ]);
  const record = fc.record(Object.fromEntries(spoilt), { requiredKeys: [] });
  const extra = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2 });
  return fc.oneof(
    { weight: 12, arbitrary: record },
    { weight: 2, arbitrary: fc.tuple(record, extra).map(([a, b]) => ({ ...a, ...b })) },
    fc.jsonValue({ maxDepth: 3 }),
  );
};

/** @param watermarks URLs of pictures */
export const bodiesWith = (watermarks: readonly string[]) =>
  ({
    CreateProjectInput: bodyOf({
      name,
      origin: url,
      allowedOrigins: fc.array(host, { maxLength: 4 }),
    }),
    ProjectSettingsInput: bodyOf({
      autoFormat: fc.boolean(),
      defaultQuality: integer(30, 100),
      defaultDpr: integer(1, 3),
      defaultFit: fc.constantFrom('contain', 'cover', 'fill', 'inside', 'outside', 'Cover'),
      maxWidth: integer(0, 10_000),
      stripMetadata: fc.boolean(),
      watermarkEnabled: fc.boolean(),
      // Only of this machine, because the service fetches them.
      watermarkUrl: fc.oneof(
        { weight: 40, arbitrary: fc.constantFrom(...watermarks) },
        fc.constantFrom('http://127.0.0.1:1/', ...notSources),
        fc.string(),
      ),
      watermarkPosition: position,
      watermarkOpacity: integer(1, 100),
      watermarkScale: integer(1, 100),
      watermarkMargin: integer(0, 500),
    }),
    PrewarmInput: bodyOf({
      src: url,
      sources: fc.array(url, { maxLength: 21 }),
      widths: fc.array(integer(1, 5_000), { maxLength: 11 }),
      formats: fc.array(fc.constantFrom('auto', 'avif', 'webp', 'jpeg', 'png', 'gif'), {
        maxLength: 6,
      }),
      quality: integer(30, 100),
      fit: fc.constantFrom('contain', 'cover', 'fill', 'inside', 'outside'),
      dpr: integer(1, 3),
    }),
    DomainInput: bodyOf({ host }),
    PresetInput: bodyOf({
      parameters: bodyOf({
        w: integer(1, 10_000),
        fmt: fc.constantFrom('auto', 'webp', 'bmp'),
        blur: fc.oneof(fc.boolean(), integer(1, 100)),
        bg: fc.constantFrom('fff', 'tomato', '#fff', 'nocolour'),
        crop: fc.constantFrom('0,0,9,9', '0,0,0,0', '1_2_3_4'),
        fallback: url,
        download: name,
      }),
    }),
  }) satisfies Record<InputName, Arbitrary<unknown>>;

/** A body as JSON, sometimes with removed or inserted characters. */
export const textOf = (body: Arbitrary<unknown>): Arbitrary<string> =>
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
        // A surrogate pair may have been cut.
        return (text.slice(0, place) + put + text.slice(place + lost)).toWellFormed();
      }),
  );
