import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import t from 'tap';
import { createImageUrls, type ImageOptions, type PictureOptions } from '../../sdk/src/index.ts';
import { transform } from '../../sdk/src/loaders/unpic.ts';
import { createSigner } from '../../sdk/src/sign/node.ts';
import { rootPath } from '../root.ts';
import { startFrontEnd } from '../service/front-end.ts';

/** Returns an image with a red left half and a blue right half. */
async function halves(width: number, height: number): Promise<Buffer> {
  const half = { width: width / 2, height, channels: 3 } as const;
  const red = sharp({ create: { ...half, background: '#d02010' } });
  const right = await sharp({ create: { ...half, background: '#1020d0' } })
    .png()
    .toBuffer();
  return red
    .extend({ right: width / 2 })
    .composite([{ input: right, left: width / 2, top: 0 }])
    .jpeg()
    .toBuffer();
}

type Colour = 'red' | 'blue' | 'white';

/** A simple image can be smaller if lossless. */
const autoType = /^image\/(?:avif|png)$/;

/** Returns a pixel of an image, by a fraction of its width. */
async function colourAt(image: Buffer, x: number): Promise<Colour> {
  const { data, info } = await sharp(image).flatten().raw().toBuffer({ resolveWithObject: true });
  const at =
    (Math.floor(info.height / 2) * info.width + Math.floor(info.width * x)) * info.channels;
  const [red = 0, green = 0, blue = 0] = data.subarray(at, at + 3);
  return Math.min(red, green, blue) > 200 ? 'white' : red > blue ? 'red' : 'blue';
}

async function load(url: string, accept = 'image/*') {
  const response = await fetch(url, { headers: { accept } });
  const body = Buffer.from(await response.arrayBuffer());
  if (response.status !== 200) throw new Error(`${url}: ${response.status} ${body}`);
  const { width = 0, height = 0 } = await sharp(body).metadata();
  return { body, width, height, type: response.headers.get('content-type') };
}

t.test('describes the images of a running service correctly', async (t) => {
  const { url: baseUrl, origin, store, createProject } = await startFrontEnd(t);
  origin.serve('/halves.jpg', await halves(600, 400));
  const project = await createProject('127.0.0.1');
  const src = `${origin.url}/halves.jpg?a=1&b=%20#top`;
  const source = { sourceWidth: 600, sourceHeight: 400 };
  const images = createImageUrls({ baseUrl, project, origin: origin.url });

  await t.test('returns the stated pixels and format from each URL of a picture', async (t) => {
    const pictures: ReadonlyArray<readonly [PictureOptions, Colour, Colour]> = [
      [source, 'red', 'blue'],
      [{ ...source, ratio: 16 / 9, sizes: '50vw' }, 'red', 'blue'],
      [{ ...source, ratio: 1 / 2, fp: [1, 0.5], formats: ['webp'] }, 'blue', 'blue'],
      [{ ...source, ratio: 3, fit: 'contain', bg: 'fff', fmt: 'png' }, 'white', 'white'],
      [{ fixed: 120, ratio: 1, flop: true, formats: ['jpeg'], fmt: 'jpeg' }, 'blue', 'red'],
      [{ crop: [350, 0, 200, 150], sourceWidth: 200, sourceHeight: 150 }, 'blue', 'blue'],
      [{ widths: [200, 800], enlarge: true, formats: [], q: 'auto' }, 'red', 'blue'],
    ];
    for (const [options, left, right] of pictures) {
      const { sources, img } = images.picture(src, options);
      const { ratio, fixed } = options;
      const shape = ratio ?? Number(options.sourceWidth ?? 3) / Number(options.sourceHeight ?? 2);
      const plain = options.fmt ?? 'auto';
      const sets = [
        ...sources.map(({ srcset, type }) => [srcset, type, 'image/*'] as const),
        [img.srcset ?? '', plain === 'auto' ? autoType : `image/${plain}`, 'image/avif'] as const,
      ];
      let last = { width: 0, height: 0 };
      for (const [srcset, type, accept] of sets) {
        for (const candidate of srcset.split(', ')) {
          const [url = '', descriptor = ''] = candidate.split(' ');
          const image = await load(url, accept);
          const width = Math.round(Number.parseFloat(descriptor) * (fixed ?? 1));
          t.match(
            image,
            { type, width, height: Math.max(1, Math.round(width / shape)) },
            candidate,
          );
          t.same(
            [await colourAt(image.body, 0.04), await colourAt(image.body, 0.96)],
            [left, right],
            candidate,
          );
          last = image;
        }
      }
      if (fixed === undefined && img.width !== undefined) {
        t.match(last, { width: img.width, height: img.height }, 'the size of the layout');
      }
      t.match(await load(img.src, 'image/avif'), { type: sets.at(-1)?.[1] });
    }
  });

  await t.test('returns placeholders and facts', async (t) => {
    const facts = await images.facts('/halves.jpg', { w: 300, crop: [0, 0, 300, 200] });
    t.match(facts, {
      source: { format: 'jpeg', width: 600, height: 400, pages: 1, hasAlpha: false },
      output: { width: 300, height: 200 },
      dominant: /^#[c-d].[1-3].[0-2].$/,
    });
    const placeholder = await images.placeholder(src);
    const [, base64 = ''] = /^data:image\/\w+;base64,(.*)$/.exec(String(placeholder)) ?? [];
    const small = Buffer.from(base64, 'base64');
    const { width = 0, height = 0 } = await sharp(small).metadata();
    t.ok(width > 0 && width <= 64 && Math.abs(width / height - 1.5) < 0.2, `${width} x ${height}`);
    t.same([await colourAt(small, 0.1), await colourAt(small, 0.9)], ['red', 'blue']);
    t.match(await images.placeholder(src, { fmt: 'blurhash' }), /^[\w#$%*+,.:;=?@[\]^{|}~-]{6,}$/);
    const missing = images.facts('/missing.jpg');
    await t.rejects(missing, { message: /returned 404/ }, 'the message of the service');
    await t.rejects(images.placeholder(src, { preset: 'none' }), { message: /no preset none/ });
    const signal = AbortSignal.abort(new Error('the page was closed'));
    await t.rejects(images.facts(src, {}, { signal }), { message: 'the page was closed' });
  });

  await t.test('signs URLs for a project that requires it', async (t) => {
    const id = await createProject('127.0.0.1');
    const { signingSecret } = (await store.projects.requireSignatures(id, null)) ?? {};
    const settings = { baseUrl, project: id };
    const sign = createSigner({ ...settings, secret: String(signingSecret), validFor: 60 });
    const signed = createImageUrls({ ...settings, sign });
    const { img, sources } = signed.picture(src, { fixed: 50, formats: ['webp'] });
    for (const set of [img.srcset ?? '', ...sources.map(({ srcset }) => srcset)]) {
      for (const candidate of set.split(', ')) {
        const [url = '', descriptor = ''] = candidate.split(' ');
        t.match(await load(url), { width: 50 * Number.parseInt(descriptor, 10) });
        t.equal((await fetch(url.replace(/&w=\d+/, '&w=51'))).status, 403);
      }
    }
    t.match(await signed.facts(src), { source: { width: 600 } });
    const unsigned = createImageUrls({ baseUrl, project: id });
    await t.rejects(unsigned.facts(src), { message: /sig/ });
  });
});

/** Returns the table rows of a page: the cells, minus code marks. */
const findRows = (page: string): readonly string[][] =>
  page
    .split('\n')
    .filter((line) => /^\| .*`.*× \d+ \|$/.test(line))
    .map((line) =>
      line
        .slice(2, -2)
        .split(' | ')
        .map((cell) => cell.replace(/^`(.*)`$/, '$1')),
    );

t.test('builds the stated URL and size in each migration example', async (t) => {
  const { url: baseUrl, origin, createProject } = await startFrontEnd(t);
  origin.serve('/a.jpg', await halves(1_600, 1_000));
  const project = await createProject('127.0.0.1');
  const src = `${origin.url}/a.jpg`;
  const settings = { baseUrl, project };
  const images = createImageUrls(settings);
  const page = await readFile(join(rootPath, 'docs/migration.md'), 'utf8');
  const rows = findRows(page);
  t.ok(rows.length >= 11, `${rows.length} examples`);
  const evaluate = (code = '') => new Function(`return (${code})`)();
  for (const [before = '', code, query, size] of rows) {
    const options: ImageOptions = evaluate(code);
    const url = images.url(src, options);
    t.equal(new URL(url).search, `?project=${project}&${query}`, before);
    const { width, height } = await load(url);
    t.equal(`${width} × ${height}`, size, before);
    if (before.startsWith('{')) t.equal(transform(src, evaluate(before), settings), url, before);
  }
});

t.test("states the service's sizes in the table of aspect ratios", async (t) => {
  const { url: baseUrl, origin, project } = await startFrontEnd(t);
  origin.serve('/a.jpg', await halves(1_600, 1_000));
  const page = await readFile(join(rootPath, 'docs/parameters.md'), 'utf8');
  const table = [...page.matchAll(/^\| `(.*ar=1:1)` \| (.*) \|$/gm)];
  t.equal(table.length, 3);
  for (const [, query, cells = ''] of table) {
    for (const [index, size] of cells.split(' | ').entries()) {
      const fit = ['cover', 'contain', 'fill', 'inside', 'outside'][index];
      const image = `${baseUrl}/img/${origin.url}/a.jpg?project=${project}&${query}&fit=${fit}`;
      const { width, height } = await load(image);
      t.equal(`${width} × ${height}`, size, `${query}&fit=${fit}`);
    }
  }
});
