import t from 'tap';
import { urlRule } from '../../../server/control/hosts-and-urls.ts';
import type { Operation } from '../../../server/control/operation.ts';
import { operations } from '../../../server/control/operations.ts';
import { validationErrors } from '../../../server/control/validate.ts';
import {
  formatNames,
  keywordMessages,
  typeNames,
} from '../../../server/control/validation-messages.ts';
import { inputNamed } from './inputs.ts';

const url = 'https://a.example/';
const s3 = { location: 's3://a', accessKeyId: 'AKID', secretAccessKey: 'key' };

const findErrors = (name: string, body: unknown) => validationErrors(inputNamed(name), body);

type Cases = ReadonlyArray<readonly [body: unknown, ...errors: string[]]>;

t.test('names the field and the rule in every error', async (t) => {
  const cases: Record<string, Cases> = {
    CreateProjectInput: [
      [null, 'the body must be an object, but is null'],
      [[], 'the body must be an object, but is an array'],
      [{}, 'name is required', 'origin is required'],
      [{ name: '', origin: url }, 'name must have at least 1 character'],
      [
        { name: '😀'.repeat(81), origin: 'a b', extra: 1 },
        'extra is not a known field',
        'name must have at most 80 characters',
        'origin must be an absolute URL, but is "a b"',
      ],
      [
        { name: 'x', origin: url, allowedOrigins: ['a.example', 7] },
        'allowedOrigins[1] must be a string, but is 7',
      ],
    ],
    ProjectSettingsInput: [
      [{}, 'the body must have at least 1 field'],
      [{ maxWidth: 10_001 }, 'maxWidth must be at most 10000, but is 10001'],
      [{ maxWidth: null }, 'maxWidth must be a whole number, but is null'],
      [{ defaultQuality: 29 }, 'defaultQuality must be at least 30, but is 29'],
      [{ defaultQuality: 30.5 }, 'defaultQuality must be a whole number, but is 30.5'],
      [{ defaultQuality: '80' }, 'defaultQuality must be a whole number, but is "80"'],
      [{ autoFormat: 'true' }, 'autoFormat must be true or false, but is "true"'],
      [
        { defaultFit: 'squeeze' },
        'defaultFit must be one of contain, cover, fill, inside, outside, but is "squeeze"',
      ],
      [
        { watermarkUrl: 'x y' },
        'watermarkUrl must be empty or an absolute http or https URL, but is "x y"',
      ],
      [{ watermarkUrl: 7 }, 'watermarkUrl must be a string, but is 7'],
      [
        { requireSignedUrls: true },
        'requireSignedUrls is not a known field (did you mean POST /projects/{projectId}/signing/secrets for requireSignedUrls?)',
      ],
      [{ DefaultDPR: 2 }, 'DefaultDPR is not a known field (did you mean defaultDpr?)'],
    ],
    PrewarmInput: [
      [{}, 'the body must have src or sources'],
      [{ sources: [] }, 'sources must have at least 1 item'],
      [{ sources: Array(21).fill(url) }, 'sources must have at most 20 items'],
      [
        { sources: [url, 'b'] },
        `sources[1] ${urlRule}, or a path on the project's site that starts with a slash, but is "b"`,
      ],
      ...[{ widths: [5] }, { formats: ['webp'] }, { quality: 50 }, { dpr: 1 }].map(
        (field) =>
          [
            { src: url, variants: [{ w: 5 }], ...field },
            'the body must not have variants with widths, formats, quality, fit, dpr',
          ] as const,
      ),
      [
        { src: url, widths: [0, 5_001], formats: [], dpr: 4, fit: 'outside' },
        'widths[0] must be at least 1, but is 0',
        'widths[1] must be at most 5000, but is 5001',
        'formats must have at least 1 item',
        'fit must be one of contain, cover, fill, inside, but is "outside"',
        'dpr must be at most 3, but is 4',
      ],
      [
        { src: url, widths: Array(11).fill(5), formats: ['gif'] },
        'widths must have at most 10 items',
        'formats[0] must be one of auto, avif, webp, jpeg, png, but is "gif"',
      ],
      [
        { src: url, formats: ['jpg'] },
        'formats[0] must be one of auto, avif, webp, jpeg, png, but is "jpg" (did you mean jpeg?)',
      ],
      [
        { src: url, variants: [{ widht: 5, quality: 5, blurr: 1, parameters: {} }] },
        'variants[0].widht is not a known field (did you mean w for width?)',
        'variants[0].quality is not a known field (did you mean q for quality?)',
        'variants[0].blurr is not a known field (did you mean blur?)',
        'variants[0].parameters is not a known field',
      ],
      [
        { src: url, variants: [{ w: 0, q: 'high' }, { project: 'a', v: 'ü' }, 5] },
        'variants[0].w must be a whole number from 1 to 10000, or a percentage of the source from 1p to 999p, but is 0',
        'variants[0].q must be a whole number from 1 to 100, or auto, but is "high"',
        'variants[1].project is not a known field',
        'variants[1].v must be 1 to 64 letters, digits, dots, hyphens and underscores, but is "ü"',
        'variants[2] must be an object, but is 5',
      ],
      [{ src: url, variants: Array(51).fill({}) }, 'variants must have at most 50 items'],
      [{ src: url, variants: [] }, 'variants must have at least 1 item'],
    ],
    PresetInput: [
      [
        { parameters: { widht: 5 } },
        'parameters.widht is not a known field (did you mean w for width?)',
      ],
    ],
    ProjectOriginInput: [
      [
        { s3: { ...s3, accessKeyId: 'AKID\nsecret', secretAccessKey: 'secret\n' } },
        's3.accessKeyId must have only visible ASCII characters, without spaces',
        's3.secretAccessKey must have only visible ASCII characters, without spaces',
      ],
      [
        { s3: { ...s3, accessKeyId: '', secretAccessKey: 'é x' } },
        's3.accessKeyId must have at least 1 character',
        's3.secretAccessKey must have only visible ASCII characters, without spaces',
      ],
    ],
    DomainInput: [
      [{}, 'host is required'],
      [{ host: null }, 'host must be a string, but is null'],
      [{ host: '', hosts: '' }, 'hosts is not a known field (did you mean host?)'],
      [{ host: {} }, 'host must be a string, but is an object'],
      ['a.example', 'the body must be an object, but is "a.example"'],
      ['', 'the body must be an object, but is empty'],
      [true, 'the body must be an object, but is true'],
    ],
  };
  for (const [name, all] of Object.entries(cases)) {
    for (const [body, ...errors] of all) {
      const found = findErrors(name, body);
      t.same(found.sort(), errors.sort(), JSON.stringify(body)?.slice(0, 60));
    }
  }
});

t.test('accepts values exactly within their bounds', async (t) => {
  const isValid = (name: string, body: object) => findErrors(name, body).length === 0;
  const settings = (body: object) => isValid('ProjectSettingsInput', body);
  const prewarm = (body: object) => isValid('PrewarmInput', { src: url, ...body });
  const numbers = [
    [settings, 'defaultQuality', 30, 100],
    [settings, 'defaultDpr', 1, 3],
    [settings, 'maxWidth', 0, 10_000],
    [settings, 'watermarkOpacity', 1, 100],
    [settings, 'watermarkScale', 1, 100],
    [settings, 'watermarkMargin', 0, 500],
    [prewarm, 'quality', 30, 100],
    [prewarm, 'dpr', 1, 3],
  ] as const;
  for (const [accepts, field, least, most] of numbers) {
    const results = [least - 1, least, most, most + 1, least + 0.5].map((n) =>
      accepts({ [field]: n }),
    );
    t.same(results, [false, true, true, false, false], field);
  }
  const words = [
    [settings, 'defaultFit', 'contain cover fill inside outside'],
    [
      settings,
      'watermarkPosition',
      'center north northeast northwest south southeast southwest east west',
    ],
    [prewarm, 'fit', 'contain cover fill inside'],
  ] as const;
  for (const [accepts, field, all] of words) {
    for (const word of all.split(' ')) t.ok(accepts({ [field]: word }), word);
    t.notOk(accepts({ [field]: 'Cover' }) || accepts({ [field]: 'middle' }), field);
  }
  for (const field of ['autoFormat', 'stripMetadata', 'watermarkEnabled']) {
    t.same([settings({ [field]: true }), settings({ [field]: 1 })], [true, false], field);
  }
  const formats = ['auto', 'avif', 'webp', 'jpeg', 'png'];
  const accepted: ReadonlyArray<readonly [string, body: object]> = [
    ['CreateProjectInput', { name: 'x', origin: url }],
    ['CreateProjectInput', { name: '😀'.repeat(80), origin: url, allowedOrigins: [] }],
    ['ProjectSettingsInput', { watermarkUrl: '' }],
    ['ProjectSettingsInput', { watermarkUrl: url }],
    ['PrewarmInput', { src: url }],
    ['PrewarmInput', { src: url, sources: Array(20).fill(url), widths: Array(10).fill(5_000) }],
    ['PrewarmInput', { sources: [url], formats, widths: [1] }],
    ['PrewarmInput', { src: url, variants: [{ w: 640, h: 360, crop: '0,0,9,9', preset: 'card' }] }],
    ['PrewarmInput', { src: url, variants: Array(50).fill({}) }],
    ['ProjectOriginInput', { s3: { ...s3, secretAccessKey: '!/+=~' } }],
    ['DomainInput', { host: '' }],
  ];
  for (const [name, body] of accepted) {
    t.same(findErrors(name, body), [], JSON.stringify(body).slice(0, 60));
  }
});

t.test('repeats part of a rejected value, with its password hidden', async (t) => {
  const errors = (origin: string) => findErrors('CreateProjectInput', { name: 'x', origin });
  const [long = ''] = errors(`a b${'x'.repeat(8_000)}`);
  t.match(long, /^origin must be an absolute URL, but is "a bx+" …$/);
  t.ok(long.length < 160);
  t.same(errors('https://u:secret@a b/'), [
    'origin must be an absolute URL, but is "https://a b/"',
  ]);
  t.same(errors('a \ud800'), ['origin must be an absolute URL, but is "a \ufffd"']);
});

t.test(
  'suggests the likely URL for a text that lacks a part of a URL, or is not encoded',
  async (t) => {
    const errors = (origin: string) => findErrors('CreateProjectInput', { name: 'x', origin });
    const hints = {
      'www.a.example': 'https://www.a.example',
      'a.example:8080/b?c': 'https://a.example:8080/b?c',
      'localhost:3000': 'https://localhost:3000',
      '//a.example': 'https://a.example',
      'http:/a.example': 'http://a.example',
      'https%3A%2F%2Fa.example%2Fb': 'https://a.example/b',
      'https%253A%252F%252Fa.example': 'https://a.example',
      'https://bücher.example/': 'https://xn--bcher-kva.example/',
      'https://a.example/ü b.jpg': 'https://a.example/%C3%BC%20b.jpg',
    };
    for (const [text, url] of Object.entries(hints)) {
      t.match(errors(text), [` (did you mean ${url}?)`], text);
      t.equal(errors(text).length, 1);
    }
    const long = `https://a.example/${'ü'.repeat(20)}`;
    for (const text of ['a.jpg', 'ftp://a.example', 'javascript:x', 'u:p@a.example', '%', long]) {
      t.match(errors(text), [/^origin must be [^(]+$/], text);
    }
    t.match(findErrors('ProjectSettingsInput', { watermarkUrl: 'a.example/b.png' }), [
      '(did you mean https://a.example/b.png?)',
    ]);
  },
);

/** Keywords that cause no errors themselves. */
const structural = new Set([
  'x-aliases',
  'properties',
  'items',
  'allOf',
  'description',
  'examples',
  'writeOnly',
  'x-rule',
  '$ref',
]);

t.test('explains every keyword, type and format of the schemas', async (t) => {
  const seen = new Set<string>();
  const visit = (schema: object) => {
    for (const [keyword, value] of Object.entries(schema)) {
      seen.add(keyword);
      if (keyword === 'properties') Object.values(value).map((child) => visit(child as object));
      if (['allOf', 'anyOf', 'items'].includes(keyword)) [value].flat().map(visit);
      if (structural.has(keyword)) continue;
      t.ok(Object.hasOwn(keywordMessages, keyword), keyword);
      if (keyword === 'format') t.ok(Object.hasOwn(formatNames, value), value);
      if (keyword === 'type')
        for (const typeName of [value].flat()) t.ok(typeNames[typeName], typeName);
      if (keyword === 'anyOf') t.match(schema, { 'x-rule': String }, 'the rule of an anyOf');
    }
  };
  for (const { input, result } of Object.values<Operation>(operations)) {
    if (result !== null) visit(result.schema.schema);
    if (input !== undefined) visit(input.schema);
  }
  t.ok(seen.has('minimum'), 'the schemas were visited');
});

t.test('limits the number and the length of errors', async (t) => {
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`x${i}`, i]));
  t.equal(findErrors('DomainInput', many).length, 20);
  const [error = ''] = findErrors('DomainInput', { host: 'a', ['y'.repeat(60_000)]: 1 });
  t.ok(error.length < 200, error.slice(0, 100));
});
