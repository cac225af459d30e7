import sharp from 'sharp';
import { type Meter, openMeter } from '../meter.ts';
import { geometricMean, type Measures, median, ratios, spread, valuesOf } from '../report.ts';
import type { Scenario } from '../run.ts';
import { encodedFormats, type ImageServer } from '../servers/server.ts';
import { deployService } from '../servers/service.ts';
import { type Bench, requestedQuality, toImageUrl, unusedNumber } from './bench.ts';
import { warmUp } from './misses.ts';
import { failureAt, makeCases, measureCase, type RenderedCase } from './rendering.ts';

const measures = {
  'photographs, equal settings': {
    what: 'processor time of a miss with `q=80`, divided by the peer’s; the geometric mean over the photographs',
    unit: '×',
    goal: { atMost: 1.05 },
  },
  'photographs, equal score': {
    what: 'the same, after the lower score was raised',
    unit: '×',
    goal: { atMost: 1 },
  },
} as const satisfies Measures;

const widths = [272, 544, 800, 1_362, 2_092];

export const equalQuality: Scenario<Bench> = {
  title: 'CPU time for an equal score',
  method:
    'A photograph of 2725 x 2225 to several widths, then photographs as cameras and phones write them, by the service with `q=80` and by each peer of the command line. The quality of the one with the lower score (SSIMULACRA2 with --ssimulacra2, beside the whole decode scaled with Lanczos) is raised until it meets the other. Then both render in turns, also with the raised quality.',
  measures,
  async run(bench: Bench<keyof typeof measures>) {
    if (bench.peers.length === 0) return bench.results.note('It needs a --peer.');
    const meter = await bench.opened.open(openMeter(bench.ssimulacra2 ?? undefined));
    const service = await bench.opened.open(deployService());
    await warmUp(bench, [service, ...bench.peers]);
    const { photo } = bench.sources;
    const sizes = (bench.quick ? (['jpeg'] as const) : encodedFormats).flatMap((format) =>
      widths.map((width): RenderedCase => {
        const pixels = Math.round((photo.pixels * width * width) / photo.width ** 2);
        return { name: `${format}, ${width} px`, source: { ...photo, width, pixels }, format };
      }),
    );
    const photographs = await makeCases(bench);
    for (const peer of bench.peers) {
      const rows: string[][] = [];
      const means: [number, number][] = [];
      for (const renderedCase of [...sizes, ...photographs]) {
        const failure = await failureAt(peer, renderedCase);
        if (failure !== null) {
          bench.results.note(`${peer.name} is not measured for ${renderedCase.name}: ${failure}.`);
          continue;
        }
        const { row, equalSettings, equalScore } = await compare(
          bench,
          meter,
          [service, peer],
          renderedCase,
        );
        bench.results.progress(row.join('  '));
        rows.push(row);
        if (photographs.includes(renderedCase)) means.push([equalSettings, equalScore]);
      }
      bench.results.table({ title: `${meter.name}, beside ${peer.name}`, rows: [heads, ...rows] });
      const meanOf = (column: 0 | 1) => [geometricMean(means.map((mean) => mean[column]))];
      bench.results.finding('photographs, equal settings', peer.name, meanOf(0));
      bench.results.finding('photographs, equal score', peer.name, meanOf(1));
    }
  },
};

const heads = [
  'case',
  'scores at 80',
  'raised to',
  'service, ms',
  'peer, ms',
  'ratio',
  'raised, ms',
  'ratio',
  'bytes, ratio',
];

/** Measures a case with equal settings and with equal scores, in one alternating run. */
async function compare(
  bench: Pick<Bench, 'seconds' | 'cores' | 'rounds'>,
  meter: Meter,
  [service, peer]: readonly [ImageServer, ImageServer],
  renderedCase: RenderedCase,
) {
  const { source, format, name } = renderedCase;
  // Unlike the servers, decodes all pixels before it scales them.
  const whole = await sharp(source.file)
    .autoOrient()
    .toColourspace('srgb')
    .raw()
    .toBuffer({ resolveWithObject: true });
  const scoreOf = async (server: ImageServer, quality: number): Promise<number> => {
    const url = toImageUrl(server, source, format, quality);
    const response = await fetch(url.replaceAll('{n}', String(unusedNumber())));
    const encoded = new Uint8Array(await response.arrayBuffer());
    const { width, height } = await sharp(encoded).metadata();
    const open = () =>
      sharp(whole.data, { raw: whole.info }).resize(width, height, { fit: 'fill' });
    return meter.score({ width, height, open }, encoded);
  };
  const scores = {
    own: await scoreOf(service, requestedQuality),
    peer: await scoreOf(peer, requestedQuality),
  };
  const raised = scores.own < scores.peer ? service : peer;
  const quality = await lowestQuality(
    (candidate) => scoreOf(raised, candidate),
    Math.max(scores.own, scores.peer),
  );
  const better = { ...raised, name: `${raised.name}, raised` };
  const qualities = new Map([[better.name, quality]]);
  const servers = [service, peer, better];
  const found = await measureCase(bench, { ...renderedCase, qualities }, servers);
  const times = (server: ImageServer) => valuesOf(found, server.name, 'processorMs');
  const bytes = (server: ImageServer) => median(valuesOf(found, server.name, 'bytes'));
  const equal = raised === service ? ([better, peer] as const) : ([service, better] as const);
  const settingsRatios = ratios(times(service), times(peer));
  const scoreRatios = ratios(times(equal[0]), times(equal[1]));
  const row = [
    name,
    `${scores.own.toFixed(meter.digits)}, ${scores.peer.toFixed(meter.digits)}`,
    `${raised.name} ${quality}`,
    spread(times(service)),
    spread(times(peer)),
    spread(settingsRatios),
    spread(times(better)),
    spread(scoreRatios),
    (bytes(equal[0]) / bytes(equal[1])).toFixed(2),
  ];
  return { row, equalSettings: median(settingsRatios), equalScore: median(scoreRatios) };
}

/** Returns the lowest quality from 80 on whose score is at least `wanted`, or 100. */
async function lowestQuality(
  scoreOf: (quality: number) => Promise<number>,
  wanted: number,
): Promise<number> {
  let [low, high] = [requestedQuality, 100];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((await scoreOf(middle)) >= wanted) high = middle;
    else low = middle + 1;
  }
  return low;
}
