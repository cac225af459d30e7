import { load, ofClass } from '../load/load.ts';
import { startIpx } from '../servers/ipx.ts';
import { residentMiB } from '../servers/processes.ts';
import type { ImageServer } from '../servers/server.ts';
import { startService } from '../servers/service.ts';
import { alternate, figure, median, ratios, spread } from './rounds.ts';
import { type Bench, scenario, unused } from './scenario.ts';
import { quality, urlOf } from './sources.ts';

type MemoryBench = Bench<
  'idle' | 'after misses' | 'peak' | 'of a peer' | 'of a peer, without the memory cache' | 'of IPX'
>;

const uncached = 'service without its memory cache';

const clients = 8;
const sampleEveryMs = 250;

interface Memory {
  readonly idle: number;
  readonly peak: number;
  readonly after: number;
  readonly settled: number;
  /** Every {@link sampleEveryMs}. */
  readonly course: readonly number[];
}

export const memory = scenario({
  title: 'Memory',
  about:
    'Resident memory (RSS) of all processes of a server: idle, at its peak and after distinct misses of the photograph as JPEG, 8 at a time, and after a rest. The service keeps the images in its memory cache. A peer is measured when --peer-pid names its process.',
  measures: {
    'of a peer': {
      what: 'memory after the misses, of that of a peer',
      unit: '×',
      goal: { atMost: 1.5 },
    },
    'of a peer, without the memory cache': {
      what: 'memory after the misses with SERVICE_MEMORY_CACHE_BYTES=0, of that of a peer',
      unit: '×',
    },
    'of IPX': { what: 'memory after the misses, of that of IPX', unit: '×' },
    idle: { what: 'memory when idle', unit: 'MiB' },
    'after misses': { what: 'memory after the misses', unit: 'MiB' },
    peak: { what: 'memory at its peak', unit: 'MiB' },
  },
  async run(bench) {
    const { pixels } = bench.sources.photo;
    const count = bench.quick ? 120 : 2_000;
    const peers = bench.peers(pixels).filter(({ pid }) => pid !== null);
    const fresh = (starting: () => Promise<ImageServer>) => async () => {
      const server = await bench.open(starting());
      const measured = await measure(bench, server, count);
      await server.close();
      return measured;
    };
    const contenders: Record<string, () => Promise<Memory>> = {
      service: fresh(() => startService()),
    };
    if (peers.length > 0) {
      contenders[uncached] = fresh(() => startService({ SERVICE_MEMORY_CACHE_BYTES: '0' }));
    } else bench.note('The goal for memory needs a peer with --peer-pid.');
    if (bench.hasIpx) contenders['IPX'] = fresh(() => startIpx(pixels, quality));
    for (const peer of peers) contenders[peer.name] = () => measure(bench, peer, count);
    const rounds = bench.quick ? 1 : Math.min(3, bench.rounds);
    report(bench, await alternate(rounds, contenders), `${count} misses`);
  },
});

async function measure(bench: MemoryBench, server: ImageServer, count: number): Promise<Memory> {
  const resident = () => residentMiB(server.pid ?? 0);
  const course: number[] = [];
  const idle = await resident();
  const timer = setInterval(() => void resident().then((mib) => course.push(mib)), sampleEveryMs);
  try {
    const url = urlOf(server, bench.sources.photo);
    const planned = { name: 'misses', url, first: unused(), clients, requests: count };
    const { counts, answers } = ofClass(await load({ seconds: 600, classes: [planned] }), 'misses');
    if (counts.miss < count) throw new Error(`${server.name}: ${JSON.stringify(answers)}`);
    const after = await resident();
    await new Promise((rested) => setTimeout(rested, bench.quick ? 1_000 : 12_000));
    return { idle, after, peak: Math.max(after, ...course), settled: await resident(), course };
  } finally {
    clearInterval(timer);
  }
}

function report(bench: MemoryBench, found: Record<string, Memory[]>, label: string): void {
  const { service: own = [], [uncached]: lean, ...others } = found;
  const of = (rounds: readonly Memory[], key: 'idle' | 'after' | 'peak' | 'settled') =>
    rounds.map((round) => round[key]);
  bench.finding('idle', label, of(own, 'idle'), '');
  bench.finding('after misses', label, of(own, 'after'), '');
  bench.finding('peak', label, of(own, 'peak'), '');
  for (const [name, rounds] of Object.entries(others)) {
    const compare = (
      measure: 'of IPX' | 'of a peer' | 'of a peer, without the memory cache',
      service: readonly Memory[],
    ) => {
      const values = ratios(of(service, 'after'), of(rounds, 'after'));
      const detail = `${figure(median(of(service, 'after')))} MiB, ${name} ${spread(of(rounds, 'after'))} MiB`;
      bench.finding(measure, `${name}, ${label}`, values, detail);
    };
    compare(name === 'IPX' ? 'of IPX' : 'of a peer', own);
    if (lean !== undefined && name !== 'IPX') compare('of a peer, without the memory cache', lean);
  }
  bench.table({
    title: `Memory in MiB, ${label}`,
    rows: [
      ['', 'idle', 'peak', 'after the misses', 'after a rest'],
      ...Object.entries(found).map(([name, rounds]) => [
        name,
        ...(['idle', 'peak', 'after', 'settled'] as const).map((key) => spread(of(rounds, key))),
      ]),
    ],
  });
  const series = Object.entries(found).map(([name, [first]]) => ({
    name,
    points: (first?.course ?? []).map((mib, at) => [(at * sampleEveryMs) / 1_000, mib] as const),
  }));
  bench.chart({
    name: 'memory',
    title: `Memory during ${label} and a rest, all processes of a server, first round`,
    xTitle: 's',
    panels: [{ title: 'RSS, MiB', series }],
  });
}
