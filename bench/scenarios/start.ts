import { alternateServers, type Measures, spread, valuesOf } from '../report.ts';
import { temporaryFolder } from '../resources.ts';
import type { Scenario } from '../run.ts';
import { hasMinimal, minimalName, startMinimal } from '../servers/minimal.ts';
import type { ImageServer } from '../servers/server.ts';
import { deployService } from '../servers/service.ts';
import { type Bench, type SourcePicture, toImageUrl, unusedNumber } from './bench.ts';

interface Start {
  readonly healthyS: number;
  /** From the process's start; excludes creating the project. */
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
    what: 'time to the first image, divided by that of the minimal server',
    unit: '×',
  },
} as const satisfies Measures;

export const start: Scenario<Bench> = {
  title: 'Start',
  method:
    'Time from the start of a process of the built service to its first healthy response, and to that plus the time of a first image (the photograph to 800 px as JPEG). The creation of a project in between does not count.',
  measures,
  async run(bench: Bench<keyof typeof measures>) {
    const { opened, results, sources } = bench;
    const { path: dataDir } = await opened.open(temporaryFolder('start'));
    // The first start in the folder creates its files.
    await (await opened.open(deployService({}, { dataDir }))).close();
    const services = [
      { name: 'empty folder', start: () => deployService() },
      { name: 'used folder', start: () => deployService({}, { dataDir }) },
    ];
    const minimal = hasMinimal
      ? [{ name: minimalName, start: () => startMinimal(bench.cores) }]
      : [];
    const found = await alternateServers(
      bench.quick ? 2 : Math.max(5, bench.rounds),
      [...services, ...minimal],
      async ({ start }) => {
        const server = await opened.open<ImageServer>(start());
        const times = await measureTimes(server, sources.photo);
        await server.close();
        return times;
      },
    );
    const getValues = (name: string, key: keyof Start) => valuesOf(found, name, key);
    for (const { name: caseName } of services) {
      const picture = getValues(caseName, 'pictureS');
      results.finding('first healthy answer', caseName, getValues(caseName, 'healthyS'));
      results.finding('first image', caseName, picture);
      if (!hasMinimal) continue;
      const theirs = { name: minimalName, values: getValues(minimalName, 'pictureS') };
      results.ratio('first image, of minimal', caseName, picture, theirs, ' s');
    }
    const rows = Object.keys(found).map((name) => [
      name,
      spread(getValues(name, 'healthyS')),
      spread(getValues(name, 'pictureS')),
    ]);
    results.table({ title: 'Start', rows: [['', 'healthy, s', 'first image, s'], ...rows] });
  },
};

async function measureTimes(server: ImageServer, source: SourcePicture): Promise<Start> {
  const startedAt = performance.now();
  const url = toImageUrl(server, source).replaceAll('{n}', String(unusedNumber()));
  const response = await fetch(url);
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`${server.name}: ${response.status}`);
  const healthyMs = server.healthyMs ?? Number.NaN;
  const pictureMs = healthyMs + performance.now() - startedAt;
  return { healthyS: healthyMs / 1_000, pictureS: pictureMs / 1_000 };
}
