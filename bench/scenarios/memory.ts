import { loadOne } from '../load/load.ts';
import { alternateServers, type Measures, spread, valuesOf } from '../report.ts';
import type { Scenario } from '../run.ts';
import { residentMiB } from '../servers/launch.ts';
import { hasMinimal, minimalName, startMinimal } from '../servers/minimal.ts';
import type { ImageServer } from '../servers/server.ts';
import { deployService } from '../servers/service.ts';
import { type Bench, toImageUrl, unusedNumber } from './bench.ts';

const uncached = 'service without its memory cache';

const measures = {
  'of a peer': {
    what: 'memory after the misses, divided by that of a peer',
    unit: '×',
    goal: { atMost: 1.5 },
  },
  'of minimal': {
    what: 'memory after the misses, divided by that of the minimal server',
    unit: '×',
  },
  [uncached]: {
    what: 'memory after the misses with SERVICE_MEMORY_CACHE_BYTES=0, divided by that of another server',
    unit: '×',
  },
  idle: { what: 'memory when idle', unit: 'MiB' },
  after: { what: 'memory after the misses', unit: 'MiB' },
} as const satisfies Measures;

type MemoryBench = Bench<keyof typeof measures>;

/** In MiB. */
interface Memory {
  readonly idle: number;
  readonly after: number;
}

export const memory: Scenario<Bench> = {
  title: 'Memory',
  method:
    'Resident memory (RSS) of all processes of a server: idle, and after distinct misses of the photograph as JPEG, 8 at a time. The service keeps the images in its memory cache. A peer is measured when --peer-pid names its process.',
  measures,
  async run(bench: MemoryBench) {
    const { opened, results, sources, quick } = bench;
    const count = quick ? 120 : 2_000;
    const peers = bench.peers.filter(({ pid }) => pid !== null);
    if (peers.length === 0) results.note('The goal for memory needs a peer with --peer-pid.');
    const servers: { readonly name: string; start(): Promise<ImageServer> }[] = [
      { name: 'service', start: () => deployService() },
      { name: uncached, start: () => deployService({ SERVICE_MEMORY_CACHE_BYTES: '0' }) },
      ...(hasMinimal ? [{ name: minimalName, start: () => startMinimal(bench.cores) }] : []),
      ...peers.map((peer) => ({ name: peer.name, start: async () => peer })),
    ];
    const measure = async ({ start }: (typeof servers)[number]): Promise<Memory> => {
      const server = await opened.open(start());
      const idle = await residentMiB(server.pid ?? 0);
      const url = toImageUrl(server, sources.photo);
      const planned = { url, first: unusedNumber(), clients: 8, requests: count };
      await loadOne(planned, { seconds: 600 }, ['miss']);
      const after = await residentMiB(server.pid ?? 0);
      await server.close();
      return { idle, after };
    };
    const found = await alternateServers(quick ? 1 : Math.min(3, bench.rounds), servers, measure);
    const getValues = (name: string, key: keyof Memory) => valuesOf(found, name, key);
    const caseName = `${count} misses`;
    for (const key of ['idle', 'after'] as const) {
      results.finding(key, caseName, getValues('service', key));
    }
    for (const name of Object.keys(found).slice(2)) {
      const theirs = { name, values: getValues(name, 'after') };
      const measure = name === minimalName ? 'of minimal' : 'of a peer';
      results.ratio(measure, name, getValues('service', 'after'), theirs, ' MiB');
      results.ratio(uncached, name, getValues(uncached, 'after'), theirs, ' MiB');
    }
    const rows = Object.keys(found).map((name) => [
      name,
      spread(getValues(name, 'idle')),
      spread(getValues(name, 'after')),
    ]);
    results.table({ title: `Memory in MiB, ${caseName}`, rows: [['', 'idle', 'after'], ...rows] });
  },
};
