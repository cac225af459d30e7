import t from 'tap';
import { nearestName } from '../../contract/near-miss.ts';
import { readAddress } from '../../server/image/address.ts';
import { parameterSpellings } from '../../server/image/options.ts';

t.test('a name that is nearly a parameter is not ignored', async (t) => {
  const meant: Record<string, string> = {
    W: 'w',
    FMT: 'fmt',
    Width: 'width',
    'amp;w': 'w',
    'AMP;Q': 'q',
    'amp;amp;h': 'h',
    widht: 'width',
    wdth: 'width',
    widthh: 'width',
    qualty: 'quality',
    formt: 'format',
    grayscal: 'grayscale',
    enlarg: 'enlarge',
    croop: 'crop',
    blurr: 'blur',
  };
  for (const [name, intended] of Object.entries(meant)) {
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

t.test('other names are ignored, as caches and trackers add them', async (t) => {
  const names = [
    'utm_source',
    'v',
    'x',
    'ab',
    'cb',
    'fbclid',
    'rev',
    'hit',
    'pot',
    'version',
    'ts',
  ];
  for (const name of [...names, '', 'ww', 'hh', 'wi', 'amp;', 'x'.repeat(10_000)]) {
    t.equal(nearestName(name, parameterSpellings), undefined, name.slice(0, 20));
    t.ok(readAddress('/img/', `url=https://e.com/a.jpg&project=p&${name}=1&${name}=2`));
  }
});

t.test('a long name is compared with none', async (t) => {
  const long = 'n'.repeat(80);
  t.equal(nearestName(`${long.slice(1)}m`, [long]), long);
  t.equal(nearestName(`${long}n`, [long]), undefined);
});

t.test('the source may be in the query without a slash in the path', async (t) => {
  const { source } = readAddress('/img', 'url=https://e.com/a.jpg&project=p');
  t.equal(source.href, 'https://e.com/a.jpg');
});
