import fc from 'fast-check';
import t from 'tap';
import { ServiceError } from '../../../contract/errors.ts';
import { parseJson } from '../../../server/control/input.ts';
import { propertyRuns } from '../../extended.ts';

t.test('rejects invalid JSON, and JSON that parsers might read differently', async (t) => {
  const rejected: ReadonlyArray<readonly [message: RegExp, ...texts: (string | Buffer)[]]> = [
    [
      /not valid JSON/,
      '',
      '{',
      '{"a":1,}',
      "{'a':1}",
      '{"a":1} // comment',
      '[01]',
      '[1.]',
      '[NaN]',
    ],
    [
      /not valid JSON/,
      '"\t"',
      '"\\x41"',
      '1 2',
      '\u00a01',
      '\ufeff{}',
      Buffer.from('{}', 'utf16le'),
    ],
    [
      /not valid UTF-8/,
      Buffer.from([0x22, 0xff, 0x22]),
      Buffer.from([0x22, 0xc0, 0xaf, 0x22]),
      Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]),
    ],
    [/rejected: a is given more than once/, '{"a":1,"a":2}', '{"b":[{"a":1,"\\u0061":2}]}'],
    [/__proto__ is not allowed/, '{"__proto__":{"autoFormat":true}}', '{"\\u005f_proto__":1}'],
    [/constructor is not allowed/, '{"a":{"constructor":1}}'],
    [/prototype is not allowed/, '[{"prototype":1}]'],
    [/NUL/, '{"a":"\\u0000"}', '{"\\u0000":1}'],
    [/surrogate/, '"\\ud800"', '{"\\udc00a":1}'],
    [/number is too large/, '[1e400]', '{"a":-1e400}'],
    [/nested deeper than 16/, '['.repeat(17) + ']'.repeat(17), '['.repeat(65_536)],
    [/nested deeper than 16/, `${'{"a":'.repeat(17)}1${'}'.repeat(17)}`],
    [/more than 4000 JSON tokens/, `[${'1,'.repeat(32_000)}1]`],
  ];
  for (const [message, ...texts] of rejected) {
    for (const text of texts) {
      const name = JSON.stringify(text.toString().slice(0, 40));
      t.throws(() => parseJson(Buffer.from(text)), { code: 'invalid_request', message }, name);
    }
  }
});

t.test('names the position of invalid JSON', async (t) => {
  for (const [text, position] of [
    ['{"a":1,}', 'line 1, column 8'],
    ['{\n  "a" 1\n}', 'line 2, column 7'],
    ['{\r\n "a": tru }', 'line 2, column 7'],
    ["{'a':1}", 'line 1, column 2'],
    ['{}\n}', 'line 2, column 1'],
    ['[1,\n2', 'line 2, column 1'],
    ['{"a":', 'line 1, column 1'],
  ] as const) {
    const message = `The body was rejected: the body is not valid JSON at ${position}.`;
    t.throws(() => parseJson(Buffer.from(text)), { message }, JSON.stringify(text));
  }
});

t.test('accepts valid JSON', async (t) => {
  for (const text of [
    '{"a":[1,2.5,-0.1e3,true,false,null,"é\\n\\u00e9"]}',
    ' [ ] ',
    '0',
    '"\\/"',
    `"${'['.repeat(100)}"`,
    `["\\"${'{'.repeat(100)}"]`,
    '['.repeat(16) + ']'.repeat(16),
    '{"a":{"b":1},"b":{"a":1}}',
    '"\\ud83d\\ude00"',
    '{"proto":1,"a":"__proto__"}',
    '[1e308,1e-400]',
    // The most tokens: items, the commas between them, and two brackets.
    `[${new Array(1_999).fill('""').join()}]`,
  ]) {
    t.same(parseJson(Buffer.from(text)), JSON.parse(text), text.slice(0, 40));
  }
});

/** Errors for texts that JSON.parse accepts. */
const strictErrors = /UTF-8|more than once|not allowed|NUL|surrogate|too large|nested deeper/;

/** Throws when parseJson differs from JSON.parse, except by a strict error. */
function compare(input: Uint8Array): void {
  const text = Buffer.from(input).toString();
  let strict: unknown;
  try {
    strict = parseJson(input);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (isJson(text) && !strictErrors.test(error.message)) throw error;
    return;
  }
  if (JSON.stringify(strict) !== JSON.stringify(JSON.parse(text))) throw new Error('they differ');
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

t.test('returns the result of JSON.parse, or fails, for any input', async (t) => {
  const json = fc.oneof(fc.json({ maxDepth: 6 }), fc.json({ maxDepth: 6, stringUnit: 'binary' }));
  const spaced = fc
    .tuple(json, fc.constantFrom(0, 1, '\t'))
    .map(([text, space]) => JSON.stringify(JSON.parse(text), null, space));
  const damaged = fc
    .tuple(json, fc.nat(), fc.nat(3), fc.string({ unit: 'binary-ascii', maxLength: 3 }))
    .map(([text, at, removed, inserted]) => {
      const place = at % (text.length + 1);
      return text.slice(0, place) + inserted + text.slice(place + removed);
    });
  const brackets = fc.string({ unit: fc.constantFrom(...'[]{}",:\\ 01e-'), maxLength: 60 });
  const bytes = (text: string): Uint8Array => Buffer.from(text);
  for (const [input, numRuns] of [
    [spaced.map(bytes), 2_000],
    [damaged.map(bytes), 4_000],
    [brackets.map(bytes), 4_000],
    [fc.uint8Array({ maxLength: 200 }), 1_000],
  ] as const) {
    t.doesNotThrow(() =>
      fc.assert(fc.property<[Uint8Array]>(input, compare), { numRuns: propertyRuns(numRuns) }),
    );
  }
});
