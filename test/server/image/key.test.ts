import { readFile } from 'node:fs/promises';
import t from 'tap';
import { folderTag, imageInputs, sourceTag } from '../../../pool/inputs.ts';
import { rendererVersion } from '../../../pool/rendering/version.ts';
import type { Variant } from '../../../pool/variant.ts';
import { type Options, readOptions } from '../../../server/image/address.ts';
import { imageGeneration, isPurgedKey, keyPattern, variantKey } from '../../../server/image/key.ts';
import { resolveLayers } from '../../../server/image/layers.ts';
import { negotiation } from '../../../server/image/negotiate.ts';
import {
  type ParameterName,
  parameterNames,
  parameters,
} from '../../../server/image/parameters.ts';
import { resolveVariant, withPreset } from '../../../server/image/resolve-variant.ts';
import { changeGroups, purgeGroup } from '../../../store/generations.ts';
import type { ProjectSettings } from '../../../store/projects.ts';
import { project } from '../../project.ts';

const readQuery = (query: string): Options => readOptions(new Map(new URLSearchParams(query)));
const source = new URL('https://e.com/a.jpg');

interface Context {
  readonly headers?: Readonly<Record<string, string>>;
  readonly settings?: Partial<ProjectSettings>;
}

function createVariant(options: Options, { headers = {}, settings }: Context = {}) {
  const { hints, accepted } = negotiation()((name) => headers[name] ?? '');
  return resolveVariant(options, hints, accepted, project(settings));
}

const createOrigin = (url = source, version: string | null = null, generation = 0) => ({
  project: 'prj_1',
  inputs: imageInputs(url, version, { layers: [] }, () => true),
  generation,
});

const key = (options: Options, context: Context = {}): string =>
  variantKey(
    createOrigin(),
    createVariant(options, { headers: { accept: 'image/avif' }, ...context }),
  );

t.test('gives few other images a new key after many purges', async (t) => {
  const toTag = (name: string) => sourceTag(new URL(`https://e.com/a/${name}.jpg`));
  const tags = Array.from({ length: 1_200 }, (_, index) => toTag(`purged-${index}`));
  const groups = changeGroups({}, tags.map(purgeGroup), 5);
  const purged = { generations: { last: 5, groups } };
  const kept = Array.from({ length: 1_000 }, (_, index) => index).filter((index) => {
    const { inputs } = createOrigin(new URL(`https://e.com/a/kept-${index}.jpg`));
    return imageGeneration(purged, inputs) === 0;
  });
  t.ok(kept.length > 970, `${kept.length} of 1,000`);
  const { inputs } = createOrigin(new URL('https://e.com/a/purged-7.jpg'));
  t.equal(imageGeneration(purged, inputs), 5);
});

t.test('names in a key what purges it', async (t) => {
  const origin = createOrigin(new URL('https://e.com/a/b/c.jpg'));
  const name = variantKey(origin, createVariant({}));
  const isPurged = (tag: string) =>
    isPurgedKey({ generations: { groups: changeGroups({}, [purgeGroup(tag)], 1) } }, name);
  for (const folder of ['', 'a/', 'a/b/']) t.ok(isPurged(folderTag(`https://e.com/${folder}`)));
  t.ok(isPurged(sourceTag(new URL('https://e.com/a/b/c.jpg'))));
  for (const other of ['a', 'b/', 'a/b/c.jpg']) {
    t.notOk(isPurged(folderTag(`https://e.com/${other}`)), other);
  }
  const deep = new URL(`https://e.com/${'a/'.repeat(20)}b.jpg`);
  const [first] = imageInputs(deep, 'v'.repeat(64), { layers: [] }, () => true);
  // Ten layers and a watermark.
  const inputs = [first, ...Array.from({ length: 11 }, () => first)] as const;
  const longest = variantKey({ ...origin, inputs, generation: Date.now() }, createVariant({}));
  t.ok(longest.length < 255, 'it is a file name');
  for (const key of [name, longest]) t.match(key, keyPattern);
});

t.test('returns one key for equivalent queries', async (t) => {
  const groups = [
    'w=5&h=4 h=4&w=5 width=5&height=4 w=5.0&h=4 w=005&h=4',
    'fmt=jpeg fmt=jpg f=JPG format=Jpeg fmt=jpeg&lossless fmt=jpeg&lossless=0',
    'fmt=jpeg&a=0 fmt=jpg&animated=0',
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
    'fmt=png fmt=png&q=7 fmt=png&q=auto fmt=png&lossless fmt=png&maxbytes=9 fmt=png&chroma=420 fmt=png&progressive',
    'fmt=avif fmt=avif&density=90 fmt=avif&progressive',
    'fmt=blurhash fmt=blurhash&q=3',
    'w=9 w=9&fit=fill w=9&fit=inside',
    'w=200&dpr=1 w=100&dpr=2',
    'w=160&ar=16:9 w=160&h=90 w=160&h=90&ar=3 h=90&ar=16:9',
    'ar=1.5 ar=3:2 ar=03.0:2 ar=1.5&dpr=2 ar=1.5&fit=cover',
    'fit=inside fit=outside ar=1.5&fit=inside',
  ];
  const defaults = `flip=0 flop=false blur=0 trim=0 sharpen=false rotate=0 rotate=360 rotate=-360
    rotate=-0 gamma=1 median=1 opacity=1 extend=0,0,0,0 modulate=1,1,0,0 brightness=1 hue=360
    lightness=0 enlarge=0 animated kernel=lanczos3 pos=top fit=inside fp=0,1 q=80 dpr=1 fmt=auto`;
  for (const [first = '', ...others] of [...groups, ` ${defaults}`].map((all) =>
    all.split(/\s+/),
  )) {
    for (const other of others) t.equal(key(readQuery(other)), key(readQuery(first)), other);
  }
});

t.test("returns the same key for a parameter's default as for its absence", async (t) => {
  const settings = { autoFormat: true };
  const defaults = parameterNames.filter((name) => parameters[name].default !== null);
  t.ok(defaults.length > 20);
  for (const name of defaults) {
    const { exampleContext } = parameters[name];
    const explicit = readQuery(`${exampleContext}&${name}=${parameters[name].default}`);
    t.equal(key(explicit, { settings }), key(readQuery(exampleContext), { settings }), name);
  }
});

t.test('ignores ineffective values', async (t) => {
  const settings = { stripMetadata: false };
  t.equal(key({ icc: 'keep' }, { settings }), key({}, { settings }), 'the profile is kept anyway');
  t.equal(key({ keep: 'copyright' }, { settings }), key({ keep: 'copyright' }));
  t.equal(
    key({}, { headers: { 'viewport-width': '480' } }),
    key({}, { headers: {}, settings: { maxWidth: 480 } }),
    'a maximum from a hint or the project',
  );
});

t.test('never confuses pixels with shares of the source', async (t) => {
  const keyOf = (query: string) => key(readQuery(query));
  const equal = [
    ['crop=0,0,0.5,1', 'crop=0.0_0_0.50_1.0'],
    ['crop=0,0,1,1', 'crop=0.0,0.0,1.0,1.0'],
    ['blurarea=0,0.5,1,0.5', 'blurarea=0,0.500,1,0.5'],
    ['w=50p', 'w=50%25', 'w=50.0p', 'w=25p&dpr=2'],
    ['w=50', 'w=25&dpr=2'],
    ['h=50p', 'h=50%25'],
    ['h=50'],
    ['w=50p&ar=2', 'w=25p&ar=2:1&dpr=2'],
    ['w=50p&ar=2&fit=inside'],
  ];
  for (const [first = '', ...others] of equal) {
    for (const other of others) t.equal(keyOf(other), keyOf(first), other);
  }
  t.equal(new Set(equal.map(([query = '']) => keyOf(query))).size, equal.length);
});

t.test('changes with everything that changes the bytes', async (t) => {
  for (const name of parameterNames) {
    const { exampleContext, example, role } = parameters[name];
    const without = key(readQuery(exampleContext));
    const same = key(readQuery(`${exampleContext}&${name}=${example}`)) === without;
    t.equal(same, role === 'delivery', name);
  }
  const accepts = ['', 'image/avif', 'image/avif,image/webp', 'image/webp,image/avif;q=0.9'];
  const settings: Partial<ProjectSettings>[] = [
    { autoFormat: false },
    { maxWidth: 40 },
    { stripMetadata: false },
    { defaultQuality: 50 },
  ];
  const keys = [
    ...accepts.map((accept) => key({}, { headers: { accept } })),
    ...settings.map((changed) => key({}, { settings: changed })),
    ...[{ w: 40 }, { h: 40 }, { w: 40, h: 40 }].map((size) => key(size)),
    ...(['fill', 'inside'] as const).map((fit) => key({ w: 40, h: 40, fit })),
    ...([{}, { pos: 'north' }, { fit: 'fill' }, { fit: 'inside' }] as const).map((more) =>
      key({ ar: 2, bg: '#00000000', ...more }),
    ),
    ...['', '&fit=contain', '&fit=contain&pos=north'].map((more) =>
      key(readQuery(`w=40&enlarge=box${more}`)),
    ),
    ...['w=20&dpr=2', 'w=20&h=20&dpr=2', 'w=40&h=40'].map((size) =>
      key(readQuery(`${size}&enlarge=box`)),
    ),
    key({ blur: 1 }),
    key({ blur: 1.5 }),
    key({ keep: 'copyright' }),
    key({ icc: 'keep' }),
    key({ keep: 'copyright', icc: 'keep' }),
  ];
  t.equal(new Set(keys).size, keys.length);
});

t.test(
  'depends on project, source, its version and the renderer, which depends on sharp',
  async (t) => {
    const variant = createVariant({ w: 9, blur: 2 });
    const reordered = Object.fromEntries(Object.entries(variant).reverse()) as unknown as Variant;
    const keys = [
      variantKey(createOrigin(), variant),
      variantKey(createOrigin(), variant, rendererVersion - 1),
      variantKey(createOrigin(source, '1'), variant),
      variantKey(createOrigin(source, '2'), variant),
      variantKey({ ...createOrigin(), project: 'prj_2' }, variant),
      variantKey(createOrigin(source, null, 7), variant),
      ...['https://e.com/b.jpg', 'http://e.com/a.jpg', 'https://e.com/a.jpg?1'].map((url) =>
        variantKey(createOrigin(new URL(url)), variant),
      ),
    ];
    t.equal(new Set(keys).size, keys.length);
    t.equal(variantKey(createOrigin(), reordered), keys[0], 'not on the order of the fields');
    for (const known of keys) t.match(known, /^[0-9a-f]{32}-[07]-f[0-9a-f]{4}-[0-9a-f]{32}$/);
    const { dependencies } = JSON.parse(await readFile('package.json', 'utf8'));
    const sharpVersions: Record<typeof rendererVersion, string> = { 26: '0.35.5' };
    t.equal(
      sharpVersions[rendererVersion],
      dependencies.sharp,
      'another sharp may render other pixels: compare, increment the version if so, and record it here',
    );
  },
);

t.test('replaces a side in the preset by a ratio in the URL', async (t) => {
  const presets = { box: { w: 40, h: 30 }, high: { h: 30 }, wide: { w: 40, ar: '16:9' } };
  const sides = (options: Options) => {
    const { w, h, ar } = withPreset(options, { presets });
    return [w, h, ar];
  };
  t.same(sides({ preset: 'box', ar: 1 }), [40, undefined, 1]);
  t.same(sides({ preset: 'box', ar: 1, w: 8 }), [8, undefined, 1]);
  t.same(sides({ preset: 'box', ar: 1, h: 8 }), [undefined, 8, 1]);
  t.same(sides({ preset: 'high', ar: 1 }), [undefined, 30, 1]);
  t.same(sides({ preset: 'wide', w: 8 }), [8, undefined, 16 / 9]);
  t.same(sides({ preset: 'wide', h: 8 }), [40, 8, 16 / 9]);
});

/** Returns other spellings of a value. */
function respellings(name: ParameterName, text: string): string[] {
  const numbers = (respell: (number: string) => string) =>
    // Colours are hex digits, 420 is a word; 0 and 1 are flags.
    ['bg', 'tint', 'chroma', 'duotone'].includes(name) || text === '0' || text === '1'
      ? text
      : text.replace(/(?<![\d.])-?\d+(?:\.\d+)?/g, respell);
  return [
    text.toLowerCase(),
    text.toUpperCase(),
    text.replaceAll('_', ','),
    text.replaceAll(',', '_'),
    numbers((number) => (number.includes('.') ? `${number}0` : `${number}.0`)),
    numbers((number) => number.replace(/\d/, '0$&')),
  ];
}

t.test('ignores the spelling of values, the order and aliases', async (t) => {
  for (const name of parameterNames) {
    const { aliases, example, exampleContext, role } = parameters[name];
    if (role === 'delivery') continue;
    const expected = key(readQuery(`${exampleContext}&${name}=${example}`));
    for (const spelling of [name, ...aliases]) {
      for (const text of [example, ...respellings(name, example)]) {
        for (const query of [
          `${exampleContext}&${spelling}=${text}`,
          `${spelling}=${text}&${exampleContext}`,
        ]) {
          t.equal(key(readQuery(query)), expected, query);
        }
      }
    }
  }
});

t.test('includes the pixel ratio only with layers', async (t) => {
  const watermarked = {
    settings: { watermarkEnabled: true, watermarkUrl: 'https://e.com/mark.png' },
  };
  const keyWith = (query: string, { settings }: Context = {}) => {
    const owner = project(settings);
    const layers = resolveLayers(undefined, new Map(), owner, true);
    const { hints, accepted } = negotiation()(() => '');
    const variant = resolveVariant(readQuery(query), hints, accepted, owner, layers);
    return variantKey(createOrigin(), variant);
  };
  t.equal(keyWith('w=400'), keyWith('w=200&dpr=2'));
  t.not(keyWith('w=400', watermarked), keyWith('w=200&dpr=2', watermarked));
  t.equal(keyWith('dpr=2', watermarked), keyWith('', watermarked), 'without a size');
});
