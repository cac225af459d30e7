import { startIpx } from '../servers/ipx.ts';
import type { ImageServer } from '../servers/server.ts';
import { startService } from '../servers/service.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { alternate, median, ratios, spread } from './rounds.ts';
import { scenario, unused } from './scenario.ts';
import { quality, type Source, urlOf } from './sources.ts';

interface Start {
  readonly healthyS: number;
  /** From the start of the process; without the creation of the project. */
  readonly pictureS: number;
}

export const start = scenario({
  title: 'Start',
  about:
    'Time from the start of a process, on a built tree, to its first healthy answer, and to that plus the time of a first image (the photograph to 800 px as JPEG). The creation of a project in between does not count.',
  measures: {
    'first healthy answer': {
      what: 'to the first healthy answer',
      unit: 's',
      goal: { atMost: 0.3 },
    },
    'first image': { what: 'to the first image', unit: 's', goal: { atMost: 0.3 } },
    'first image, of IPX': { what: 'to the first image, of the time of IPX', unit: '×' },
  },
  async run(bench) {
    const { photo } = bench.sources;
    const { path: dataDir } = await bench.open(temporaryFolder('start'));
    const timed = (starting: () => Promise<ImageServer>) => async () => {
      const server = await bench.open(starting());
      const found = await timesOf(server, photo);
      await server.close();
      return found;
    };
    // The first start in the folder creates its files.
    await (await bench.open(startService({}, { dataDir }))).close();
    const found = await alternate(bench.quick ? 2 : Math.max(5, bench.rounds), {
      'empty folder': timed(() => startService()),
      'used folder': timed(() => startService({}, { dataDir })),
      ...(bench.hasIpx ? { IPX: timed(() => startIpx(photo.pixels, quality)) } : {}),
    });
    const rows = [['', 'healthy, s', 'first image, s']];
    for (const [of, rounds] of Object.entries(found)) {
      const healthy = rounds.map(({ healthyS }) => healthyS);
      const picture = rounds.map(({ pictureS }) => pictureS);
      rows.push([of, spread(healthy), spread(picture)]);
      if (of === 'IPX') continue;
      bench.finding('first healthy answer', of, healthy, '');
      bench.finding('first image', of, picture, '');
      const ipx = (found['IPX'] ?? []).map(({ pictureS }) => pictureS);
      if (ipx.length === 0) continue;
      const detail = `${spread(picture)} s, IPX ${median(ipx).toFixed(2)} s`;
      bench.finding('first image, of IPX', of, ratios(picture, ipx), detail);
    }
    bench.table({ title: 'Start', rows });
  },
});

async function timesOf(server: ImageServer, source: Source): Promise<Start> {
  const askedAt = performance.now();
  const response = await fetch(urlOf(server, source).replaceAll('{n}', String(unused())));
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`${server.name}: ${response.status}`);
  const healthyMs = server.healthyMs ?? Number.NaN;
  const pictureMs = healthyMs + performance.now() - askedAt;
  return { healthyS: healthyMs / 1_000, pictureS: pictureMs / 1_000 };
}
