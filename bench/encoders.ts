import { Command } from 'commander';
import sharp from 'sharp';
import { calibrate } from './encoders/calibrate.ts';
import {
  type Comparison,
  compare,
  type Format,
  formats,
  type Measured,
} from './encoders/compare.ts';
import { loadSources } from './encoders/sources.ts';
import type { Scale } from './encoders/ssim.ts';

const command = new Command('bench:encoders')
  .description(
    'Prints bytes, time and SSIM of the service’s encoder settings beside sharp’s own, for three photographs at three sizes.',
  )
  .option('--calibrate', 'prints the curves that map quality between formats instead')
  .option(
    '--distant',
    'measures SSIM on downscaled pictures, as seen from a distance, instead of pixel by pixel',
  )
  .parse();
const options = command.opts<{ calibrate?: boolean; distant?: boolean }>();
const scale: Scale = options.distant === true ? 'distant' : 'full';

/** The most time and bytes that our defaults may take, as parts of sharp's defaults at the same SSIM. */
const bounds: Readonly<Partial<Record<Format, { readonly time: number; readonly bytes: number }>>> =
  {
    webp: { time: 0.6, bytes: 1.1 },
    avif: { time: 0.1, bytes: 1.1 },
  };
/** Slow encoders need fewer repetitions: their times vary less. */
const repetitions: Readonly<Record<Format, number>> = { jpeg: 9, webp: 7, avif: 3 };

const nameWidth = 28;

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const cell = (value: string | number, width: number) => String(value).padStart(width);

function columns({ quality, bytes, ssim, ms }: Measured): string {
  return [
    cell(Math.round(quality), 4),
    cell(bytes, 8),
    cell(ssim.toFixed(4), 7),
    cell(ms.toFixed(1), 8),
  ].join('');
}

function geometricMean(values: readonly number[]): number {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}

function verdict(format: Format, comparisons: readonly Comparison[]): string {
  const time = geometricMean(comparisons.map(({ ours, equal }) => ours.ms / equal.ms));
  const bytes = geometricMean(comparisons.map(({ ours, equal }) => ours.bytes / equal.bytes));
  const bound = bounds[format];
  const found = `${format}: at equal SSIM ${time.toFixed(3)} x the time of sharp’s own defaults, ${bytes.toFixed(3)} x the bytes`;
  if (bound === undefined) return found;
  const met = time <= bound.time && bytes <= bound.bytes;
  return `${found} (at most ${bound.time} x and ${bound.bytes} x: ${met ? 'met' : 'NOT met'})`;
}

// The same settings as in the service's transform threads.
sharp.concurrency(1);
sharp.cache(false);
const sources = await loadSources();

if (options.calibrate === true) {
  await calibrate(sources, scale, print);
} else {
  const group = '   q   bytes   SSIM      ms';
  print(
    `${''.padEnd(nameWidth)} |  ${'ours'.padEnd(25)} |  ${'sharp’s own'.padEnd(25)} |  sharp’s own, at our SSIM`,
  );
  print(`${''.padEnd(nameWidth)} |${group} |${group} |${group}`);
  const verdicts: string[] = [];
  for (const format of formats) {
    const comparisons: Comparison[] = [];
    for (const source of sources) {
      const found = await compare(source, format, scale, repetitions[format]);
      comparisons.push(found);
      const name = `${format} ${source.name.replace(/\..*$/, '')} ${source.width}`.padEnd(
        nameWidth,
      );
      print(`${name} |${columns(found.ours)} |${columns(found.sharps)} |${columns(found.equal)}`);
    }
    verdicts.push(verdict(format, comparisons));
  }
  print(`\n${verdicts.join('\n')}`);
}
