import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SaxesParser } from 'saxes';
import t from 'tap';
import type { RequestSample } from '../../../bench/load/plan.ts';
import { goalInWords, judge, verdictInWords } from '../../../bench/report/verdict.ts';
import { type ScenarioResult, writeReport } from '../../../bench/report/write.ts';
import { recovery } from '../../../bench/scenarios/overload.ts';
import { alternate, figure, median, ratios, spread } from '../../../bench/scenarios/rounds.ts';
import type { Measure } from '../../../bench/scenarios/scenario.ts';
import { temporaryFolder } from '../../temporary-root.ts';

const measures = {
  'of another': { what: 'hits per second', unit: '×', goal: { atLeast: 0.95 } },
  'time of <one> & all': { what: 'time', unit: 'ms', goal: { atMost: 5 } },
  size: { what: 'size', unit: 'MiB' },
} as const satisfies Record<string, Measure>;

const verdict = (key: keyof typeof measures, values: readonly number[], caseName = 'a case') =>
  judge('hits', measures[key], { measure: key, caseName, values, detail: 'a | b' });

const result: ScenarioResult = {
  name: 'hits',
  scenario: { title: 'Hits', method: 'How.', measures },
  verdicts: [
    verdict('of another', [0.83, 0.8, 0.9]),
    verdict('time of <one> & all', [4]),
    verdict('size', [100]),
    verdict('of another', [Number.NaN], 'another'),
  ],
  findings: {
    tables: [
      {
        title: 'More',
        rows: [
          ['', 'rate'],
          ['service', '1'],
        ],
      },
    ],
    charts: [
      {
        name: 'sizes',
        title: 'Sizes, by number',
        logarithmic: true,
        ticks: [{ at: 10, label: '<10>' }],
        panels: [
          {
            title: 'MiB',
            series: [
              {
                name: 'a & b',
                points: [
                  [10, 1],
                  [100, Number.NaN],
                ],
              },
            ],
          },
        ],
      },
      {
        name: 'points',
        title: 'Points, of two',
        xTitle: 'bytes < 10',
        panels: [{ title: 'Speed', series: [{ name: 'a & b', points: [[5, 7]] }] }],
      },
    ],
    notes: ['A note.'],
  },
  failure: null,
};

t.test('a report has every figure with its goal, and lists missed goals first', async (t) => {
  const folder = await temporaryFolder(t);
  const failed: ScenarioResult = { ...result, name: 'mix', verdicts: [], failure: 'no connection' };
  await writeReport(folder, { environment: ['2 cores.'], results: [result, failed] });
  const files = (await readdir(folder)).sort();
  t.same(files, ['report-points.svg', 'report-sizes.svg', 'report.md']);
  const text = await readFile(join(folder, 'report.md'), 'utf8');
  t.match(text, '2 cores.');
  t.match(text, '1 of 3 goals are met.');
  t.match(text, '- hits: of another (a case): 0.83 of 0.95: missed');
  t.match(text, '- hits: of another (another): not measured: missed');
  t.match(
    text,
    /\| a case \| 0\.83 \(0\.80\.\.0\.90\) × \| at least 0\.95 × \| \*\*0\.83 of 0\.95: missed\*\* \| a \\\| b \|/,
  );
  t.match(text, /\| 4\.00 ms \| at most 5 ms \| 4\.00 of 5: met \|/);
  t.match(text, /\| 100 MiB \| {2}\| {2}\|/, 'without a goal there is no verdict');
  t.match(text, '**It ended early: no connection**');
  for (const file of files.filter((name) => name.endsWith('.svg'))) {
    t.match(text, `![${file}](${file})`);
    const svg = await readFile(join(folder, file), 'utf8');
    const errors: Error[] = [];
    const parser = new SaxesParser({ xmlns: true });
    parser.on('error', (error) => errors.push(error));
    parser.write(svg).close();
    t.same(errors, [], `${file} is well-formed`);
    t.notMatch(svg, 'NaN');
  }
});

t.test('goals are upper or lower bounds', async (t) => {
  const met = (values: readonly number[]) => verdict('time of <one> & all', values).met;
  t.same([met([5]), met([-3]), met([10]), met([Number.NaN])], [true, true, false, false]);
  t.same([verdict('of another', [0.95]).met, verdict('of another', [0.5]).met], [true, false]);
  t.equal(verdict('size', [1]).met, null);
  const infinite = verdict('time of <one> & all', [Number.POSITIVE_INFINITY]);
  t.equal(verdictInWords(infinite), '∞ of 5: missed');
  t.equal(goalInWords(measures['time of <one> & all']), 'at most 5 ms');
});

t.test('measurements take turns, and ratios are of one round each', async (t) => {
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

t.test('recovery ends with several consecutive fast probes', async (t) => {
  const probe = (dueS: number, latencyMs: number, outcome = 'miss'): RequestSample =>
    ({ dueS, latencyMs, outcome }) as RequestSample;
  const slow = [probe(10, 20), probe(10.1, 900), probe(10.15, 20), probe(10.2, 5, 'refused')];
  const fast = [probe(10.5, 20), probe(10.3, 20), probe(10.4, 20)];
  t.ok(Math.abs(recovery([...slow, ...fast], 10, 50) - 0.3) < 1e-9);
  t.equal(recovery(slow, 10, 50), Number.POSITIVE_INFINITY);
});
