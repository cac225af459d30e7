import { Command } from 'commander';
import sharp from 'sharp';
import { avifThreads } from '../pool/execution/encoder-threads.ts';
import { type AutoMeasured, autoLines, measureAuto } from './encoders/auto.ts';
import { calibrate } from './encoders/calibrate.ts';
import { type Comparison, compare, comparisonLines } from './encoders/compare.ts';
import { openMeter } from './encoders/meter.ts';
import { type Photograph, readPhotographs, readSamples, sourceOf } from './encoders/sources.ts';

const command = new Command('bench:encoders')
  .description(
    'Prints bytes, CPU time and score of the service’s encoder settings at the same q, and its bytes and time as multiples of those of sharp’s defaults and of mozjpeg at the same score. Takes about three minutes for each photograph, most of it for sharp’s AVIF; --quick one minute.',
  )
  .option(
    '--photographs <folder>',
    'photographs of at least 1600 px; without it three generated samples',
  )
  .option(
    '--ssimulacra2 <command>',
    'a command that takes two PNG files and prints their SSIMULACRA2, such as "ssimulacra2_rs image" after "cargo install ssimulacra2_rs"; without it the score is SSIM, which ignores chroma',
  )
  .option('--quick', 'at most three photographs, at 200 and 400 px')
  .option('--calibrate', 'prints the curves that map quality between formats instead')
  .option(
    '--auto',
    'prints the scores and bytes with q=auto instead, beside those of the one quality with the same mean score, and the difference between the formats at the same q; takes about a minute for each photograph',
  )
  .parse();
const options = command.opts<{
  photographs?: string;
  ssimulacra2?: string;
  quick?: boolean;
  calibrate?: boolean;
  auto?: boolean;
}>();
const sides = options.quick ? [200, 400] : [200, 400, 800, 1600];
const qualities = [40, 60, 80, 90];

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const progress = (line: string): void => void process.stderr.write(`${line}\n`);

// The settings of the service for AVIF.
sharp.concurrency(avifThreads);
sharp.cache(false);
const folder = options.photographs;
const read =
  folder === undefined
    ? await readSamples()
    : await readPhotographs(folder, progress).catch((error: Error) => command.error(error.message));
const photographs = [...read].slice(0, options.quick ? 3 : undefined);
const meter = await openMeter(options.ssimulacra2 ?? null);
try {
  const comparisons: Comparison[] = [];
  for (const side of sides) {
    const sources: Photograph[] = [];
    for (const [name, file] of photographs) {
      const source = await sourceOf(name, file, side);
      if (source === null) progress(`${name} is smaller than ${side} px`);
      else sources.push(source);
    }
    if (options.calibrate) {
      for (const line of await calibrate(sources, meter)) print(`${side} px, ${line}`);
      continue;
    }
    const auto: AutoMeasured[] = [];
    for (const source of sources) {
      progress(`${source.name} at ${side} px`);
      if (options.auto) auto.push(...(await measureAuto(source, qualities, meter)));
      else comparisons.push(...(await compare(source, qualities, meter)));
    }
    if (auto.length > 0) print(autoLines(side, auto).join('\n'));
  }
  if (comparisons.length > 0) {
    print(`Means over ${photographs.length} photographs; ms are CPU time.`);
    // The goals are for photographs: generated samples have no grain.
    const withGoals = meter.name === 'SSIMULACRA2' && folder !== undefined;
    print(comparisonLines(comparisons, meter, withGoals).join('\n'));
  }
} finally {
  await meter.close();
}
