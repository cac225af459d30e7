import t from 'tap';
import { nearestName } from '../../contract/near-miss.ts';
import { readAddress } from '../../server/image/address.ts';
import { parameterSpellings } from '../../server/image/options.ts';

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
  };
  const pairs = Object.entries(misspelt).flatMap(([intended, names]) =>
    names.split(' ').map((name) => [name, intended] as const),
  );
  for (const [name, intended] of pairs) {
    t.equal(nearestName(name, parameterSpellings), intended, name);
    t.throws(
      () => readAddress('/img/', `url=https://e.com/a.jpg&project=p&${name}=1`),
      {
        code: 'parameter_invalid',
        message: `${name} is not a parameter. Did you mean ${intended}?`,
      },
      name,
    );
  }
  const others = { 'amp;project': 'project', Project: 'project', projct: 'project', URL: 'url' };
  for (const [name, intended] of Object.entries(others)) {
    t.throws(() => readAddress('/img/', `${name}=https://e.com/a.jpg`), {
      code: 'parameter_invalid',
      message: new RegExp(`Did you mean ${intended}\\?`),
    });
  }
});

t.test('other names are ignored, because caches and trackers add them', async (t) => {
  const names = 'utm_source v x ab cb fbclid rev hit pot version ts'.split(' ');
  for (const name of [...names, '', 'ww', 'hh', 'wi', 'amp;', 'x'.repeat(10_000)]) {
    t.equal(nearestName(name, parameterSpellings), undefined, name.slice(0, 20));
    t.ok(readAddress('/img/', `url=https://e.com/a.jpg&project=p&${name}=1&${name}=2`));
  }
});

t.test('very long names are not compared', async (t) => {
  const long = 'n'.repeat(80);
  t.equal(nearestName(`${long.slice(1)}m`, [long]), long);
  t.equal(nearestName(`${long}n`, [long]), undefined);
});
