import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import t from 'tap';
import { Results } from '../../../bench/report.ts';
import { startSources } from '../../../bench/scenarios/bench.ts';
import { misses } from '../../../bench/scenarios/misses.ts';
import {
  makeCases,
  type Rendering,
  reportCase,
  reportMean,
} from '../../../bench/scenarios/rendering.ts';
import { hasMinimal } from '../../../bench/servers/minimal.ts';
import { profileName } from '../../../pool/formats/metadata/profile.ts';

const rounds = (...figures: ReadonlyArray<readonly [perSecond: number, processorMs: number]>) =>
  figures.map(([perSecond, processorMs]): Rendering => ({ perSecond, processorMs, bytes: 1 }));

const found = {
  service: rounds([80, 24], [90, 27]),
  minimal: rounds([100, 20], [100, 18]),
  peer: rounds([40, Number.NaN], [45, Number.NaN]),
};

const skip = hasMinimal ? false : 'uWebSockets.js does not load';

const newResults = () => new Results('misses', misses, () => {});

t.test('compares misses with the minimal server in each round', { skip }, async (t) => {
  const results = newResults();
  reportCase(results, '', 'JPEG', found);
  const { findings, tables } = results;
  t.same(
    findings.map(({ name, values, met }) => [name, values, met]),
    [
      ['misses: of minimal', [0.8, 0.9], false],
      ['misses: processor time, of minimal', [1.2, 1.5], null],
      ['misses: of the fastest other', [2, 2], true],
    ],
    'the minimal server is no other server',
  );
  const [heads, ...rows] = tables[0]?.rows ?? [];
  t.equal(heads?.filter((head) => head === 'of minimal').length, 2);
  const findRow = (name: string) => rows.find(([first]) => first === name)?.slice(1);
  t.same(findRow('minimal')?.[1], '1.00 (1.00..1.00)');
  t.same(findRow('peer')?.slice(2, 4), ['-', '-'], 'without a process id');
});

t.test('compares photographs with the fastest other server per photograph', { skip }, async (t) => {
  const { service, minimal } = found;
  const results = newResults();
  for (const [name, servers] of Object.entries({
    sRGB: { ...found, slower: rounds([20, 30], [20, 30]) },
    WebP: { service, minimal: rounds([20, 30], [10, 30]), peer: rounds([640, 1], [180, 1]) },
    AVIF: { service, minimal },
  })) {
    reportCase(results, 'photograph, ', name, servers);
  }
  reportMean({ results }, 'of minimal');
  reportMean({ results }, 'of the fastest other');
  const rounded = (values: readonly number[]) => values.map((value) => Number(value.toFixed(3)));
  t.same(
    results.findings
      .filter(({ name }) => /photographs|other/.test(name))
      .map(({ name, caseName, values, met }) => [
        name.replace('misses: ', ''),
        caseName,
        rounded(values),
        met,
      ]),
    [
      ['photograph, of the fastest other', 'sRGB', [2, 2], true],
      ['photograph, of the fastest other', 'WebP', [0.125, 0.5], false],
      [
        'photographs, of minimal',
        'geometric mean of 3',
        rounded([Math.cbrt(0.8 * 4 * 0.8), Math.cbrt(0.9 * 9 * 0.9)]),
        null,
      ],
      ['photographs, of the fastest other', 'geometric mean of 2', [0.5, 1], false],
    ],
    'a photograph that no other server reads is not part of their mean',
  );
});

t.test('contains photographs that match their names', async (t) => {
  const sources = await startSources();
  t.teardown(() => sources.close());
  const facts = new Map<string, object>();
  for (const { name, source, format } of await makeCases({ sources, quick: false })) {
    const file = await readFile(source.file);
    const served = await fetch(source.url.replace('{n}', '1'));
    t.ok(file.equals(Buffer.from(await served.arrayBuffer())), `${name} is served`);
    const { icc, exif, autoOrient: upright, ...metadata } = await sharp(file).metadata();
    facts.set(name, {
      ...metadata,
      width: upright.width,
      profile: icc === undefined ? null : profileName(icc),
      exif: exif?.length ?? 0,
      scale: Number((upright.width / source.width).toFixed(1)),
      to: format,
    });
    const height = (upright.height * source.width) / upright.width;
    t.ok(Math.abs(source.pixels / source.width - height) < 1, `${name} has its pixels`);
  }
  const plain = { format: 'jpeg', width: 2720, profile: null, exif: 0, scale: 3.4, to: 'jpeg' };
  const jpeg = { ...plain, chromaSubsampling: '4:2:0', isProgressive: false };
  t.match(Object.fromEntries(facts), {
    'no profile, 4:2:0, scale 3.4': jpeg,
    sRGB: { ...jpeg, profile: 'sRGB' },
    'Display P3': { ...jpeg, profile: 'sP3C' },
    'Adobe RGB': { ...jpeg, profile: 'Compatible with Adobe RGB (1998)' },
    '4:4:4': { ...jpeg, chromaSubsampling: '4:4:4' },
    progressive: { ...jpeg, isProgressive: true },
    'turned by EXIF': { ...jpeg, exif: Number, orientation: 6 },
    'thumbnail, 64 KB of metadata': { ...jpeg, exif: Number },
    '2 megapixels': { ...jpeg, width: 1632, scale: 2 },
    '12 megapixels': { ...jpeg, width: 4000, scale: 5 },
    '48 megapixels': { ...jpeg, width: 8000, scale: 10 },
    'scale 1.3': { ...jpeg, scale: 1.3 },
    'scale 10.0': { ...jpeg, scale: 10 },
    'PNG with alpha, as WebP': { format: 'png', hasAlpha: true, to: 'webp' },
    WebP: { ...plain, format: 'webp' },
    AVIF: { ...plain, format: 'heif', compression: 'av1' },
  });
  t.match(await makeCases({ sources, quick: true }), { length: 2 });
});
