import fc from 'fast-check';
import type { ImageOptions } from '../../sdk/src/index.ts';
import { type ParameterName, parameterNames, parameters } from '../../server/image/parameters.ts';
import type { ParameterType, ValueSchema } from '../../server/image/values.ts';

/** Texts for parameters with the mere type `string`. */
const texts: Partial<Record<ParameterName, fc.Arbitrary<string>>> = {
  ar: fc.constantFrom('16:9', '3:2', '1:100'),
  bg: fc.constantFrom(
    'fff',
    '0a84ff80',
    'tomato',
    'transparent',
    '000',
    '1234',
    'blur',
    'blur,7.5',
    'edge',
  ),
  duotone: fc.constantFrom('000,fff', 'navy,FA8072'),
  blurarea: fc.constantFrom('1,2,3,4', '1,2,3,4,5,6,7,8'),
  pixelatearea: fc.constantFrom('0,0,9,9'),
  tint: fc.constantFrom('c08040', 'RebeccaPurple', '111'),
  v: fc.stringMatching(/^[0-9A-Za-z._-]{1,64}$/),
  preset: fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }),
  layer: fc.stringMatching(/^[a-z][a-z0-9_-]{0,39}$/),
  outline: fc.constantFrom('1,fff', '20_tomato', '1000,0a84ff80'),
  overlay: fc.oneof(fc.constantFrom('/badge.png', '/a b?c=1'), fc.webUrl()),
  fallback: fc.webUrl({ withQueryParameters: true, withFragments: true }),
  filename: fc.string({ unit: 'binary', minLength: 1, maxLength: 190 }).map((text) => `a${text}`),
  download: fc.string({ unit: 'binary', minLength: 1, maxLength: 190 }).map((text) => `a${text}`),
};

/** Returns a number in a range, with at most six decimals. */
function arbitraryNumber({ type, minimum = 0, maximum = 0 }: ValueSchema): fc.Arbitrary<number> {
  const range = { min: minimum, max: maximum };
  const whole = fc.integer({ min: Math.ceil(minimum), max: Math.floor(maximum) });
  if (type === 'integer') return whole;
  const decimals = fc
    .double({ ...range, noNaN: true })
    .map((value) => Math.min(maximum, Math.max(minimum, Number(value.toFixed(6)) + 0)));
  return fc.oneof(
    whole.filter((value) => value >= minimum),
    decimals,
  );
}

function arbitraryValue(name: ParameterName): fc.Arbitrary<unknown> {
  const { schema, parts }: ParameterType<unknown> = parameters[name];
  if (parts !== undefined) {
    return fc.tuple(...Object.values(parts).map((part) => arbitraryNumber(part.schema)));
  }
  const alternatives = [schema, ...(schema.anyOf ?? [])];
  const isFlag = alternatives.some(({ type }) => type === 'boolean');
  const words = alternatives
    .flatMap((part) => part.enum ?? [])
    .filter((word) => !isFlag || !/^[01]?$/.test(word));
  const numbers = alternatives.filter(({ type }) => type === 'integer' || type === 'number');
  const values: fc.Arbitrary<unknown>[] = [
    ...(isFlag ? [fc.boolean()] : []),
    ...(words.length === 0 ? [] : [fc.constantFrom(...words)]),
    ...numbers.map(arbitraryNumber),
    ...(texts[name] === undefined ? [] : [texts[name]]),
  ];
  return values.length === 0 ? fc.constant('') : fc.oneof(...values);
}

/** Options that the types accept, with any of the parameters. */
export const anyOptions = fc.record(
  Object.fromEntries(parameterNames.map((name) => [name, arbitraryValue(name)])),
  { requiredKeys: [], noNullPrototype: true },
) as fc.Arbitrary<ImageOptions>;

export const anySource = fc.webUrl({ withQueryParameters: true, withFragments: true });
