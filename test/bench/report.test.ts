import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import {
  alternate,
  figure,
  type Measures,
  median,
  Results,
  ratios,
  spread,
  writeReport,
} from '../../bench/report.ts';
import { measureOtherLoad } from '../../bench/run.ts';
import { recovery } from '../../bench/scenarios/overload.ts';
import { temporaryFolder } from '../temporary-root.ts';

const measures = {
  'of another': { what: 'hits per second', unit: '×', goal: { atLeast: 0.95 } },
  time: { what: 'time', unit: 'ms', goal: { atMost: 5 } },
  size: { what: 'size', unit: 'MiB' },
} as const satisfies Measures;

const findResults = (name: string) =>
  new Results(name, { title: 'Hits', method: 'How.', measures }, () => {});

t.test('reports every figure with its goal, and lists missed goals first', async (t) => {
  const folder = await temporaryFolder(t);
  const results = findResults('hits');
  results.finding('of another', 'a case', [0.83, 0.8, 0.9], 'a | b');
  results.finding('time', 'a case', [4]);
  results.finding('size', 'a case', [100]);
  results.finding('of another', 'another', [Number.NaN]);
  results.ratio('of another', 'a third', [4, 9], { name: 'other', values: [2, 3] }, '/s');
  results.table({
    title: 'More',
    rows: [
      ['', 'rate'],
      ['service', '1'],
    ],
  });
  results.note('A note.');
  const failed = findResults('mix');
  failed.failure = 'no connection';
  await writeReport(folder, ['2 cores.'], [results, failed]);
  const text = await readFile(join(folder, 'report.md'), 'utf8');
  for (const part of [
    '2 cores.',
    '2 of 4 goals are met.',
    '- hits: of another (a case): 0.83: missed',
    '- hits: of another (another): not measured: missed',
    '| a case | 0.83 (0.80..0.90) × | at least 0.95 × | 0.83: missed | a \\| b |',
    '| 4.00 ms | at most 5 ms | 4.00: met |',
    '| a third | 2.50 (2.00..3.00) × | at least 0.95 × | 2.50: met | 6.50 (4.00..9.00)/s, other 2.50 (2.00..3.00)/s |',
    '| 100 MiB |  |  |',
    '**It ended early: no connection**',
    'A note.',
    '### More\n\n|  | rate |\n| --- | --- |\n| service | 1 |',
  ]) {
    t.ok(text.includes(part), part);
  }
});

t.test('takes measurements in turn, and ratios within a round', async (t) => {
  const order: string[] = [];
  const values = await alternate(3, {
    a: async () => order.push('a'),
    b: async () => order.push('b'),
  });
  t.same(order, ['a', 'b', 'b', 'a', 'a', 'b']);
  t.same(values, { a: [1, 4, 5], b: [2, 3, 6] });
  t.same(ratios([1, 4], [2, 2]), [0.5, 2]);
  t.equal(median([3, 1, 2]), 2);
  t.equal(median([4, 1]), 2.5);
  t.equal(spread([0.9, 0.88, 0.95]), '0.90 (0.88..0.95)');
  t.same([123_456, 1_234, 12.34, 0, Number.NaN].map(figure), ['123.5k', '1234', '12.3', '0', '-']);
});

t.test('ends recovery after several consecutive fast probes', async (t) => {
  const probe = (dueS: number, latencyMs: number, outcome: 'miss' | 'refused' = 'miss') => ({
    dueS,
    latencyMs,
    outcome,
  });
  const slow = [probe(10, 20), probe(10.1, 900), probe(10.15, 20), probe(10.2, 5, 'refused')];
  const fast = [probe(10.5, 20), probe(10.3, 20), probe(10.4, 20)];
  t.ok(Math.abs(recovery([...slow, ...fast], 10, 50) - 0.3) < 1e-9);
  t.equal(recovery(slow, 10, 50), Number.POSITIVE_INFINITY);
});

t.test("excludes its own children's processor time from other programs' load", async (t) => {
  const until = 'process.cpuUsage().user < 400_000';
  const busyMs = () =>
    cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0);
  const [before, since] = [busyMs(), performance.now()];
  const others = measureOtherLoad();
  spawnSync(process.execPath, ['-e', `while (${until});`]);
  const othersMs = others() * (performance.now() - since);
  t.ok(othersMs <= busyMs() - before - 300, `${othersMs} ms`);
});
