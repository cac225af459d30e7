import { execFileSync } from 'node:child_process';
import sharp from 'sharp';
import { TransformQueue } from '../../pool/execution/transform-queue.ts';
import { outputFormats } from '../../pool/variant.ts';
import { childrenOf } from '../children.ts';
import { patient, settings } from '../pool/execution/pools.ts';
import { animation, blue, noise, red, shared, variant } from '../pool/rendering/pictures.ts';
import { bmpOf, icoOf } from './inputs/bitmaps.ts';

/**
 * Renders distinct variants of every format in every format, on threads and in processes, and prints the
 * growth of its memory as JSON.
 *
 * Arguments: MiB of outputs before the first measurement, and between the measurements.
 */

export interface Growth {
  readonly rendered: number;
  /** Bytes of outputs between the measurements. */
  readonly made: number;
  /** Resident bytes of this process and its transform processes. */
  readonly before: number;
  readonly after: number;
}

const widest = 490;
const [warmUpMebibytes = 60, mebibytes = 250] = process.argv.slice(2).map(Number);

const picture = noise(widest, 400);
const drawing = `<svg xmlns="http://www.w3.org/2000/svg" width="490" height="400"><circle r="300"/></svg>`;
const small = { width: 90, height: 70 };
const sources = [
  await picture.clone().jpeg({ quality: 90 }).toBuffer(),
  await picture.clone().png().toBuffer(),
  await picture.clone().ensureAlpha(0.5).webp().toBuffer(),
  await picture.clone().avif({ effort: 0 }).toBuffer(),
  await picture.clone().tiff().toBuffer(),
  await picture.clone().withIccProfile('p3').jpeg().toBuffer(),
  await animation('gif', [red, blue, red], small),
  await animation('webp', [red, blue, red], small),
  Buffer.from(drawing),
  bmpOf(492, 400, await noise(492, 400).raw().toBuffer()),
  icoOf(await picture.clone().png().toBuffer()),
].map(shared);
const watermark = { url: '', position: 'east', opacity: 50, scale: 20, margin: 2 } as const;
const mark = shared(
  await sharp({ create: { width: 9, height: 9, channels: 4, background: '#ff000080' } })
    .png()
    .toBuffer(),
);
/** Effects of a variant. */
const effects = [
  {},
  { rotate: 90 },
  { blur: 1 },
  { watermark },
  { opacity: 0.5 },
  { crop: { left: 3, top: 2, width: 60, height: 50 } },
  { copyright: true, keepProfile: true },
  { placeholder: 'json' },
  { placeholder: 'lqip' },
  { trim: 5 },
  { tint: '#ff0000ff' },
] as const;

const pool = new TransformQueue({ ...settings, threads: 2 });
let count = 0;

/** Renders another variant each time, mostly large JPEGs, which take the least time per byte. */
async function next(): Promise<number> {
  count += 1;
  const other = count % 6 === 0;
  const index = Math.floor(count / 6);
  const round = Math.floor(index / sources.length);
  const source = sources[other ? index % sources.length : count % 2] ?? mark;
  const format = other ? (outputFormats[round % outputFormats.length] ?? 'png') : 'jpeg';
  const effect = other ? effects[(index + round) % effects.length] : {};
  const width = (format === 'jpeg' ? widest : 120) - (count % 40) - (count % 7);
  const asked = variant({
    width,
    formats: [format],
    quality: 100 - (other ? count % 60 : 0),
    ...effect,
  });
  const watermark = asked.watermark === null ? null : mark;
  const made = await pool.transform(source, asked, { ...patient, watermark });
  return made.body.byteLength;
}

async function render(bytes: number): Promise<number> {
  let made = 0;
  while (made < bytes) {
    const [one, other] = await Promise.all([next(), next()]);
    made += one + other;
  }
  return made;
}

function resident(): number {
  const all = [process.pid, ...childrenOf(process.pid)].join(',');
  const table = execFileSync('ps', ['-o', 'rss=', '-p', all], { encoding: 'utf8' });
  return 1024 * table.split('\n').reduce((sum, line) => sum + Number(line), 0);
}

await render(warmUpMebibytes * 2 ** 20);
const before = resident();
const begun = count;
const made = await render(mebibytes * 2 ** 20);
const growth: Growth = { rendered: count - begun, made, before, after: resident() };
await pool.close();
process.stdout.write(JSON.stringify(growth));
