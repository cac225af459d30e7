import { loadOne } from '../load/load.ts';
import { startIpx } from '../servers/ipx.ts';
import { hasMinimal, minimalName, startMinimal } from '../servers/minimal.ts';
import { residentMiB } from '../servers/processes.ts';
import type { ImageServer } from '../servers/server.ts';
import { deployService } from '../servers/service.ts';
import { alternate, spread } from './rounds.ts';
import { type Bench, type Measures, type Scenario, unusedNumber } from './scenario.ts';
import { imageUrlOf, requestedQuality } from './sources.ts';

const measures = {
  'of a peer': {
    what: 'memory after the misses, divided by that of a peer',
    unit: '×',
    goal: { atMost: 1.5 },
  },
  'of a peer, without the memory cache': {
    what: 'memory after the misses with SERVICE_MEMORY_CACHE_BYTES=0, divided by that of a peer',
    unit: '×',
  },
  'of minimal': {
    what: 'memory after the misses, divided by that of a minimal server of the same packages',
    unit: '×',
  },
  'of minimal, without the memory cache': {
    what: 'the same with SERVICE_MEMORY_CACHE_BYTES=0',
    unit: '×',
  },
  'of IPX': { what: 'memory after the misses, divided by that of IPX', unit: '×' },
  idle: { what: 'memory when idle', unit: 'MiB' },
  'after misses': { what: 'memory after the misses', unit: 'MiB' },
  peak: { what: 'memory at its peak', unit: 'MiB' },
} as const satisfies Measures;

type MemoryBench = Bench<keyof typeof measures>;

const uncached = 'service without its memory cache';

const clients = 8;
const sampleEveryMs = 250;

/** Resident memory in MiB. */
interface Memory {
  readonly idle: number;
  readonly peak: number;
  readonly after: number;
  readonly rested: number;
  /** Every {@link sampleEveryMs}. */
  readonly samples: readonly number[];
}

export const memory: Scenario = {
  title: 'Memory',
  method:
    'Resident memory (RSS) of all processes of a server: idle, at its peak and after distinct misses of the photograph as JPEG, 8 at a time, and after a rest. The service keeps the images in its memory cache. A peer is measured when --peer-pid names its process.',
  measures,
  async run(bench) {
    const { pixels } = bench.sources.photo;
    const count = bench.quick ? 120 : 2_000;
    const peers = bench.peers(pixels).filter(({ pid }) => pid !== null);
    const started = (start: () => Promise<ImageServer>) => async () => {
      const server = await bench.open(start());
      const measured = await measure(bench, server, count);
      await server.close();
      return measured;
    };
    const contenders: Record<string, () => Promise<Memory>> = {
      service: started(() => deployService()),
      [uncached]: started(() => deployService({ SERVICE_MEMORY_CACHE_BYTES: '0' })),
    };
    if (peers.length === 0) bench.note('The goal for memory needs a peer with --peer-pid.');
    if (hasMinimal) {
      contenders[minimalName] = started(() => startMinimal(pixels, requestedQuality, bench.cores));
    }
    if (bench.hasIpx) contenders['IPX'] = started(() => startIpx(pixels, requestedQuality));
    for (const peer of peers) contenders[peer.name] = () => measure(bench, peer, count);
    const rounds = bench.quick ? 1 : Math.min(3, bench.rounds);
    report(bench, await alternate(rounds, contenders), `${count} misses`);
  },
};

async function measure(bench: MemoryBench, server: ImageServer, count: number): Promise<Memory> {
  const resident = () => residentMiB(server.pid ?? 0);
  const samples: number[] = [];
  const idle = await resident();
  const timer = setInterval(() => void resident().then((mib) => samples.push(mib)), sampleEveryMs);
  try {
    const url = imageUrlOf(server, bench.sources.photo);
    const planned = { name: 'misses', url, first: unusedNumber(), clients, requests: count };
    const { counts, statuses } = await loadOne(planned, { seconds: 600 });
    if (counts.miss < count) throw new Error(`${server.name}: ${JSON.stringify(statuses)}`);
    const after = await resident();
    await new Promise((resolve) => setTimeout(resolve, bench.quick ? 1_000 : 12_000));
    return { idle, after, peak: Math.max(after, ...samples), rested: await resident(), samples };
  } finally {
    clearInterval(timer);
  }
}

function report(bench: MemoryBench, found: Record<string, Memory[]>, caseName: string): void {
  const { service: own = [], [uncached]: ownUncached = [], ...others } = found;
  const valuesOf = (rounds: readonly Memory[], key: 'idle' | 'after' | 'peak' | 'rested') =>
    rounds.map((round) => round[key]);
  bench.finding('idle', caseName, valuesOf(own, 'idle'), '');
  bench.finding('after misses', caseName, valuesOf(own, 'after'), '');
  bench.finding('peak', caseName, valuesOf(own, 'peak'), '');
  for (const [name, rounds] of Object.entries(others)) {
    const compare = (measure: keyof typeof measures, service: readonly Memory[]) => {
      const theirs = { name, values: valuesOf(rounds, 'after') };
      bench.ratio(measure, `${name}, ${caseName}`, valuesOf(service, 'after'), theirs, ' MiB');
    };
    if (name === 'IPX') compare('of IPX', own);
    else {
      const measure = name === minimalName ? 'of minimal' : 'of a peer';
      compare(measure, own);
      compare(`${measure}, without the memory cache`, ownUncached);
    }
  }
  bench.table({
    title: `Memory in MiB, ${caseName}`,
    rows: [
      ['', 'idle', 'peak', 'after the misses', 'after a rest'],
      ...Object.entries(found).map(([name, rounds]) => [
        name,
        ...(['idle', 'peak', 'after', 'rested'] as const).map((key) =>
          spread(valuesOf(rounds, key)),
        ),
      ]),
    ],
  });
  const series = Object.entries(found).map(([name, [first]]) => ({
    name,
    points: (first?.samples ?? []).map((mib, at) => [(at * sampleEveryMs) / 1_000, mib] as const),
  }));
  bench.chart({
    name: 'memory',
    title: `Memory during ${caseName} and a rest, all processes of a server, first round`,
    xTitle: 's',
    panels: [{ title: 'RSS, MiB', series }],
  });
}
