import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import * as esbuild from 'esbuild';
import sharp from 'sharp';
import t from 'tap';
import { cloneSources } from './clone.ts';
import { startControl } from './service/control/control.ts';
import { picture, startTestOrigin } from './service/origin.ts';
import { json, plainNode } from './service/service.ts';
import { fetchCache, startWorker } from './service/worker/worker.ts';

const run = promisify(execFile);
const [program, ...args] = plainNode;

/** Rows of two parameters, each with the text of the table that they precede. */
const rows = [
  [
    'server/image/parameters.ts',
    '  page: parameter(',
    `  fade: parameter('colour', neutral(number(0, 1), 1), 'Darkens the image by this factor.', '0.5', {
    byDefault: '1',
  }),
  inset: parameter('size', neutral(integer(0, 9), 0), 'A border inside the image.', '3', {
    byDefault: '0',
  }),
`,
  ],
  // A parameter that changes pixels, with the name of its operation.
  [
    'pool/rendering/operations.ts',
    '  /** Stretches the luminance to the full range. */',
    `  fade: operation<number | null>({
    plain: null,
    place: 'finish',
    apply: (image, factor) => image.linear(factor, 0),
  }),
`,
  ],
  // Any other parameter: its field, and the row of the field.
  ['pool/variant.ts', '  /** Null for transparency', '  readonly inset: number | null;\n'],
  ['pool/variant.ts', "  background: [null, 'background'", "  inset: [null, 'border'],\n"],
] as const;

t.test('a row in two files is a whole parameter', async (t) => {
  const at = await cloneSources(t, 'test', 'docs', 'bench', '.env.example', 'package-lock.json');
  for (const [path, before, row] of rows) {
    const text = await readFile(at(path), 'utf8');
    t.ok(text.includes(before), `${path} ${before}`);
    await writeFile(at(path), text.replace(before, row + before));
  }
  const node = (...more: string[]) => run(program, [...args, ...more], { cwd: at('.') });
  await node('scripts/build.js');

  await t.test('types of the service and the SDK', async (t) => {
    const options = '{ fade: 0.5, inset: 3 }';
    await writeFile(
      at('server/options.ts'),
      `import type { ImageOptions } from '../sdk/src/index.ts';\n\nexport const options: ImageOptions = ${options};\n`,
    );
    await t.resolves(node('node_modules/typescript/bin/tsc', '-p', '.', '--noEmit'));
  });

  await t.test('documents', async (t) => {
    t.equal((await node('--import=tsx', 'test/documents/write.ts')).stdout, 'docs/parameters.md\n');
    const text = await readFile(at('docs/parameters.md'), 'utf8');
    t.match(text, /\| `fade` \| a number from 0 to 1 \| `1` \| Darkens .*\| `fade=0.5` \|/);
    t.match(text, /\| `inset` \|/);
  });

  const origin = await startTestOrigin(t);
  const white = sharp({ create: { width: 300, height: 200, channels: 3, background: '#fff' } });
  origin.serve('/white.png', await white.png().toBuffer());
  origin.serve('/photo.jpg', await picture(300, 200));
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10"/>';
  origin.serve('/mark.svg', Buffer.from(svg));
  const { call, project: createProject, service } = await startControl(t, {}, { dist: at('dist') });
  const project = await createProject();
  const image = (path: string, query: string) =>
    `${service.url}/img/${origin.url}${path}?project=${project}&${query}`;

  await t.test('HTTP and the cache key', async (t) => {
    const response = await fetch(image('/white.png', 'w=20&fmt=png&fade=0.5'));
    const { data } = await sharp(await response.arrayBuffer())
      .raw()
      .toBuffer({
        resolveWithObject: true,
      });
    t.ok(Math.abs((data[0] ?? 0) - 127) <= 1, 'the operation is applied');
    t.equal(await fetchCache(image('/white.png', 'fade=0.50&fmt=png&w=20')), 'memory');
    for (const query of ['w=20&fmt=png', 'w=20&fmt=png&inset=3', 'w=20&fmt=png&inset=4']) {
      t.equal(await fetchCache(image('/white.png', query)), 'miss', query);
    }
    t.equal(await fetchCache(image('/white.png', 'w=20&fmt=png&fade=1&inset=0')), 'memory');
    const wrong = await fetch(image('/white.png', 'fade=2'));
    t.equal(wrong.status, 400);
    t.match((await json(wrong)).message, /fade must be a number from 0 to 1/);
  });

  await t.test('fmt=svg', async (t) => {
    t.equal((await fetch(image('/mark.svg', 'fmt=svg'))).status, 200);
    for (const query of ['fade=0.5', 'inset=3']) {
      const response = await fetch(image('/mark.svg', `fmt=svg&${query}`));
      const [name] = query.split('=');
      t.match((await json(response)).message, `fmt=svg is not possible with ${name},`);
    }
  });

  await t.test('presets and prewarming', async (t) => {
    const preset = { name: 'dark', parameters: { fade: 0.5, inset: 3 } };
    const put = await call('PUT', `/projects/${project}/presets/dark`, {
      json: { parameters: preset.parameters },
    });
    t.ok(put.status < 300, JSON.stringify(put.body));
    const wanted = {
      sources: [`${origin.url}/photo.jpg`],
      variants: [{ w: 40, fmt: 'webp', fade: 0.25, inset: 2 }],
    };
    t.equal((await call('POST', `/projects/${project}/prewarm`, { json: wanted })).status, 202);
    const worker = await startWorker(t, service);
    await worker.untilLogged('source prewarmed');
    const prewarmed = image('/photo.jpg', 'w=40&fmt=webp&fade=0.25&inset=2');
    t.match(await fetchCache(prewarmed), /^(?:memory|disk)$/);
  });

  await t.test("the OpenAPI document, and the playground's code", async (t) => {
    const { pageOptions } = await import(pathToFileURL(at('scripts/build.js')).href);
    const entry = `export { pickEffects, readOpenApi } from './api/openapi.ts';
      export { factsOptions, snippets } from './playground/snippets.ts';`;
    const stdin = { contents: entry, resolveDir: at('server/console/page'), loader: 'ts' as const };
    const outfile = at('playground.mjs');
    await esbuild.build({ ...pageOptions, entryPoints: [], outdir: undefined, stdin, outfile });
    const { factsOptions, pickEffects, readOpenApi, snippets } = await import(
      pathToFileURL(outfile).href
    );
    const description = readOpenApi(await (await fetch(`${service.url}/openapi.json`)).json());
    const named = (name: string) =>
      description.parameters.find((parameter: { name: string }) => parameter.name === name);
    t.match(named('fade'), { effect: 'pixels', group: 'colour', schema: { type: 'number' } });
    t.match(named('inset'), { effect: 'border', group: 'size' });
    const options = { w: '100', fade: '0.5', inset: '3', crop: '0,0,9,9' };
    t.same(factsOptions(options, description), { crop: '0,0,9,9', fmt: 'json' });
    t.same(pickEffects(options, description, 'border'), { inset: '3' });
    const wanted = { source: `${origin.url}/photo.jpg`, project, options };
    const code = snippets(service.url, wanted, 'image/*', 'nothing');
    const sdk = code.find(({ title }: { title: string }) => title === 'SDK')?.code;
    t.match(sdk, 'fade: 0.5, inset: 3');
  });
});
