import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Command } from 'commander';
import sharp from 'sharp';
import { numberFrom } from '../demo/arguments.ts';
import { classifyPixels } from '../pool/rendering/encode/pixel-traits.ts';

/**
 * `npm run bench:text`: on how many photographs generated text is found, which then keep the full
 * resolution of chroma, and on how many photographs without text something else is found.
 */

const colours = { red: '#f00', blue: '#00f', green: '#0a0' };
const sizes = [12, 16, 24, 36, 48];
const words =
  'Summer sale price new arrival fresh coffee from 9 am open house best offer today only'.split(
    ' ',
  );
const widths = [300, 400, 544, 800, 1_100, 1_362];

interface Options {
  readonly photographs: string;
  readonly count: number;
}
const { photographs, count } = new Command('bench:text')
  .description('Prints on how many photographs coloured text is found.')
  .option(
    '--photographs <folder>',
    'JPEGs without coloured text',
    join('demo', 'origin', 'pictures'),
  )
  .option('--count <n>', 'parts of them, each at one width', numberFrom(1, 10_000), 200)
  .parse()
  .opts<Options>();

const names = (await readdir(photographs)).filter((name) => /\.jpe?g$/i.test(name)).sort();
if (names.length === 0) throw new Error(`${photographs} contains no JPEG`);

/** Returns the same numbers from 0 to 1 for each seed (Numerical Recipes' generator). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const texts = Object.entries(colours).flatMap(([name, colour]) =>
  sizes.map((size) => ({ label: `${name}, ${size} px`, size, colour })),
);

/** Returns the labels of the texts that the service finds in a part of a photograph. */
async function findTexts(index: number): Promise<string[]> {
  const random = randomFrom(7_919 * index);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const photograph = sharp(join(photographs, names[index % names.length] ?? ''));
  const whole = await photograph.metadata();
  // Later turns show parts.
  const share = index < names.length ? 1 : 0.5 + 0.3 * random();
  const width = Math.floor(whole.width * share);
  const height = Math.floor(whole.height * share);
  const left = Math.floor((whole.width - width) * random());
  const top = Math.floor((whole.height - height) * random());
  const { data, info } = await photograph
    .extract({ left, top, width, height })
    .resize(Math.min(width, pick(widths)))
    .toColourspace('srgb')
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  const { sharpChroma, flat } = classifyPixels({ ...info, data });
  const found = sharpChroma
    ? ['none', ...(flat ? [] : ['none, on a photograph with texture'])]
    : [];
  for (const { label, size, colour } of texts) {
    const line = Array.from({ length: 2 + Math.floor(3 * random()) }, () => pick(words)).join(' ');
    const x = 4 + Math.floor(random() * Math.max(1, info.width - 0.62 * size * line.length));
    const y = size + Math.floor(random() * (info.height - 2 * size));
    const weight = random() < 0.5 ? 400 : 700;
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${info.width}" height="${info.height}"><text x="${x}" y="${y}" font-family="sans-serif" font-size="${size}" font-weight="${weight}" fill="${colour}">${line}</text></svg>`;
    const drawn = sharp(data, { raw: info }).composite([{ input: Buffer.from(svg) }]);
    const pixels = await drawn.removeAlpha().raw().toBuffer();
    if (classifyPixels({ ...info, data: pixels }).sharpChroma) found.push(label);
  }
  return found;
}

const found: string[] = [];
for (let index = 0; index < count; index += 1) found.push(...(await findTexts(index)));
const rows = ['none', 'none, on a photograph with texture', ...texts.map(({ label }) => label)].map(
  (label) => {
    const share = found.filter((other) => other === label).length / count;
    return `| ${label} | ${(100 * share).toFixed(1)}% |`;
  },
);
process.stdout.write(
  `${count} parts of ${names.length} photographs\n\n| Text | Found |\n| --- | --- |\n${rows.join('\n')}\n`,
);
