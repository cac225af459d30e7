import { load, ofClass } from '../load/load.ts';
import { startIpx } from '../servers/ipx.ts';
import { type ImageServer, residentMiB } from '../servers/server.ts';
import { startService } from '../servers/service.ts';
import { alternate, figure, median, ratios, spread } from './rounds.ts';
import { type Bench, scenario, unused } from './scenario.ts';
import { quality } from './sources.ts';

type MemoryBench = Bench<'idle' | 'after' | 'peak' | 'ofPeers' | 'uncached' | 'ofIpx'>;

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
    ofPeers: {
      name: 'of a peer',
      what: 'memory after the misses, of that of a peer after the same',
      unit: '×',
      goal: { atMost: 1.5 },
    },
    uncached: {
      name: 'of a peer, without the memory cache',
      what: 'memory after the misses with SERVICE_MEMORY_CACHE_BYTES=0, of that of a peer, which keeps no images either',
      unit: '×',
      goal: null,
    },
    ofIpx: {
      name: 'of IPX',
      what: 'memory after the misses, of that of IPX',
      unit: '×',
      goal: null,
    },
    idle: { name: 'idle', what: 'memory when idle', unit: 'MiB', goal: null },
    after: { name: 'after misses', what: 'memory after the misses', unit: 'MiB', goal: null },
    peak: { name: 'peak', what: 'memory at its peak', unit: 'MiB', goal: null },
  },
  async run(bench) {
    const { photo } = bench.sources;
    const count = bench.quick ? 120 : 2_000;
    const known = bench.peers(photo.pixels).filter(({ pid }) => pid !== null);
    const fresh = (starting: () => Promise<ImageServer>) => async () => {
      const server = await bench.open(starting());
      const measured = await measure(bench, server, count);
      await server.close();
      return measured;
    };
    const found = await alternate(bench.quick ? 1 : Math.min(3, bench.rounds), {
      service: fresh(() => startService()),
      ...(known.length > 0
        ? { [uncached]: fresh(() => startService({ SERVICE_MEMORY_CACHE_BYTES: '0' })) }
        : {}),
      ...(bench.hasIpx ? { IPX: fresh(() => startIpx(photo.pixels, quality)) } : {}),
      ...Object.fromEntries(known.map((one) => [one.name, () => measure(bench, one, count)])),
    });
    report(bench, found, count);
  },
});

async function measure(bench: MemoryBench, server: ImageServer, count: number): Promise<Memory> {
  const { photo } = bench.sources;
  const resident = () => residentMiB(server.pid ?? 0);
  const course: number[] = [];
  const idle = await resident();
  const timer = setInterval(() => void resident().then((mib) => course.push(mib)), sampleEveryMs);
  try {
    const url = server.imageUrl({ source: photo.url, width: photo.width, format: 'jpeg', quality });
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

function report(bench: MemoryBench, found: Record<string, Memory[]>, count: number): void {
  const { service: own = [], [uncached]: lean, ...others } = found;
  const of = (rounds: readonly Memory[], key: 'idle' | 'after' | 'peak' | 'settled') =>
    rounds.map((round) => round[key]);
  const label = `${count} misses`;
  for (const key of ['idle', 'after', 'peak'] as const) bench.finding(key, label, of(own, key), '');
  for (const [name, rounds] of Object.entries(others)) {
    const compare = (measure: 'ofIpx' | 'ofPeers' | 'uncached', service: readonly Memory[]) => {
      const values = ratios(of(service, 'after'), of(rounds, 'after'));
      const detail = `${figure(median(of(service, 'after')))} MiB, ${name} ${spread(of(rounds, 'after'))} MiB`;
      bench.finding(measure, `${name}, ${label}`, values, detail);
    };
    compare(name === 'IPX' ? 'ofIpx' : 'ofPeers', own);
    if (lean !== undefined && name !== 'IPX') compare('uncached', lean);
  }
  if (Object.keys(others).every((name) => name === 'IPX')) {
    bench.note('No peer was named with --peer-pid, so the goal for memory has nothing to compare.');
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
  const longest = Math.max(...Object.values(found).map(([first]) => first?.course.length ?? 0));
  const positions = Array.from({ length: longest }, (_, index) => (index * sampleEveryMs) / 1_000);
  const endS = positions.at(-1) ?? 0;
  bench.chart({
    name: 'memory',
    title: `Memory during ${label} and a rest, all processes of a server, first round`,
    axis: { positions, ticks: [0, endS / 2, endS].map((at) => ({ at, label: `${figure(at)} s` })) },
    panels: [
      {
        title: 'RSS, MiB',
        series: Object.entries(found).map(([name, [first]]) => ({
          name,
          values: first?.course ?? [],
        })),
      },
    ],
  });
}
