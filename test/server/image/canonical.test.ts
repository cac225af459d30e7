import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import { variantKey } from '../../../server/image/key.ts';
import { type Options, readOptions } from '../../../server/image/options.ts';
import {
  type ParameterName,
  parameterNames,
  parameters,
} from '../../../server/image/parameters.ts';
import { withPreset } from '../../../server/image/preset.ts';
import { resolveVariant } from '../../../server/image/resolve-variant.ts';
import { project } from '../../project.ts';

const read = (pairs: Iterable<readonly [string, string]>): Options => readOptions(new Map(pairs));
const readQuery = (query: string): Options => read(new URLSearchParams(query));

function key(options: Options): string {
  const variant = resolveVariant(
    options,
    { dpr: null, width: null, viewport: null },
    { formats: ['avif'], refused: [] },
    project(),
  );
  return variantKey('prj_1', new URL('https://e.com/a.jpg'), variant);
}

t.test('equivalent queries have one key', async (t) => {
  const groups = [
    'w=5&h=4 h=4&w=5 width=5&height=4 w=5.0&h=4 w=005&h=4',
    'fmt=jpeg fmt=jpg f=JPG format=Jpeg fmt=jpeg&lossless fmt=jpeg&lossless=0 fmt=jpeg&animated=0',
    'bg=ff0000 bg=FF0000 b=f00 background=red bg=RED bg=f00f bg=ff0000ff',
    'tint=808080 tint=GREY tint=gray',
    'flip flip=1 flip=true flip=TRUE flip=',
    'blur blur=1 blur=true blur=1.0',
    'sharpen sharpen=1 sharpen=1.000',
    'trim trim=1 trim=true trim=10 trim=10.0',
    'grayscale greyscale=1',
    'normalize normalise',
    'rotate=90 rotate=-270 rotate=90.0',
    'crop=1,2,3,4 extract=1_2_3_4 crop=1,2_3,4 crop=01,2,3,4.0',
    'w=9&h=9&pos=northeast w=9&h=9&gravity=right-top w=9&h=9&position=top%20right',
    'w=9&h=9 w=9&h=9&fp=0.5,0.5 w=9&h=9&fp=0.5,0.5&pos=west',
    'w=9&h=9&fp=0.5,0.25 w=9&h=9&fp=0.50_0.250 w=9&h=9&fp=0.5,0.25&pos=west',
    'w=9&h=9&fit=contain w=9&h=9&fit=contain&fp=1,1',
    'hue=30 hue=-330 modulate=1,1,30,0 modulate=1_1_90_0&hue=30',
    'brightness=2&saturation=3 modulate=2,3,0,0 modulate=9,3,0,0&brightness=2',
    'a=0 animated=false',
    'page=2 frame=2 page=2&animated page=02&a=0',
    'fmt=webp&lossless fmt=webp&lossless=1&q=7',
    'q=auto quality=Auto',
    'fmt=png fmt=png&q=7 fmt=png&q=auto fmt=png&lossless fmt=png&a=0 fmt=png&maxbytes=9',
    'fmt=blurhash fmt=blurhash&q=3',
  ];
  const defaults = `flip=0 flop=false blur=0 trim=0 sharpen=false rotate=0 rotate=360 rotate=-360
    rotate=-0 gamma=1 median=1 opacity=1 extend=0,0,0,0 modulate=1,1,0,0 brightness=1 hue=360
    lightness=0 enlarge=0 animated kernel=lanczos3 pos=top fit=inside fp=0,1 q=80 dpr=1 fmt=auto`;
  for (const [one = '', ...others] of [...groups, ` ${defaults}`].map((all) => all.split(/\s+/))) {
    for (const other of others) t.equal(key(readQuery(other)), key(readQuery(one)), other);
  }
});

t.test('parameters of the transform change the key, those of delivery do not', async (t) => {
  for (const name of parameterNames) {
    const { beside, example, role } = parameters[name];
    const without = key(readQuery(beside));
    const same = key(readQuery(`${beside}&${name}=${example}`)) === without;
    t.equal(same, role === 'delivery', name);
  }
});

t.test('a preset equals its parameters; parameters of the URL take precedence', async (t) => {
  const presets = {
    card: { w: 400, h: 300, fp: '0.2,0.3', flip: true, sharpen: false },
    light: { brightness: 2, hue: 30, modulate: '1,3,0,0' },
    second: { page: 1 },
    look: { q: 'auto' },
    old: { w: 'many' },
  };
  const resolved = (query: string) => key(withPreset(readQuery(query), { presets }));
  for (const [query, same] of [
    ['preset=card', 'w=400&h=300&fp=0.2,0.3&flip'],
    ['preset=card&width=20&flip=0', 'w=20&h=300&fp=0.2,0.3'],
    ['preset=card&pos=west', 'w=400&h=300&pos=west&flip'],
    ['preset=card&fp=1,1', 'w=400&h=300&fp=1,1&flip'],
    ['preset=light', 'modulate=2,3,30,0'],
    ['preset=light&modulate=1,1,0,5', 'lightness=5'],
    ['preset=light&saturation=1', 'modulate=2,1,30,0'],
    ['preset=second', 'page=1'],
    ['preset=look', 'q=auto'],
    ['preset=look&q=50', 'q=50'],
    ['preset=second&animated', ''],
  ] as const) {
    t.equal(resolved(query), key(readQuery(same)), query);
  }
  for (const name of ['crad', 'toString', '__proto__', 'presets']) {
    t.throws(() => resolved(`preset=${name}`), { code: 'preset_not_found' });
  }
  t.throws(() => withPreset({ preset: 'card' }, {}), { code: 'preset_not_found' });
  t.throws(() => resolved('preset=old'), {
    code: 'parameter_invalid',
    message: /preset old.*w must/,
  });
});

const words = ['webp', 'JPG', 'cover', 'Inside', 'right top', 'entropy', 'cubic', 'Tomato', 'a1B'];
const flagsAndColours = ['', '0', '1', 'true', 'False', 'FFF', 'abcd', '012345', '89abcdef'];
const numbers = [
  -400, -90, -12.5, -1, -0.5, 0, 0.3, 0.5, 1, 1.5, 2, 3, 7, 10, 15, 99, 255, 360, 5000,
];
const lists = numbers.flatMap((one) => [`${one},1,2,3`, `1_2_3_${one}`, `1,1,${one},0`]);
const spelt = numbers.flatMap((one) => [String(one), one.toFixed(2), `0${one}`]);
const guesses = [...flagsAndColours, ...words, ...spelt, ...lists];

/** Texts that a parameter accepts. */
function texts(name: ParameterName): fc.Arbitrary<string> {
  const { parse, example } = parameters[name];
  return fc.constantFrom(example, ...guesses.filter((text) => parse(text) !== undefined));
}

const pair = fc
  .constantFrom(...parameterNames)
  .chain((name) => texts(name).map((text) => ({ name, text })));
const requests = fc.uniqueArray(pair, { selector: ({ name }) => name, maxLength: 8 });

const colours: readonly ParameterName[] = ['bg', 'tint'];
const decimals = /(?<![\d.])-?\d+(?:\.\d+)?/g;

/** Other spellings of a text. */
function respellings(name: ParameterName, text: string): string[] {
  const numbers = (respell: (number: string) => string) =>
    // Colours are hex digits; 0 and 1 are flags.
    colours.includes(name) || text === '0' || text === '1' ? text : text.replace(decimals, respell);
  if (parameters[name].role === 'delivery') return [text];
  return [
    text.toLowerCase(),
    text.toUpperCase(),
    text.replaceAll('_', ','),
    text.replaceAll(',', '_'),
    numbers((number) => (number.includes('.') ? `${number}0` : `${number}.0`)),
    numbers((number) => number.replace(/\d/, '0$&')),
  ];
}

t.test('the spelling of values, the order and aliases do not change options or key', async () => {
  fc.assert(
    fc.property(requests, fc.infiniteStream(fc.nat()), (pairs, random) => {
      const choose = (texts: readonly string[]) => texts[random.next().value % texts.length] ?? '';
      const options = read(pairs.map(({ name, text }) => [name, text]));
      const same = (others: ReadonlyArray<readonly [string, string]>) =>
        isDeepStrictEqual(read(others), options) && key(read(others)) === key(options);
      const respelt = pairs.map(
        ({ name, text }) => [name, choose(respellings(name, text))] as const,
      );
      const aliased = pairs.map(
        ({ name, text }) => [choose([name, ...parameters[name].aliases]), text] as const,
      );
      const shuffled = aliased
        .map((pair) => ({ pair, at: random.next().value }))
        .sort((a, b) => a.at - b.at)
        .map(({ pair }) => pair);
      return same(respelt) && same(shuffled);
    }),
    { numRuns: 1_000 },
  );
});
