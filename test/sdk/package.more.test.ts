import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { publint } from 'publint';
import t from 'tap';
import { rootPath } from '../root.ts';
import { plainNode } from '../service/service.ts';
import { temporaryFolder } from '../temporary-root.ts';

const run = promisify(execFile);
const [program, ...args] = plainNode;
const node = (...more: readonly string[]) => [program, [...args, ...more]] as const;
const sdk = join(rootPath, 'sdk');
const name = '@image-delivery/sdk';

const folder = await temporaryFolder(t);
const app = join(folder, 'app');
const write = (file: string, text: string) => writeFile(join(app, file), text);

/** Builds and packs the SDK, and installs it in a workspace, without the network. */
async function install(): Promise<void> {
  const npm = { env: { ...process.env, NODE_OPTIONS: '', npm_config_offline: 'true' } };
  const pack = ['pack', '--workspace', 'sdk', '--pack-destination', folder];
  await run('npm', pack, { ...npm, cwd: rootPath });
  const tarball = (await readdir(folder)).find((file) => file.endsWith('.tgz'));
  await mkdir(app);
  await writeFile(join(folder, 'package.json'), '{ "private": true, "workspaces": ["app"] }');
  const manifest = { name: 'app', type: 'module', dependencies: { [name]: `file:../${tarball}` } };
  await write('package.json', JSON.stringify(manifest));
  await run('npm', ['install', '--no-audit', '--no-fund'], { ...npm, cwd: folder });
}
await install();
const { exports } = JSON.parse(await readFile(join(sdk, 'package.json'), 'utf8'));
const entries = Object.keys(exports).map((entry) => entry.replace('.', name));

/** Bundles a program of the app. */
async function bundle(
  code: string,
  options: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: app },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    logLevel: 'silent',
    ...options,
    write: false,
  });
  return outputFiles[0]?.text ?? '';
}
const forProduction = { define: { 'process.env.NODE_ENV': '"production"' } };
const useUrls = `import { createImageUrls } from '${name}';
  const urls = createImageUrls({ baseUrl: 'https://a.example', project: 'p' });`;

// `npm run release` also checks it with arethetypeswrong, which `npm ci` does not install.
t.test('passes publint', async (t) => {
  const { messages } = await publint({
    pkgDir: join(rootPath, 'sdk'),
    strict: true,
    pack: false,
  });
  t.same(messages, []);
});

t.test('resolves types in programs with both module resolutions', async (t) => {
  await write(
    'program.ts',
    `${useUrls}
    import { createAsyncSigner, createSigner } from '${name}/sign';
    const signer = { baseUrl: 'https://a.example', project: 'b', secret: 'a', validFor: 60 };
    const sign: (url: string) => string = createSigner(signer);
    const later: Promise<string> = createAsyncSigner(signer)(urls.srcset('a', { fixed: 2 }));
    const { sources, img } = createSigner(signer)(urls.picture('a', { ratio: 2, formats: ['webp'] }));
    const width: number | undefined = img.width;
    const words: string | undefined = urls.parse(sign(urls.url('a', { w: 1, fp: [0, 1] })))?.src;
    // @ts-expect-error
    urls.url('a', { w: '1' });
    // @ts-expect-error
    urls.url('a', { width: 1 });
    // @ts-expect-error
    urls.url('a', { fmt: 'bmp' });
    // @ts-expect-error
    urls.srcset('a', { w: 1 });
    // @ts-expect-error
    urls.srcset('a', { ar: 1 });
    // @ts-expect-error
    urls.url('a', { widht: 1 });
    // @ts-expect-error
    urls.url('a', { ar: '16/9' });
    urls.url('a', { ar: '16:9' });
    // @ts-expect-error
    urls.url(undefined);
    // @ts-expect-error
    createImageUrls({ baseUrl: 'https://a.example' });
    // @ts-expect-error
    createImageUrls({ project: 'p' });
    export { later, sources, width, words };`,
  );
  const readme = await readFile(join(sdk, 'README.md'), 'utf8');
  // The other blocks name a file of a framework.
  const blocks = [...readme.matchAll(/```js\n(?!\/\/ )(.*?)```/gs)].map(([, code = '']) => code);
  t.ok(blocks.length >= 4, 'the examples of the README');
  const imports = new Set(blocks.flatMap((code) => code.match(/^import .*\n/gm) ?? []));
  const [first, ...others] = blocks.map((code) => code.replaceAll(/^import .*\n/gm, ''));
  const scopes = others.map((code) => `{\n${code}}\n`);
  await write(
    'readme.ts',
    [...imports, first, 'const picture = { sources, img };\n', ...scopes, 'export {};\n'].join(''),
  );
  const tsc = join(rootPath, 'node_modules/typescript/bin/tsc');
  for (const [module, moduleResolution] of [
    ['esnext', 'bundler'],
    ['node16', 'node16'],
  ] as const) {
    const compilerOptions = {
      module,
      moduleResolution,
      strict: true,
      noEmit: true,
      target: 'es2022',
      types: ['node'],
      typeRoots: [join(rootPath, 'node_modules/@types')],
      lib: ['es2022', 'dom'],
    };
    const files = ['program.ts', 'readme.ts'];
    await write('tsconfig.json', JSON.stringify({ compilerOptions, files }));
    const { stdout } = await run(...node(tsc, '--project', app)).catch((error) => error);
    t.equal(stdout, '', moduleResolution);
  }
});

t.test('runs each entry in Node, and imports modules of Node only in ./sign', async (t) => {
  for (const entry of entries) {
    await write(
      'run.js',
      `import * as all from '${entry}'; console.log(Object.keys(all).length > 0);`,
    );
    t.equal((await run(...node(join(app, 'run.js')))).stdout, 'true\n', entry);
    const code = `export * from '${entry}';`;
    if (entry === `${name}/sign`) {
      await t.rejects(
        bundle(code),
        /sdk\/sign on your server only, because a page would publish the secret/,
      );
      const edge = await bundle(code, { conditions: ['workerd', 'browser'] });
      t.notMatch(edge, /node:/);
    } else {
      t.notMatch(await bundle(code), /node:|require\(/, entry);
    }
  }
});

t.test('runs and has types in programs of CommonJS', async (t) => {
  for (const entry of entries) {
    await write('run.cjs', `console.log(Object.keys(require('${entry}')).length > 0);`);
    // As Node does before 20.19, and test runners that load modules themselves, such as Jest.
    const run20 = node('--no-experimental-require-module', join(app, 'run.cjs'));
    t.equal((await run(...run20)).stdout, 'true\n', entry);
  }
  const typed = `import { createImageUrls } from '${name}';
    import { createSigner } from '${name}/sign';
    export const url: string = createImageUrls({ baseUrl: 'https://a.example', project: 'p' }).url('a');
    export const sign: typeof createSigner = createSigner;`;
  await write('typed.cts', typed);
  const compilerOptions = {
    module: 'node16',
    strict: true,
    noEmit: true,
    types: [],
    lib: ['es2022', 'dom'],
  };
  await write('tsconfig.json', JSON.stringify({ compilerOptions, files: ['typed.cts'] }));
  const tsc = join(rootPath, 'node_modules/typescript/bin/tsc');
  const { stdout } = await run(...node(tsc, '--project', app)).catch((error) => error);
  t.equal(stdout, '');
});

t.test('runs the first example of each page', async (t) => {
  for (const page of ['sdk/README.md']) {
    const [, code = ''] =
      /```js\n(.*?)```/s.exec(await readFile(join(rootPath, page), 'utf8')) ?? [];
    t.ok(code.trim().split('\n').length <= 10, `${page}: in ten lines`);
    await write('first.js', `${code}console.log(JSON.stringify({ sources, img }));`);
    const { sources, img } = JSON.parse((await run(...node(join(app, 'first.js')))).stdout);
    t.match(sources, [{ type: 'image/avif' }, { type: 'image/webp' }], page);
    t.match(img, { src: /^https:\/\/images\.example\.com\/img\//, srcset: /h=180&w=320 320w/ });
  }
});

t.test('shows code for each tested framework in the README, and no links to files', async (t) => {
  const readme = await readFile(join(rootPath, 'sdk/README.md'), 'utf8');
  t.same(readme.match(/\]\((?!https:)[^)]*\)/g), null, 'npm shows it without the repository');
  const blocks = [...readme.matchAll(/```(\w+)\n(.*?)```/gs)];
  const findCode = (start: string) =>
    blocks.find(([, , code]) => code?.startsWith(start))?.[2] ?? '';
  // Simulate the additions of Nuxt and Astro; `npm run test:frameworks` builds the examples with
  // them.
  await mkdir(join(folder, 'node_modules/astro'), { recursive: true });
  await writeFile(
    join(folder, 'node_modules/astro/package.json'),
    '{ "type": "module", "exports": { "./config": "./config.js" } }',
  );
  await writeFile(
    join(folder, 'node_modules/astro/config.js'),
    'export const defineConfig = (config) => config;',
  );
  for (const file of ['image-loader.js', 'next.config.js', 'nuxt.config.js', 'astro.config.js']) {
    await write(file, findCode(`// ${file}\n`));
  }
  await write(
    'signed.js',
    findCode("import { createImageUrls } from '@image-delivery/sdk';\nimport"),
  );
  await write(
    'frameworks.js',
    `globalThis.defineNuxtConfig = (config) => config;
    process.env.IMAGES_SECRET = 'a';
    const of = async (file) => (await import(file)).default;
    const { provider, options } = (await of('./nuxt.config.js')).image.providers.imageDelivery;
    const astro = await of('./astro.config.js');
    const updateConfig = ({ image }) => (astro.image = image);
    astro.integrations[0].hooks['astro:config:setup']({ command: 'build', config: astro, updateConfig });
    const service = await of(astro.image.service.entrypoint);
    const coast = { src: '/_astro/coast.jpg', width: 1200, height: 800, format: 'jpg' };
    await import('./signed.js');
    console.log(JSON.stringify({
      next: (await of('./image-loader.js'))({ src: '/coast.jpg', width: 640 }),
      images: (await of('./next.config.js')).images,
      nuxt: (await of(provider))().getImage('/coast.jpg', { ...options, modifiers: { width: 640 } }).url,
      astro: service.getURL({ src: coast, width: 640 }, astro.image),
    }));`,
  );
  const printed = await run(...node(join(app, 'frameworks.js')));
  const { images, ...urls } = JSON.parse(printed.stdout);
  t.match(images, { loader: 'custom', loaderFile: './image-loader.js' });
  for (const [framework, url] of Object.entries(urls)) {
    t.match(url, /^https:\/\/images\.example\.com\/img\/https%3A%2F%2Fshop.*&w=640$/, framework);
  }
  const page = findCode('// app/page.jsx\n');
  const react = { jsx: 'automatic', loader: { '.js': 'jsx' }, external: ['next/*', 'react/*'] };
  const stdin = { contents: page, resolveDir: app, loader: 'jsx' };
  t.match(await bundle('', { ...react, stdin }), /src:"\/coast\.jpg"/);
});

t.test('bundles to a small size in production, with no checks', async (t) => {
  const all = await bundle(`export { createImageUrls } from '${name}';`, forProduction);
  const bytes = gzipSync(all, { level: 9 }).length;
  t.comment(`createImageUrls: ${bytes} bytes, gzipped`);
  t.ok(bytes <= 2_200, `${bytes} bytes`);
  t.notMatch(all, /must be|whole number|process/);
});

t.test('prints the bytes per entry in the build', async (t) => {
  const { stdout } = await run(...node(join(sdk, 'bytes.js')));
  for (const entry of entries) t.match(stdout, ` ${entry} `, entry);
  t.match(stdout, /^ +\d,\d{3} {2}@image-delivery\/sdk /m);
});

t.test('checks in development, but does not need `process`', async (t) => {
  const program = `${useUrls} export const url = () => urls.url('https://a.example/b', { w: 0 });`;
  const evaluate = async (options?: Readonly<Record<string, unknown>>): Promise<() => string> => {
    const text = await bundle(program, options);
    // Hide this program's `process`.
    const module = `const process = undefined;${text}`;
    return (await import(`data:text/javascript,${encodeURIComponent(module)}`)).url;
  };
  const development = { define: { 'process.env.NODE_ENV': '"development"' } };
  t.throws(await evaluate(development), {
    message:
      'w must be a whole number from 1 to 10000, or a percentage of the source from 1p to 999p.',
  });
  t.match((await evaluate(forProduction))(), /w=0$/);
  t.match((await evaluate())(), /w=0$/);
});
