import t from 'tap';
import { nearestName } from '../../contract/suggestion.ts';
import { readAddress } from '../../server/image/address.ts';

/** Reads an address with a parameter of this name. */
const readWith = (name: string) =>
  readAddress('/img/https://e.com/a.jpg', `project=p&${name}=1&${name}=2`);

t.test('a misspelt parameter is rejected with the nearest name', async (t) => {
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

t.test('other names are ignored, because caches and trackers add them', async (t) => {
  const names = 'utm_source x ab cb fbclid rev hit pot version ts ww hh wi amp;'.split(' ');
  for (const name of [...names, '', 'x'.repeat(10_000)]) t.ok(readWith(name), name.slice(0, 20));
});

t.test('very long names are not compared', async (t) => {
  const long = 'n'.repeat(80);
  t.equal(nearestName(`${long.slice(1)}m`, [long]), long);
  t.equal(nearestName(`${long}n`, [long]), undefined);
});
