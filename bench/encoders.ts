import { Command } from 'commander';
import sharp from 'sharp';
import { type AutoMeasured, compareAuto, measureAuto, type Outcome } from './encoders/auto.ts';
import { calibrate } from './encoders/calibrate.ts';
import { type Comparison, compare, type Format, formats, rivals } from './encoders/compare.ts';
import { geometricMean, mean, scoreOf } from './encoders/measure.ts';
import { readPhotographs, readSamples, type Source, sourceOf } from './encoders/sources.ts';
import { Ssimulacra2 } from './encoders/ssimulacra2.ts';

const command = new Command('bench:encoders')
  .description(
    'Prints bytes, CPU time, SSIMULACRA2 and SSIM of the service’s encoder settings at the same q, and ' +
      'its bytes and time as parts of those of sharp’s defaults and of mozjpeg at the same score. Takes ' +
      'about three minutes for each photograph, of which most are sharp’s AVIF; --quick one minute.',
  )
  .option('--photographs <folder>', 'photographs of at least 1600 px; else three generated samples')
  .option(
    '--ssimulacra2 <command>',
    'a command that takes two PNG files and prints their SSIMULACRA2, such as "ssimulacra2_rs image" ' +
      'after "cargo install ssimulacra2_rs"; without it SSIM alone is measured, which does not see chroma',
  )
  .option('--quick', 'at most three photographs, at 200 and 400 px')
  .option('--calibrate', 'prints the curves that map quality between formats instead')
  .option(
    '--auto',
    'prints the scores and bytes with q=auto instead, beside those of the one quality that has the same mean ' +
      'score, and the difference between the formats at the same q; takes about a minute for each photograph',
  )
  .parse();
const options = command.opts<{
  photographs?: string;
  ssimulacra2?: string;
  quick?: boolean;
  calibrate?: boolean;
  auto?: boolean;
}>();
const quick = options.quick === true;
const sides = quick ? [200, 400] : [200, 400, 800, 1600];
const qualities = [40, 60, 80, 90];

/** The most that we may take of a rival's time and bytes at the same SSIMULACRA2, on photographs. */
const bounds: Readonly<Record<string, { readonly time: number; readonly bytes: number }>> = {
  'sharp’s JPEG': { time: 2, bytes: 1 },
  mozjpeg: { time: 0.5, bytes: 1.1 },
  'sharp’s WebP': { time: 1.05, bytes: 1.1 },
  'sharp’s AVIF': { time: 0.12, bytes: 1.12 },
};
/** Points of SSIMULACRA2 between the means of two formats at one size and q. */
const mostDeviation = 3;

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const progress = (line: string): void => void process.stderr.write(`${line}\n`);
const cell = (value: string | number, width: number) => String(value).padStart(width);

function verdicts(comparisons: readonly Comparison[], judged: boolean): string[] {
  return rivals.map(({ name, format }) => {
    const parts = comparisons.flatMap((one) => one.parts.get(name) ?? []);
    if (parts.length === 0) return `${format}: ${name} never had the same score`;
    const time = geometricMean(parts.map(({ ms }) => ms));
    const bytes = geometricMean(parts.map((part) => part.bytes));
    const found = `${format}: ${time.toFixed(3)} x the time of ${name}, ${bytes.toFixed(3)} x the bytes`;
    const bound = bounds[name];
    if (bound === undefined || !judged) return found;
    const met = time <= bound.time && bytes <= bound.bytes;
    return `${found} (at most ${bound.time} x and ${bound.bytes} x: ${met ? 'met' : 'NOT met'})`;
  });
}

function table(comparisons: readonly Comparison[]): { lines: string[]; deviation: number } {
  const group = `${cell('bytes', 8)}${cell('ms', 8)}${cell('S2', 6)}${cell('SSIM', 7)}`;
  const lines = [
    `${cell('px', 5)}${cell('q', 4)} ${formats.map((name) => `| ${name.padEnd(group.length)}`).join('')}`,
    `${' '.repeat(10)}${formats.map(() => `| ${group}`).join('')}`,
  ];
  let deviation = 0;
  for (const side of sides) {
    for (const quality of qualities) {
      const row = (format: Format) =>
        comparisons
          .filter(
            (one) => [one.side, one.quality, one.format].join() === `${side},${quality},${format}`,
          )
          .map(({ measured }) => measured);
      if (row('jpeg').length === 0) continue;
      const scores = formats.map((format) => mean(row(format).map(scoreOf)));
      deviation = Math.max(deviation, Math.max(...scores) - Math.min(...scores));
      const cells = formats.map((format) => {
        const all = row(format);
        const s2 = all.every((one) => one.ssimulacra2 !== null)
          ? mean(all.map((one) => one.ssimulacra2 ?? 0)).toFixed(1)
          : '-';
        const bytes = Math.round(mean(all.map((one) => one.bytes)));
        const ms = mean(all.map((one) => one.ms)).toFixed(1);
        return `| ${cell(bytes, 8)}${cell(ms, 8)}${cell(s2, 6)}${cell(mean(all.map((one) => one.ssim ?? 0)).toFixed(4), 7)}`;
      });
      lines.push(`${cell(side, 5)}${cell(quality, 4)} ${cells.join('')}`);
    }
  }
  return { lines, deviation };
}

const outcomeOf = (one: Outcome, quality: string, bytes: string) =>
  `${cell(quality, 9)}${cell(one.mean.toFixed(1), 7)}${cell(one.deviation.toFixed(1), 6)}` +
  `${cell(one.least.toFixed(0), 6)}${cell(bytes, 7)}`;

/** Of one size. */
function autoTable(side: number, measured: readonly AutoMeasured[]): string[] {
  const of = (format: Format) => measured.filter((one) => one.format === format);
  const rows = formats.map((format) => {
    const { auto, fixed, quality, lowest, highest } = compareAuto(of(format));
    const own = outcomeOf(auto, `${lowest}-${highest}`, (auto.bytes / fixed.bytes).toFixed(3));
    const one = outcomeOf(fixed, quality.toFixed(1), '1.000');
    return `${cell(side, 5)} ${format.padEnd(5)}|${own} |${one}`;
  });
  const means = (format: Format) =>
    qualities.map((_, index) => mean(of(format).map(({ fixed }) => scoreOf(at(fixed, index)))));
  const own = means('jpeg');
  const differences = formats.slice(1).map((format) => {
    const cells = means(format).map((score, index) => (score - at(own, index)).toFixed(1));
    return `${format} ${cells.map((text) => cell(text, 5)).join('')}`;
  });
  const text = `${cell(side, 5)} mean score less that of JPEG at q=${qualities.join(', ')}: `;
  return [...rows, text + differences.join(', ')];
}

function at<T>(all: readonly T[], index: number): T {
  const found = all[index];
  if (found === undefined) throw new Error(`there is no number ${index}`);
  return found;
}

/** The folder's, or the samples; ends the process with a message when there are none. */
async function photographsOf(folder: string | undefined): Promise<Map<string, Buffer>> {
  if (folder === undefined) return readSamples();
  return readPhotographs(folder, progress).catch((error: Error) => command.error(error.message));
}

// The same settings as in the service's transform threads.
sharp.concurrency(1);
sharp.cache(false);
const read = [...(await photographsOf(options.photographs))];
const meter =
  options.ssimulacra2 === undefined ? null : await Ssimulacra2.open(options.ssimulacra2);
try {
  const photographs = quick ? read.slice(0, 3) : read;
  const comparisons: Comparison[] = [];
  for (const side of sides) {
    const sources: Source[] = [];
    const auto: AutoMeasured[] = [];
    for (const [name, file] of photographs) {
      const source = await sourceOf(name, file, side);
      if (source === null) progress(`${name} is smaller than ${side} px`);
      else if (options.calibrate === true) sources.push(source);
      else {
        progress(`${name} at ${side} px`);
        if (options.auto === true) auto.push(...(await measureAuto(source, qualities, meter)));
        else comparisons.push(...(await compare(source, qualities, meter)));
      }
    }
    if (auto.length > 0) {
      print(
        `   px format|   q=auto   mean   dev least  bytes |        q   mean   dev least  bytes`,
      );
      print(autoTable(side, auto).join('\n'));
    }
    if (options.calibrate !== true) continue;
    for (const line of await calibrate(sources, meter)) print(`${side} px, ${line}`);
  }
  if (comparisons.length > 0) {
    const { lines, deviation } = table(comparisons);
    print(`Means over ${photographs.length} photographs; ms are CPU time; S2 is SSIMULACRA2.`);
    print(lines.join('\n'));
    // Generated samples have no grain, and textures that photographs do not have.
    const judged = meter !== null && options.photographs !== undefined;
    print(`\nAt the same ${meter === null ? 'SSIM' : 'SSIMULACRA2'}, as geometric means:`);
    print(verdicts(comparisons, judged).join('\n'));
    const bound = `at most ${mostDeviation}: ${deviation <= mostDeviation ? 'met' : 'NOT met'}`;
    print(
      `Means of the formats differ by up to ${deviation.toFixed(meter === null ? 4 : 1)} at one size and q` +
        (judged ? ` (${bound}).` : '.'),
    );
  }
} finally {
  await meter?.close();
}
