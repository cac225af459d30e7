import fc from 'fast-check';
import t from 'tap';
import { InvalidJson, parseJson } from '../../../server/control/json.ts';

const bytes = (text: string) => Buffer.from(text);

t.test('a JSON text becomes its value', async (t) => {
  for (const text of [
    '{"a":[1,2.5,-0.1e3,true,false,null,"é\\n\\u00e9"]}',
    ' [ ] ',
    '0',
    '"\\/"',
  ]) {
    t.same(parseJson(bytes(text)), JSON.parse(text), text);
  }
});

t.test(
  'what is no JSON, or JSON that two readers might read differently, is refused',
  async (t) => {
    const refused: ReadonlyArray<readonly [text: string | Buffer, because: RegExp]> = [
      ['', /not valid JSON/],
      ['{', /not valid JSON/],
      ['{"a":1,}', /not valid JSON/],
      ["{'a':1}", /not valid JSON/],
      ['{"a":1} // so', /not valid JSON/],
      ['[01]', /not valid JSON/],
      ['[1.]', /not valid JSON/],
      ['[NaN]', /not valid JSON/],
      ['"\t"', /not valid JSON/],
      ['"\\x41"', /not valid JSON/],
      ['1 2', /not valid JSON/],
      ['\u00a01', /not valid JSON/],
      ['\ufeff{}', /not valid JSON/],
      [Buffer.from([0x22, 0xff, 0x22]), /not valid UTF-8/],
      [Buffer.from([0x22, 0xc0, 0xaf, 0x22]), /not valid UTF-8/],
      [Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), /not valid UTF-8/],
      [Buffer.from('{}', 'utf16le'), /not valid JSON/],
      ['{"a":1,"a":2}', /^a is given more than once/],
      ['{"b":[{"a":1,"\\u0061":2}]}', /^a is given more than once/],
      ['{"__proto__":{"autoFormat":true}}', /__proto__ is not allowed/],
      ['{"\\u005f_proto__":1}', /__proto__ is not allowed/],
      ['{"a":{"constructor":1}}', /constructor is not allowed/],
      ['[{"prototype":1}]', /prototype is not allowed/],
      ['{"a":"\\u0000"}', /NUL/],
      ['{"\\u0000":1}', /NUL/],
      ['"\\ud800"', /surrogate/],
      ['{"\\udc00a":1}', /surrogate/],
      ['[1e400]', /number is too large/],
      ['{"a":-1e400}', /number is too large/],
      ['['.repeat(17) + ']'.repeat(17), /nests deeper than 16/],
      [`${'{"a":'.repeat(17)}1${'}'.repeat(17)}`, /nests deeper than 16/],
      ['['.repeat(65_536), /nests deeper than 16/],
      [`[${'1,'.repeat(32_000)}1]`, /more than 4000 JSON tokens/],
    ];
    for (const [text, because] of refused) {
      const name = JSON.stringify(text.toString().slice(0, 40));
      try {
        parseJson(Buffer.from(text));
        t.fail(`${name} was accepted`);
      } catch (error) {
        t.type(error, InvalidJson, name);
        t.match(error, { message: because }, name);
      }
    }
  },
);

t.test('what only looks like trouble is accepted', async (t) => {
  for (const text of [
    `"${'['.repeat(100)}"`,
    `["\\"${'{'.repeat(100)}"]`,
    '['.repeat(16) + ']'.repeat(16),
    '{"a":{"b":1},"b":{"a":1}}',
    '"\\ud83d\\ude00"',
    '{"proto":1,"a":"__proto__"}',
    '[1e308,1e-400]',
    // Of a list of items, and the two brackets, and the commas between them.
    `[${new Array(1_999).fill('""').join()}]`,
  ]) {
    t.same(parseJson(bytes(text)), JSON.parse(text), text.slice(0, 40));
  }
});

/** Why the strict reader refused a text that JSON.parse takes; anything else is a disagreement. */
const strictOnly = /UTF-8|more than once|not allowed|NUL|surrogate|too large|nests deeper/;

/** Throws when the two readers disagree in another way than the strict one's own refusals. */
function compare(input: Uint8Array): void {
  const text = Buffer.from(input).toString();
  let strict: unknown;
  try {
    strict = parseJson(input);
  } catch (error) {
    if (!(error instanceof InvalidJson)) throw error;
    if (accepts(text) && !strictOnly.test(error.message)) throw error;
    return;
  }
  if (JSON.stringify(strict) !== JSON.stringify(JSON.parse(text))) throw new Error('they differ');
}

function accepts(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const anyJson = fc.oneof(fc.json({ maxDepth: 6 }), fc.json({ maxDepth: 6, stringUnit: 'binary' }));

t.test('it agrees with JSON.parse on JSON, however it is spaced', async (t) => {
  const spaced = fc
    .tuple(anyJson, fc.constantFrom(0, 1, '\t'))
    .map(([text, space]) => bytes(JSON.stringify(JSON.parse(text), null, space)));
  t.doesNotThrow(() => fc.assert(fc.property(spaced, compare), { numRuns: 2_000 }));
});

t.test(
  'whatever the bytes are, it returns what JSON.parse does or throws JsonInvalid',
  async (t) => {
    const damaged = fc
      .tuple(anyJson, fc.nat(), fc.nat(3), fc.string({ unit: 'binary-ascii', maxLength: 3 }))
      .map(([text, at, removed, inserted]) => {
        const place = at % (text.length + 1);
        return bytes(text.slice(0, place) + inserted + text.slice(place + removed));
      });
    const brackets = fc.string({ unit: fc.constantFrom(...'[]{}",:\\ 01e-'), maxLength: 60 });
    for (const [input, numRuns] of [
      [damaged, 4_000],
      [brackets.map(bytes), 4_000],
      [fc.uint8Array({ maxLength: 200 }), 1_000],
    ] as const) {
      t.doesNotThrow(() => fc.assert(fc.property<[Uint8Array]>(input, compare), { numRuns }));
    }
  },
);
