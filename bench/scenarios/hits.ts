import { hasNginx } from '../servers/nginx.ts';
import { type Case, compare } from './hits/compare.ts';
import { scenario } from './scenario.ts';

export const hits = scenario({
  title: 'Hits',
  about:
    'Requests per second of images in the memory cache, beside a handler that answers everything with the same headers and body, and beside nginx proxy_cache. For many URLs the handler has a copy of the body for each, because one body for all stays in the processor’s caches. Closed loop; a server and the load have processors of their own where there are enough.',
  measures: {
    bare: {
      name: 'of a bare handler',
      what: 'hits per second, of those of a bare handler with the same headers and body',
      unit: '×',
      goal: { atLeast: 0.95 },
    },
    nginx: {
      name: 'of nginx',
      what: 'hits per second, of those of nginx proxy_cache',
      unit: '×',
      goal: { atLeast: 1.3 },
    },
    processor: {
      name: 'processor time',
      what: 'processor time of a hit, of that of the bare handler',
      unit: '×',
      goal: null,
    },
    accept: {
      name: 'six Accept headers',
      what: 'hits per second with six Accept headers by turns, of those with one',
      unit: '×',
      goal: { atLeast: 0.9 },
    },
  },
  async run(bench) {
    if (!hasNginx) bench.note('nginx is not installed, so nothing is measured beside it.');
    const hot = bench.quick ? 150 : 2_000;
    for (const { processes, kilobytes, connections } of setups(bench.quick)) {
      const cases: Case[] = connections.map((each) => ({
        of: `${kilobytes} KB, ${named(processes)}, ${each} connections`,
        connections: each,
        requests: { count: 1 },
        withNginx: kilobytes === 20,
      }));
      const isFirst = processes === 1 && kilobytes === 20;
      await compare(bench, processes, kilobytes, cases, isFirst ? hot : 0);
    }
  },
});

interface Setup {
  readonly processes: number;
  readonly kilobytes: number;
  readonly connections: readonly number[];
}

/** A quick run has every number of processes, bytes and connections, but not all together. */
const setups = (quick: boolean): Setup[] =>
  quick
    ? [
        { processes: 1, kilobytes: 20, connections: [32] },
        { processes: 2, kilobytes: 200, connections: [256] },
      ]
    : [1, 2].flatMap((processes) =>
        [20, 200].map((kilobytes) => ({ processes, kilobytes, connections: [32, 256] })),
      );

const named = (processes: number): string => `${processes} process${processes > 1 ? 'es' : ''}`;
