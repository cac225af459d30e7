import fc from 'fast-check';
import t from 'tap';
import { nearestName, similarName } from '../../contract/suggestion.ts';
import { readAddress } from '../../server/image/address.ts';

/** Reads an address with a parameter of this name. */
const readWith = (name: string) =>
  readAddress('/img/https://e.com/a.jpg', `project=p&${name}=1&${name}=2`);

t.test('rejects a misspelt parameter and suggests the nearest name', async (t) => {
  const misspelt = {
    w: 'W amp;w',
    fmt: 'FMT',
    width: 'Width widht wdth widthh',
    q: 'AMP;Q',
    h: 'amp;amp;h',
    quality: 'qualty',
    format: 'formt',
    grayscale: 'grayscal',
    enlarge: 'enlarg',
    crop: 'croop',
    blur: 'blurr',
    project: 'amp;project Project projct',
    url: 'URL',
  };
  for (const [intended, names] of Object.entries(misspelt)) {
    for (const name of names.split(' ')) {
      const message = `${name} is not a parameter. Did you mean ${intended}?`;
      t.throws(() => readWith(name), { code: 'parameter_invalid', message }, name);
    }
  }
});

t.test('ignores other names, because caches and trackers add them', async (t) => {
  const names = 'utm_source x ab cb fbclid rev hit pot version ts ww hh wi amp;'.split(' ');
  for (const name of [...names, '', 'x'.repeat(10_000)]) t.ok(readWith(name), name.slice(0, 20));
});

t.test('does not compare very long names', async (t) => {
  const long = 'n'.repeat(80);
  t.equal(nearestName(`${long.slice(1)}m`, [long]), long);
  t.equal(nearestName(`${long}n`, [long]), undefined);
});

/**
 * Returns all texts that are one edit away: a letter deleted, inserted, replaced, or exchanged with
 * the next.
 */
function singleEdits(text: string, letters: readonly string[]): ReadonlySet<string> {
  const places = Array.from({ length: text.length + 1 }, (_, at) => at);
  const parts = places.map((at) => [text.slice(0, at), text.slice(at)] as const);
  return new Set(
    parts.flatMap(([before, after]) => [
      before + after.slice(1),
      before + after.slice(1, 2) + after.slice(0, 1) + after.slice(2),
      ...letters.flatMap((letter) => [before + letter + after, before + letter + after.slice(1)]),
    ]),
  );
}

t.test('finds exactly the names that are one edit away', async () => {
  const letters = ['a', 'b', 'c'];
  const word = fc.string({ unit: fc.constantFrom(...letters), minLength: 4, maxLength: 7 });
  fc.assert(
    fc.property(word, word, (name, known) => {
      const isNear = name === known || singleEdits(name, letters).has(known);
      return (nearestName(name, [known]) === known) === isNear;
    }),
    { numRuns: 2_000 },
  );
  fc.assert(
    fc.property(word, (known) =>
      [...singleEdits(known, letters)].every((name) => nearestName(name, [known]) === known),
    ),
  );
});

t.test('finds similar names', async (t) => {
  const known = ['background', 'blur', 'quality'];
  const expected = {
    back: undefined,
    backgroundcol: 'background',
    qlty: undefined,
    qualty: 'quality',
  };
  for (const [name, similar] of Object.entries(expected)) {
    t.equal(similarName(name, known), similar, name);
  }
});
