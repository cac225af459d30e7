import t from 'tap';
import { misses, report } from '../../../bench/scenarios/misses.ts';
import type { Rendering } from '../../../bench/scenarios/rendering.ts';
import { Runner } from '../../../bench/scenarios/run.ts';
import { startSources } from '../../../bench/scenarios/sources.ts';
import { hasMinimal } from '../../../bench/servers/minimal.ts';

const rounds = (...figures: ReadonlyArray<readonly [perSecond: number, processorMs: number]>) =>
  figures.map(([perSecond, processorMs]): Rendering => ({ perSecond, processorMs, bytes: 1 }));

const found = {
  service: rounds([80, 24], [90, 27]),
  'bare sharp': rounds([160, 20], [100, 18]),
  minimal: rounds([100, 20], [100, 18]),
  peer: rounds([40, Number.NaN], [45, Number.NaN]),
};

const skip = hasMinimal ? false : 'uWebSockets.js does not load';

t.test('misses are compared with the minimal server in each round', { skip }, async (t) => {
  const sources = await startSources();
  t.teardown(() => sources.close());
  const runner = new Runner({
    quick: true,
    rounds: 2,
    seconds: 1,
    cores: 2,
    sources,
    progress: () => {},
    hasIpx: false,
    photographs: null,
    ssimulacra2: null,
    peers: [],
    defaultPeers: [],
  });
  const reporting = async (bench: Parameters<typeof misses.run>[0]) => report(bench, 'JPEG', found);
  const result = await runner.run('misses', { ...misses, run: reporting });
  t.equal(result.failure, null);
  const values = Object.fromEntries(
    result.verdicts.map(({ finding }) => [finding.measure, finding.values]),
  );
  t.match(values, {
    'of minimal': [0.8, 0.9],
    'processor time, of minimal': [1.2, 1.5],
    'of bare sharp': [0.5, 0.9],
    'of the fastest other': [2, 2],
    'processor time': [4, 9],
  });
  const withGoal = result.verdicts.filter(({ met }) => met !== null);
  t.same(
    withGoal.map(({ finding, met }) => [finding.measure, met]),
    [
      ['of minimal', false],
      ['of the fastest other', true],
    ],
    'the minimal server is no other server',
  );
  const [heads, ...rows] = result.findings.tables[0]?.rows ?? [];
  t.equal(heads?.filter((head) => head === 'of minimal').length, 2);
  const rowOf = (name: string) => rows.find(([first]) => first === name)?.slice(1);
  t.same(rowOf('minimal')?.[1], '1.00 (1.00..1.00)');
  t.same(rowOf('peer')?.slice(3, 5), ['-', '-'], 'without a process id');
});
