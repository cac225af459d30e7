import { Ajv2020 } from 'ajv/dist/2020.js';
import t from 'tap';
import { forGenerators } from '../../../server/control/openapi.ts';

const size = {
  anyOf: [
    { type: 'integer', minimum: 1 },
    { type: 'string', pattern: '^\\d+%$' },
    { type: 'string', enum: ['fit'] },
  ],
};
const schemas: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  size,
  blend: {
    anyOf: [
      { enum: ['over'], type: 'string' },
      { type: 'string', pattern: '^color-' },
    ],
  },
  words: { type: 'string', anyOf: [{ maxLength: 0 }, { pattern: '^https:' }] },
  either: { type: 'object', anyOf: [{ required: ['a'] }, { required: ['b'] }] },
  both: {
    type: 'object',
    allOf: [{ not: { required: ['a'], anyOf: [{ required: ['b'] }, { required: ['c'] }] } }],
  },
  layer: { type: 'object', properties: { size: { $ref: '#/components/schemas/size' } } },
  distinct: { anyOf: [{ type: 'number' }, { type: 'string', enum: ['auto'] }, { type: 'null' }] },
};
const values = [0, 1, 1.5, true, null, '', 'fit', '5%', 'over', 'color-burn', 'auto', 'https://a'];
const bodies = [
  {},
  { a: 1 },
  { b: 1 },
  { a: 1, b: 1 },
  { a: 1, c: 1 },
  { size: 0 },
  { size: '5%' },
];

const accepted = (name: string, all: object) => {
  const ajv = new Ajv2020({ strict: false }).addSchema({ $id: 'd', components: { schemas: all } });
  const valid = ajv.getSchema(`d#/components/schemas/${name}`);
  return [...values, ...bodies].filter((value) => valid?.(value) === true);
};

t.test('accepts the same values, with an anyOf for different JSON types only', async (t) => {
  const document = { components: { schemas } };
  const rewritten = forGenerators(document, schemas).components.schemas;
  for (const name of Object.keys(schemas)) {
    const expected = accepted(name, schemas);
    t.ok(expected.length > 0, name);
    t.same(accepted(name, rewritten), expected, name);
  }
  t.match(rewritten['size'], {
    anyOf: [{ type: 'integer' }, { type: 'string', pattern: '^\\d+%$|^(?:fit)$' }],
  });
  t.same(rewritten['distinct'], schemas['distinct']);
  const { size: _, distinct: __, ...others } = rewritten;
  t.notMatch(JSON.stringify(others), /"anyOf"/);
});

t.test('moves a default next to a reference to an anyOf into the description', async (t) => {
  const field = { $ref: '#/components/schemas/size', description: 'A size.', default: 'fit' };
  t.same(forGenerators({ field, plain: { type: 'number', default: 1 } }, schemas), {
    field: { $ref: '#/components/schemas/size', description: 'A size. Default: "fit".' },
    plain: { type: 'number', default: 1 },
  });
});
