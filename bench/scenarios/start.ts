import { startIpx } from '../servers/ipx.ts';
import { hasMinimal, minimalName, startMinimal } from '../servers/minimal.ts';
import type { ImageServer } from '../servers/server.ts';
import { deployService } from '../servers/service.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { alternate, spread } from './rounds.ts';
import { type Bench, type Measures, type Scenario, unusedNumber } from './scenario.ts';
import { imageUrlOf, requestedQuality, type SourcePicture } from './sources.ts';

interface Start {
  readonly healthyS: number;
  /** From the start of the process; without the creation of the project. */
  readonly pictureS: number;
}

const measures = {
  'first healthy answer': {
    what: 'to the first healthy response',
    unit: 's',
    goal: { atMost: 0.3 },
  },
  'first image': { what: 'to the first image', unit: 's', goal: { atMost: 0.3 } },
  'first image, of minimal': {
    what: 'time to the first image, divided by that of a minimal server of the same packages',
    unit: '×',
  },
  'first image, of IPX': {
    what: 'time to the first image, divided by that of IPX',
    unit: '×',
  },
} as const satisfies Measures;

export const start: Scenario = {
  title: 'Start',
  method:
    'Time from the start of a process of the built service to its first healthy response, and to that plus the time of a first image (the photograph to 800 px as JPEG). The creation of a project in between does not count.',
  measures,
  async run(bench: Bench<keyof typeof measures>) {
    const { photo } = bench.sources;
    const { path: dataDir } = await bench.open(temporaryFolder('start'));
    const timed = (starting: () => Promise<ImageServer>) => async () => {
      const server = await bench.open(starting());
      const found = await timesOf(server, photo);
      await server.close();
      return found;
    };
    // The first start in the folder creates its files.
    await (await bench.open(deployService({}, { dataDir }))).close();
    const contenders: Record<string, () => Promise<Start>> = {
      'empty folder': timed(() => deployService()),
      'used folder': timed(() => deployService({}, { dataDir })),
    };
    if (hasMinimal) {
      contenders[minimalName] = timed(() =>
        startMinimal(photo.pixels, requestedQuality, bench.cores),
      );
    }
    if (bench.hasIpx) contenders['IPX'] = timed(() => startIpx(photo.pixels, requestedQuality));
    const rounds = bench.quick ? 2 : Math.max(5, bench.rounds);
    const found = await alternate(rounds, contenders);
    const rows = [['', 'healthy, s', 'first image, s']];
    for (const [caseName, starts] of Object.entries(found)) {
      const healthy = starts.map(({ healthyS }) => healthyS);
      const picture = starts.map(({ pictureS }) => pictureS);
      rows.push([caseName, spread(healthy), spread(picture)]);
      if (caseName === 'IPX' || caseName === minimalName) continue;
      bench.finding('first healthy answer', caseName, healthy, '');
      bench.finding('first image', caseName, picture, '');
      for (const name of [minimalName, 'IPX'] as const) {
        const theirs = found[name]?.map(({ pictureS }) => pictureS);
        if (theirs === undefined) continue;
        bench.ratio(`first image, of ${name}`, caseName, picture, { name, values: theirs }, ' s');
      }
    }
    bench.table({ title: 'Start', rows });
  },
};

async function timesOf(server: ImageServer, source: SourcePicture): Promise<Start> {
  const startedAt = performance.now();
  const response = await fetch(
    imageUrlOf(server, source).replaceAll('{n}', String(unusedNumber())),
  );
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`${server.name}: ${response.status}`);
  const healthyMs = server.healthyMs ?? Number.NaN;
  const pictureMs = healthyMs + performance.now() - startedAt;
  return { healthyS: healthyMs / 1_000, pictureS: pictureMs / 1_000 };
}
