import { Command } from 'commander';
import sharp from 'sharp';
import { picture } from '../demo/origin/pictures.ts';
import { avifThreads } from '../pool/execution/encoder-threads.ts';
import { ownScale } from '../pool/rendering/encode/encodings.ts';
import { efforts } from '../pool/rendering/encode/jxl/write.ts';
import type { Mode } from '../pool/rendering/encode/quality.ts';
import { autoScores } from './encoders/auto-scores.ts';
import type { EncodersBench, Photographs } from './encoders/bench.ts';
import { encoders } from './encoders/compare.ts';
import { type Encode, measureCurve, pointAt, readPhotograph } from './encoders/curves.ts';
import { meterHelp, openMeter, type Photograph } from './encoders/meter.ts';
import { writeJxl } from './encoders/service-encodings.ts';
import { settings } from './encoders/settings.ts';
import { OpenResources } from './open-resources.ts';
import { readPhotographs } from './photograph-folder.ts';
import { progress, runScenarios } from './run.ts';

/** `npm run bench:encoders`: compares the encoder settings with others at equal quality. */

const command = new Command('bench:encoders')
  .description(
    'Prints bytes, CPU time and score of the service’s encoder settings at the same q, and its bytes and time as multiples of those of sharp’s defaults and of mozjpeg at the same score. Takes about three minutes for each photograph, most of it for sharp’s AVIF; --quick one minute.',
  )
  .option(
    '--photographs <folder>',
    'photographs of at least 1600 px; without it three generated samples',
  )
  .option('--ssimulacra2 <command>', meterHelp)
  .option('--drawings <folder>', 'drawings of at least 1600 px, to compare the formats of')
  .option('--sides <list>', 'lengths of the longer sides, in pixels', '200,400,800,1600')
  .option('--formats', 'compares only the formats of the service with each other')
  .option('--settings', 'compares settings of the encoders with each other instead')
  .option('--auto', 'compares the scores of q=auto with those of one q instead')
  .option('--folder <path>', 'where report.md is written', 'data/bench-encoders')
  .option('--quick', 'at most three photographs, at 200 and 400 px')
  .option('--calibrate', 'prints the curves that map quality between formats instead')
  .parse();
const options = command.opts<{
  photographs?: string;
  drawings?: string;
  sides: string;
  formats?: boolean;
  settings?: boolean;
  auto?: boolean;
  ssimulacra2?: string;
  folder: string;
  quick?: boolean;
  calibrate?: boolean;
}>();

async function scaled(files: readonly Buffer[]): Promise<Photographs> {
  const photographs = new Map<number, Photograph[]>();
  for (const side of sides) {
    const found = await Promise.all(files.map((file) => readPhotograph(file, side)));
    photographs.set(
      side,
      found.filter((photograph) => photograph !== null),
    );
  }
  return photographs;
}

async function usable(folder: string): Promise<Buffer[]> {
  const found = await readPhotographs(folder, progress);
  return found.length > 0 ? found : command.error(`${folder} has no photographs.`);
}

// Matches the service's AVIF settings.
sharp.concurrency(avifThreads);
sharp.cache(false);
const opened = new OpenResources();
const meter = await opened.open(openMeter(options.ssimulacra2));
// JPEG only: a source encoded as WebP or AVIF would favour that encoder.
const samples = ['landscape.jpg', 'coast.jpg', 'portrait-rotated.jpg'] as const;
const files = options.photographs
  ? await usable(options.photographs)
  : await Promise.all(samples.map(picture));
const sides = options.quick ? [200, 400] : options.sides.split(',').map(Number);
const used = (all: readonly Buffer[]) => all.slice(0, options.quick ? 3 : undefined);
const photographs = await scaled(used(files));
const drawings = options.drawings ? await scaled(used(await usable(options.drawings))) : new Map();
if (options.calibrate) await calibrate();
else {
  // The goals apply to photographs: generated samples have no grain.
  const withGoals = meter.name === 'SSIMULACRA2' && options.photographs !== undefined;
  const chosen = { ...(options.settings && { settings }), ...(options.auto && { autoScores }) };
  const usual = { encoders: encoders(withGoals, options.formats !== true) };
  await runScenarios({
    scenarios: Object.entries(Object.keys(chosen).length > 0 ? chosen : usual),
    benchFor: (results): EncodersBench => ({ results, meter, photographs, drawings }),
    opened,
    folder: options.folder,
    environment: [`${used(files).length} photographs.`],
  });
}

/**
 * Finds each encoder's qualities that score the same on average as the `q` scale (JPEG with the
 * standard's tables): the curve points in pool/rendering/encode/quality.ts.
 */
async function calibrate(): Promise<void> {
  const scale: Encode = (image, quality) =>
    image.jpeg({ quality, chromaSubsampling: '4:2:0' }).toBuffer();
  const requested = [10, 20, 30, 40, 50, 60, 70, 80, 90, 95];
  const own = [5, 15, 25, 35, 45, 55, 65, 75, 85, 93, 99];
  for (const [side, ofSide] of photographs) {
    const wanted = await measureCurve(scale, requested, ofSide, meter);
    for (const [mode, encode] of Object.entries(encodersOnOwnScale()) as [Mode, Encode][]) {
      // These modes use AVIF's curve, for images other than photographs.
      if (mode === 'avifFlat' || mode === 'avifGraphic') continue;
      const found = await measureCurve(encode, own, ofSide, meter);
      const points = wanted.map(({ quality, score }) => {
        const outside = score < (found[0]?.score ?? 0) ? own[0] : 100;
        const same = pointAt(found, score)?.quality ?? outside ?? 1;
        return `[${quality}, ${same.toFixed(1)}]`;
      });
      progress(`${side} px, ${mode}: ${points.join(', ')}`);
    }
  }
  await opened.close();
}

function encodersOnOwnScale(): Record<Mode, Encode> {
  const ofSharp = Object.entries(ownScale).map(([mode, encode]): [string, Encode] => [
    mode,
    (image, quality, { width, height }) => encode(image, quality, width * height).toBuffer(),
  ]);
  const jxl: Encode = (image, quality) => writeJxl(image, { quality, effort: efforts.lossy });
  return { ...Object.fromEntries(ofSharp), jxl } as Record<Mode, Encode>;
}
