import { openMeter } from '../encoders/meter.ts';
import { encodedFormats } from '../servers/encoder-settings.ts';
import { startDefaultIpx } from '../servers/ipx.ts';
import type { DefaultServer } from '../servers/server.ts';
import { type DeployedService, deployService } from '../servers/service.ts';
import { type Compared, compareFormat } from './quality/compare.ts';
import { openPhotographs } from './quality/photographs.ts';
import { draw, measures, type QualityBench, report } from './quality/report.ts';
import type { Scenario } from './scenario.ts';

/** Fewer photographs are not representative. */
const minPhotographs = 20;
const widthPx = 800;
const quick = { width: 200, photographs: 2 } as const;

export const quality: Scenario = {
  title: 'Defaults and equal quality',
  method:
    'Photographs with the defaults of every server: requests name only a width and a format. Then at equal quality: the quality of each other server is varied, and its bytes are interpolated to the score that the service’s default has for the same photograph; its images per second are those at the one quality whose mean score is nearest. The score compares with the photograph as sharp resizes it to the same size with its highest quality, which differs from what servers do. A server is on the Pareto front when no other has both fewer bytes and more images per second.',
  measures,
  async run(bench) {
    if (bench.photographs === null) {
      bench.note(
        'Nothing was measured: it needs photographs (--photographs), as generated pictures have other textures.',
      );
      return;
    }
    await compare(bench, bench.photographs);
  },
};

async function compare(bench: QualityBench, folder: string): Promise<void> {
  const width = bench.quick ? quick.width : widthPx;
  const most = bench.quick ? quick.photographs : Number.POSITIVE_INFINITY;
  const meter = await bench.open(openMeter(bench.ssimulacra2));
  const photographs = await bench.open(openPhotographs(folder, { width, most }, bench.note));
  const count = photographs.names.length;
  bench.note(`${count} photographs: ${photographs.names.join(', ')}.`);
  if (count < minPhotographs) {
    bench.note(
      `These are too few to rely on: at least ${minPhotographs} of several makers are needed.`,
    );
  }
  if (meter.name === 'SSIM') {
    bench.note(
      'The score is SSIM, which ignores colours: --ssimulacra2 names a command that measures them.',
    );
  }
  const service = defaultService(await bench.open(deployService()));
  const ipx = bench.hasIpx ? [await bench.open(startDefaultIpx())] : [];
  const others = [...ipx, ...bench.defaultPeers()];
  const all: Compared[] = [];
  for (const format of encodedFormats) {
    const setup = { photographs, meter, width, service, others };
    const compared = await compareFormat(bench, setup, format);
    report(bench, compared, meter, `${format.toUpperCase()}, ${width} px`);
    all.push(compared);
  }
  draw(bench, all, `${meter.name}, ${count} photographs, ${width} px`);
}

const defaultService = (service: DeployedService): DefaultServer => ({
  ...service,
  acceptsQuality: false,
  imageUrl: (request) => service.defaultUrl(request),
});
