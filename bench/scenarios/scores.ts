import { readFile } from 'node:fs/promises';
import sharp, { type Region, type Sharp } from 'sharp';
import { picture } from '../../demo/origin/pictures.ts';
import { type Meter, openMeter } from '../meter.ts';
import type { Scenario } from '../run.ts';
import { deployService } from '../servers/service.ts';
import { type Bench, requestedQuality, toImageUrl, unusedNumber } from './bench.ts';
import { makeCases, type RenderedCase } from './rendering.ts';

/** JPEGs decode in blocks of this many pixels, so the remainder of a side decides how a decoder scales it. */
const block = 8;
const scales = [1.3, 2, 2.5, 3.4, 4.5, 5, 8.5, 16] as const;
/** A decoder that divides a side by one of these drops the columns that remain. */
const divisors = [1, 2, 4, 8] as const;
/** Of the sources without remainders; part of the sample. */
const sides = { width: 2_704, height: 2_208 } as const;
const sourceQuality = 90;
const onWhite = { background: '#fff' } as const;

export const scores: Scenario<Bench> = {
  title: 'Scores beside peers',
  method: `SSIMULACRA2 of an image of each photograph, and of sides with each remainder of ${block} at many scales, beside a scaling of all pixels to the image's size with Lanczos; quality ${requestedQuality}. A decoder that divides a side with a remainder drops a part of a column, so the image is stretched by up to 0.6 pixels: the score compares pixel by pixel and falls, although nobody sees it. *Registered* is the best score beside the source without such columns and rows.`,
  measures: {},
  async run(bench) {
    const { opened, results, ssimulacra2 } = bench;
    if (ssimulacra2 === null) throw new Error('It needs --ssimulacra2.');
    const meter = await opened.open(openMeter(ssimulacra2));
    const servers = [await opened.open(deployService()), ...bench.peers];
    const heads = ['', ...servers.map(({ name }) => `${name}: score, registered, bytes`)];
    const tables = { Photographs: await makeCases(bench), Remainders: await remainders(bench) };
    for (const [title, cases] of Object.entries(tables)) {
      // Scoring takes so long that servers close their connections.
      const bodies: (Buffer | number)[][] = [];
      for (const { source, format } of cases) {
        const row: (Buffer | number)[] = [];
        for (const server of servers) {
          const url = toImageUrl(server, source, format);
          const response = await fetch(url.replaceAll('{n}', String(unusedNumber())));
          const body = Buffer.from(await response.arrayBuffer());
          row.push(response.ok ? body : response.status);
        }
        bodies.push(row);
      }
      const rows: string[][] = [];
      for (const [index, rendered] of cases.entries()) {
        const whole = await decoded(rendered);
        const row = [rendered.name];
        for (const body of bodies[index] ?? []) {
          row.push(
            typeof body === 'number' ? `status ${body}` : await measureScore(meter, whole, body),
          );
        }
        rows.push(row);
      }
      results.table({ title, rows: [heads, ...rows] });
    }
  },
};

/** Scores an image against the whole source and after registration; adds its bytes. */
async function measureScore(meter: Meter, whole: Whole, body: Buffer): Promise<string> {
  const { width, height, hasAlpha } = await sharp(body).metadata();
  const shown = hasAlpha ? await sharp(body).flatten(onWhite).png().toBuffer() : body;
  const scored: number[] = [];
  for (const region of regions(whole)) {
    const open = () => whole.open().extract(region).resize(width, height, { fit: 'fill' });
    scored.push(await meter.score({ width, height, open }, shown));
  }
  const columns = [scored[0] ?? 0, Math.max(...scored)];
  return [...columns.map((score) => score.toFixed(meter.digits)), body.length].join(', ');
}

interface Whole {
  readonly width: number;
  readonly height: number;
  open(): Sharp;
}

/** Decodes a whole source before scaling: upright, opaque on white and in sRGB. */
async function decoded({ source }: RenderedCase): Promise<Whole> {
  const { data, info } = await sharp(await readFile(source.file))
    .autoOrient()
    .flatten(onWhite)
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, open: () => sharp(data, { raw: info }) };
}

/** The whole source, and the parts of it that decoders keep. */
function regions({ width, height }: Whole): Region[] {
  const parts = divisors.map((divisor) => ({
    left: 0,
    top: 0,
    width: width - (width % divisor),
    height: height - (height % divisor),
  }));
  return parts.filter(
    (part, index) =>
      part.width !== parts[index - 1]?.width || part.height !== parts[index - 1]?.height,
  );
}

/** Sides with each remainder, at each scale. */
async function remainders({ sources, quick }: Pick<Bench, 'sources' | 'quick'>) {
  const sample = await picture('landscape.jpg');
  const cases: RenderedCase[] = [];
  for (let remainder = 0; remainder < block; remainder += quick ? 4 : 1) {
    const [width, height] = [sides.width + remainder, sides.height + remainder];
    const jpeg = await sharp(sample)
      .extract({ left: 0, top: 0, width, height })
      .jpeg({ quality: sourceQuality })
      .toBuffer();
    for (const scale of scales) {
      const name = `remainder ${remainder}, scale ${scale.toFixed(1)}`;
      const source = await sources.add(
        `remainder-${remainder}-${scale}`,
        jpeg,
        Math.floor(width / scale),
      );
      cases.push({ name, source, format: 'jpeg' });
    }
  }
  return cases;
}
