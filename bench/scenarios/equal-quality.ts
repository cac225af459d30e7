import sharp from 'sharp';
import { openMeter } from '../meter.ts';
import { type Measures, median, ratios, spread, valuesOf } from '../report.ts';
import type { Scenario } from '../run.ts';
import { encodedFormats, type ImageServer } from '../servers/server.ts';
import { deployService } from '../servers/service.ts';
import { type Bench, requestedQuality, toImageUrl, unusedNumber } from './bench.ts';
import { warmUp } from './misses.ts';
import { measureCase } from './rendering.ts';

const measures = {} as const satisfies Measures;

const widths = [272, 544, 800, 1_362, 2_092];

export const equalQuality: Scenario<Bench> = {
  title: 'CPU time for an equal score',
  method:
    'A photograph of 2725 x 2225 to several widths, by the service with `q=80` and by each peer of the command line. The quality of the one with the lower score (SSIMULACRA2 with --ssimulacra2, beside the whole decode scaled with Lanczos) is raised until it meets the other. Then both render in turns.',
  measures,
  async run(bench) {
    if (bench.peers.length === 0) return bench.results.note('It needs a --peer.');
    const meter = await bench.opened.open(openMeter(bench.ssimulacra2 ?? undefined));
    const service = await bench.opened.open(deployService());
    await warmUp(bench, [service, ...bench.peers]);
    const photo = bench.sources.photo;
    // Unlike the servers, decodes all pixels before it scales them.
    const whole = await sharp(photo.file).raw().toBuffer({ resolveWithObject: true });
    const rows: string[][] = [];
    for (const peer of bench.peers) {
      for (const format of bench.quick ? (['jpeg'] as const) : encodedFormats) {
        for (const width of widths) {
          const pixels = Math.round((photo.pixels * width * width) / photo.width ** 2);
          const source = { ...photo, width, pixels };
          const scoreOf = async (server: ImageServer, quality: number): Promise<number> => {
            const url = toImageUrl(server, source, format, quality);
            const response = await fetch(url.replaceAll('{n}', String(unusedNumber())));
            const encoded = new Uint8Array(await response.arrayBuffer());
            const { width: is, height } = await sharp(encoded).metadata();
            const open = () =>
              sharp(whole.data, { raw: whole.info }).resize(is, height, { fit: 'fill' });
            return meter.score({ width: is, height, open }, encoded);
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
          const qualities = new Map([[raised.name, quality]]);
          const found = await measureCase(bench, { name: format, source, format, qualities }, [
            service,
            peer,
          ]);
          const times = (name: string) => valuesOf(found, name, 'processorMs');
          const bytes = (name: string) => median(valuesOf(found, name, 'bytes'));
          rows.push([
            peer.name,
            format,
            String(width),
            `${scores.own.toFixed(meter.digits)}, ${scores.peer.toFixed(meter.digits)}`,
            `${raised.name} ${quality}`,
            spread(times(service.name)),
            spread(times(peer.name)),
            spread(ratios(times(service.name), times(peer.name))),
            (bytes(service.name) / bytes(peer.name)).toFixed(2),
          ]);
        }
      }
    }
    const heads = [
      'peer',
      'format',
      'px',
      'scores at 80',
      'raised to',
      'service, ms',
      'peer, ms',
      'ratio',
      'bytes',
    ];
    bench.results.table({ title: meter.name, rows: [heads, ...rows] });
  },
};

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
