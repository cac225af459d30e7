import { execFileSync } from 'node:child_process';
import { rasterFormats } from '../../pool/rendering/encode/encodings.ts';
import { listChildren } from '../children.ts';
import { patient, settings, TransformPool } from '../pool/execution/pools.ts';
import { noise, shared, variant, watermark } from '../pool/rendering/pictures.ts';
import { pictures } from './inputs/pictures.ts';

/**
 * Renders images from every format to every format, on threads and in processes, and prints the
 * growth of its memory as JSON. Arguments: MiB of outputs before the first measurement, and between
 * the measurements.
 */

export interface MemoryGrowth {
  readonly rendered: number;
  /** Bytes of outputs between the measurements. */
  readonly made: number;
  /** Resident bytes of this process and its transform processes. */
  readonly before: number;
  readonly after: number;
}

const [warmUpMebibytes = 60, mebibytes = 250] = process.argv.slice(2).map(Number);

const large = shared(await noise(490, 400).jpeg({ quality: 90 }).toBuffer());
const sources = [...(await pictures()).values()].map(shared);
const [mark = large] = sources;
/** Effects of a variant. */
const effects = [
  {},
  { rotate: 90 },
  { blur: 1 },
  { layers: watermark({ position: 'east', opacity: 50, margin: 2 }) },
  { opacity: 0.5 },
  // Fits the smallest image.
  { crop: { left: 3, top: 0, width: 5, height: 2 } },
  { copyright: true, keepProfile: true },
  { placeholder: 'json' },
  { placeholder: 'lqip' },
  { trim: 5 },
  { tint: '#ff0000ff' },
] as const;

const pool = new TransformPool({ ...settings, poolThreads: 2 });
let count = 0;

/** Renders one variant, mostly large JPEGs, which take the least time per byte. */
async function next(): Promise<number> {
  count += 1;
  const index = Math.floor(count / 6);
  const width = (count % 6 === 0 ? 96 : 490) - (count % 47);
  if (count % 6 !== 0) {
    const plain = variant({ width, formats: ['jpeg'], quality: 100 });
    return (await pool.transform(large, plain, patient)).body.byteLength;
  }
  const round = Math.floor(index / sources.length);
  const requested = variant({
    width,
    // Alternate formats, so that all lazy loading happens before the first measurement.
    formats: [rasterFormats[(index + round) % rasterFormats.length] ?? 'png'],
    quality: 100 - (count % 60),
    ...effects[index % effects.length],
  });
  const layers = requested.layers === null ? [] : [mark];
  const source = sources[index % sources.length] ?? large;
  return (await pool.transform(source, requested, { ...patient, layers })).body.byteLength;
}

async function render(bytes: number): Promise<number> {
  let made = 0;
  while (made < bytes) {
    const [first, other] = await Promise.all([next(), next()]);
    made += first + other;
  }
  return made;
}

function resident(): number {
  const all = [process.pid, ...listChildren(process.pid)].join(',');
  const table = execFileSync('ps', ['-o', 'rss=', '-p', all], { encoding: 'utf8' });
  return 1024 * table.split('\n').reduce((sum, line) => sum + Number(line), 0);
}

await render(warmUpMebibytes * 2 ** 20);
const before = resident();
const countBefore = count;
const made = await render(mebibytes * 2 ** 20);
const growth: MemoryGrowth = { rendered: count - countBefore, made, before, after: resident() };
await pool.close();
process.stdout.write(JSON.stringify(growth));
