import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import { picture } from '../../demo/origin/pictures.ts';
import { openMeter } from '../encoders/meter.ts';
import type { Scenario } from '../run.ts';
import { deployService } from '../servers/service.ts';
import { type Bench, unusedNumber } from './bench.ts';
import { makeCases } from './photographs.ts';
import type { RenderedCase } from './rendering.ts';
import { imageUrlOf, requestedQuality } from './sources.ts';

/** JPEGs decode in blocks of this many pixels, so the remainder of a side decides how a decoder scales it. */
const block = 8;
const scales = [1.3, 2, 2.5, 3.4, 4.5, 5, 8.5, 16] as const;
/** Of the sources without remainders; part of the sample. */
const sides = { width: 2_704, height: 2_208 } as const;
const sourceQuality = 90;

export const scores: Scenario<Bench> = {
  title: 'Scores beside peers',
  method: `SSIMULACRA2 of an image of each photograph, and of sides with each remainder of ${block} at many scales, beside a scaling of all pixels to the image's size with Lanczos; quality ${requestedQuality}. A decoder that divides a side with a remainder drops a part of a column, so the image is stretched by up to 0.6 pixels: the score compares pixel by pixel and falls, although nobody sees it.`,
  measures: {},
  async run(bench) {
    const { opened, results, ssimulacra2 } = bench;
    if (ssimulacra2 === null) throw new Error('It needs --ssimulacra2.');
    const meter = await opened.open(openMeter(ssimulacra2));
    const servers = [await opened.open(deployService()), ...bench.peers];
    const heads = ['', ...servers.map(({ name }) => `${name}: score, bytes`)];
    const tables = { Photographs: await makeCases(bench), Remainders: await remainders(bench) };
    for (const [title, cases] of Object.entries(tables)) {
      const rows: string[][] = [];
      for (const rendered of cases) {
        const whole = await decoded(rendered);
        const row = [rendered.name];
        for (const server of servers) {
          const url = imageUrlOf(server, rendered.source, rendered.format);
          const response = await fetch(url.replaceAll('{n}', String(unusedNumber())));
          const body = Buffer.from(await response.arrayBuffer());
          row.push(response.ok ? await scoreOf(body) : `status ${response.status}`);
        }
        rows.push(row);

        async function scoreOf(body: Buffer): Promise<string> {
          const { width, height } = await sharp(body).metadata();
          const open = () => whole().resize(width, height, { fit: 'fill' });
          const score = await meter.score({ width, height, open }, body);
          return `${score.toFixed(meter.digits)}, ${body.length}`;
        }
      }
      results.table({ title, rows: [heads, ...rows] });
    }
  },
};

/** Decodes a whole source before scaling: upright, opaque and in sRGB. */
async function decoded({ source }: RenderedCase) {
  const { data, info } = await sharp(await readFile(source.file))
    .autoOrient()
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return () => sharp(data, { raw: info });
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
