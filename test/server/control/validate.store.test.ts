import t from 'tap';
import * as schemas from '../../../server/control/schemas.ts';
import { type InputName, validationErrors } from '../../../server/control/validate.ts';
import {
  formatNames,
  keywordMessages,
  typeNames,
} from '../../../server/control/validation-messages.ts';

const url = 'https://a.example/';

t.test('every fault names the field and the rule', async (t) => {
  const cases: ReadonlyArray<readonly [InputName, body: unknown, ...faults: string[]]> = [
    ['CreateProjectInput', null, 'the body must be an object, and is null'],
    ['CreateProjectInput', [], 'the body must be an object, and is an array'],
    ['CreateProjectInput', {}, 'name is required', 'origin is required'],
    [
      'CreateProjectInput',
      { name: '', origin: url },
      'name must have at least 1 character, and has none',
    ],
    [
      'CreateProjectInput',
      { name: '😀'.repeat(81), origin: 'a b', extra: 1 },
      'extra is not a known field',
      'name must have at most 80 characters, and has 81',
      'origin must be a URI, and is "a b"',
    ],
    [
      'CreateProjectInput',
      { name: 'x', origin: url, allowedOrigins: ['a.example', 7] },
      'allowedOrigins[1] must be a string, and is the number 7',
    ],
    ['ProjectSettingsInput', {}, 'the body must have at least 1 field, and has none'],
    ['ProjectSettingsInput', { maxWidth: 10_001 }, 'maxWidth must be at most 10000, and is 10001'],
    ['ProjectSettingsInput', { maxWidth: null }, 'maxWidth must be a whole number, and is null'],
    [
      'ProjectSettingsInput',
      { defaultQuality: 29 },
      'defaultQuality must be at least 30, and is 29',
    ],
    [
      'ProjectSettingsInput',
      { defaultQuality: 30.5 },
      'defaultQuality must be a whole number, and is the number 30.5',
    ],
    [
      'ProjectSettingsInput',
      { defaultQuality: '80' },
      'defaultQuality must be a whole number, and is the string "80"',
    ],
    [
      'ProjectSettingsInput',
      { autoFormat: 'true' },
      'autoFormat must be true or false, and is the string "true"',
    ],
    [
      'ProjectSettingsInput',
      { defaultFit: 'squeeze' },
      'defaultFit must be one of contain, cover, fill, inside, outside, and is "squeeze"',
    ],
    [
      'ProjectSettingsInput',
      { watermarkUrl: 'x y' },
      'watermarkUrl must be empty or a URI, and is "x y"',
    ],
    [
      'ProjectSettingsInput',
      { watermarkUrl: 7 },
      'watermarkUrl must be a string, and is the number 7',
    ],
    ['ProjectSettingsInput', { requireSignedUrls: true }, 'requireSignedUrls is not a known field'],
    ['PrewarmInput', {}, 'the body must have src or sources'],
    ['PrewarmInput', { sources: [] }, 'sources must have at least 1 item, and has none'],
    [
      'PrewarmInput',
      { sources: Array(21).fill(url) },
      'sources must have at most 20 items, and has 21',
    ],
    ['PrewarmInput', { sources: [url, 'b'] }, 'sources[1] must be a URI, and is "b"'],
    [
      'PrewarmInput',
      { src: url, widths: [0, 5_001], formats: [], dpr: 4, fit: 'outside' },
      'widths[0] must be at least 1, and is 0',
      'widths[1] must be at most 5000, and is 5001',
      'formats must have at least 1 item, and has none',
      'fit must be one of contain, cover, fill, inside, and is "outside"',
      'dpr must be at most 3, and is 4',
    ],
    [
      'PrewarmInput',
      { src: url, formats: ['gif'] },
      'formats[0] must be one of auto, avif, webp, jpeg, png, and is "gif"',
    ],
    ['DomainInput', {}, 'host is required'],
    ['DomainInput', { host: null }, 'host must be a string, and is null'],
    ['DomainInput', { host: '', hosts: '' }, 'hosts is not a known field (did you mean host?)'],
    ['DomainInput', { host: {} }, 'host must be a string, and is an object'],
    [
      'ProjectSettingsInput',
      { DefaultDPR: 2 },
      'DefaultDPR is not a known field (did you mean defaultDpr?)',
    ],
    ['DomainInput', 'a.example', 'the body must be an object, and is the string "a.example"'],
    ['DomainInput', '', 'the body must be an object, and is an empty string'],
    ['DomainInput', true, 'the body must be an object, and is true'],
  ];
  for (const [name, body, ...faults] of cases) {
    t.same(validationErrors(name, body).sort(), faults.sort(), JSON.stringify(body)?.slice(0, 60));
  }
});

t.test('what the interface allows has no fault, up to every bound', async (t) => {
  const cases: ReadonlyArray<readonly [InputName, body: unknown]> = [
    ['CreateProjectInput', { name: 'x', origin: url }],
    ['CreateProjectInput', { name: '😀'.repeat(80), origin: url, allowedOrigins: [] }],
    ['ProjectSettingsInput', { watermarkUrl: '', maxWidth: 0 }],
    ['ProjectSettingsInput', { watermarkUrl: url, maxWidth: 10_000, defaultQuality: 30 }],
    ['ProjectSettingsInput', { defaultQuality: 100, defaultDpr: 3, watermarkMargin: 500 }],
    ['PrewarmInput', { src: url }],
    ['PrewarmInput', { src: url, sources: Array(20).fill(url), widths: Array(10).fill(5_000) }],
    ['PrewarmInput', { sources: [url], formats: ['auto', 'avif', 'webp', 'jpeg', 'png'] }],
    ['DomainInput', { host: '' }],
  ];
  for (const [name, body] of cases) {
    t.same(validationErrors(name, body), [], JSON.stringify(body).slice(0, 60));
  }
});

t.test('what was sent is repeated in part, and without a password', async (t) => {
  const faults = (origin: string) => validationErrors('CreateProjectInput', { name: 'x', origin });
  const [long = ''] = faults(`a b${'x'.repeat(9_000)}`);
  t.match(long, /^origin must be a URI, and is "a bx+" …$/);
  t.ok(long.length < 160);
  t.same(faults('https://u:secret@a b/'), ['origin must be a URI, and is "https://a b/"']);
  t.same(faults('a \ud800'), ['origin must be a URI, and is "a \ufffd"']);
});

/** Keywords that say nothing about a value by themselves. */
const structural = new Set(['properties', 'items', 'allOf', 'description', 'x-rule', '$ref']);

t.test('every keyword and format of every schema has words', async (t) => {
  const seen = new Set<string>();
  const visit = (schema: object) => {
    for (const [keyword, value] of Object.entries(schema)) {
      seen.add(keyword);
      const inner =
        keyword === 'properties'
          ? Object.values(value)
          : ['allOf', 'anyOf', 'items'].includes(keyword)
            ? [value].flat()
            : [];
      for (const one of inner) visit(one);
      if (structural.has(keyword)) continue;
      t.ok(Object.hasOwn(keywordMessages, keyword), keyword);
      if (keyword === 'format') t.ok(Object.hasOwn(formatNames, value), value);
      if (keyword === 'type') for (const one of [value].flat()) t.ok(typeNames[one], one);
      if (keyword === 'anyOf') t.match(schema, { 'x-rule': String }, 'the rule of an anyOf');
    }
  };
  const all = Object.entries(schemas).filter(([name]) => name.endsWith('Schema'));
  for (const [, schema] of all) visit(schema);
  t.ok(all.length >= 7 && seen.has('minimum'), 'they were found');
});

t.test('a body full of faults is answered with a bounded list', async (t) => {
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`x${i}`, i]));
  t.equal(validationErrors('DomainInput', many).length, 20);
  const [fault = ''] = validationErrors('DomainInput', { host: 'a', ['y'.repeat(60_000)]: 1 });
  t.ok(fault.length < 200, fault.slice(0, 100));
});
