import { execFile } from 'node:child_process';
import {
  cp,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { frontEndArguments } from '../server/cluster/environment.ts';
import { rootPath } from './root.ts';
import { plainNode } from './service/service.ts';
import { temporaryFolder } from './temporary-root.ts';

const run = promisify(execFile);
const [program, ...args] = plainNode;

/** A project with two sources and the build of this one. */
async function startProject(t: { teardown(action: () => Promise<unknown>): void }) {
  const folder = await temporaryFolder(t);
  const at = (path: string) => join(folder, path);
  const write = (path: string, text: string) => writeFile(at(path), text);
  await mkdir(at('node_modules'));
  await mkdir(at('source'));
  await symlink(join(rootPath, 'node_modules/typescript'), at('node_modules/typescript'));
  for (const file of ['build.js', 'bundle.js']) await cp(join(rootPath, file), at(file));
  const bare = { module: 'nodenext', types: [], lib: ['es5'], skipLibCheck: true };
  const compilerOptions = { ...bare, rootDir: '.', outDir: 'dist' };
  const config = { compilerOptions, include: ['source'] };
  await write('tsconfig.json', JSON.stringify(config));
  await write('package.json', '{ "type": "module" }');
  await write('node_modules/.package-lock.json', '{}');
  await write('source/a.ts', 'export const a: number = 1;\n');
  await write('source/b.ts', 'export const b: number = 1;\n');
  const build = () => run(program, [...args, at('build.js')]);
  /** The error output of a failed build. */
  const refusal = (): Promise<string> =>
    build().then(
      () => 'nothing',
      ({ stderr }) => stderr,
    );
  const output = (name: string) => readFile(at(`dist/source/${name}.js`), 'utf8').catch(() => null);
  const builtAt = async () => (await stat(at('dist/source/a.js'))).mtimeMs;
  return {
    at,
    write,
    build,
    refusal,
    output,
    config,
    /** Runs the build; resolves with whether it has written the output. */
    async builds() {
      const before = await builtAt();
      await build();
      return (await builtAt()) !== before;
    },
  };
}

t.test(
  'a build runs only when sources, packages, configuration or output have changed',
  async (t) => {
    const { at, write, build, builds, output, config } = await startProject(t);
    await build();
    t.equal(await output('a'), 'export const a = 1;\n');
    t.notOk(await builds(), 'nothing has changed');

    await write('source/a.ts', 'export const a: number = 2;\n');
    await utimes(at('source/a.ts'), 0, 0);
    t.ok(await builds(), 'a changed source with an old modification time');
    t.equal(await output('a'), 'export const a = 2;\n');

    await rm(at('source/b.ts'));
    t.ok(await builds(), 'a deleted source');
    t.equal(await output('b'), null, 'without its output');

    await write('node_modules/.package-lock.json', '{ "packages": {} }');
    t.ok(await builds(), 'a changed dependency');
    await write('tsconfig.json', JSON.stringify({ ...config, compileOnSave: false }));
    t.ok(await builds(), 'a changed configuration');
    await write('dist/source/a.js', 'export const');
    t.ok(await builds(), 'a damaged output');
    t.equal(await output('a'), 'export const a = 2;\n');
    t.notOk(await builds(), 'nothing has changed');
  },
);

t.test('a failed or killed build is repeated', async (t) => {
  const { at, write, build, output } = await startProject(t);
  await build();
  await write('source/a.ts', 'export const a: number = "";\n');
  for (const time of ['first', 'second']) {
    await t.rejects(build(), { code: 2 }, `it fails the ${time} time`);
  }
  t.equal(await output('a'), 'export const a = 1;\n');

  await write('source/a.ts', 'export const a: number = 3;\n');
  const child = execFile(program, [...args, at('build.js')]);
  setTimeout(() => child.kill('SIGKILL'), 100);
  await new Promise((resolve) => child.once('exit', resolve));
  await build();
  t.equal(await output('a'), 'export const a = 3;\n');
});

t.test(
  'without TypeScript the existing build is used, unless the sources have changed',
  async (t) => {
    const { at, write, build, builds, refusal } = await startProject(t);
    await build();
    await rm(at('node_modules/typescript'));
    await write('node_modules/.package-lock.json', '{ "packages": {} }');
    t.notOk(await builds(), 'as after npm ci --omit=dev');

    await write('source/a.ts', 'export const a: number = 5;\n');
    t.match(await refusal(), /^The sources have changed, and TypeScript is not installed/);
    await rm(at('source'), { recursive: true });
    await rm(at('tsconfig.json'));
    t.notOk(await builds(), 'as in an image without sources');
    await rm(at('dist/source/b.js'));
    t.match(await refusal(), /^The service is not built, and TypeScript/);
  },
);

t.test('an unsupported version of Node is an error', async (t) => {
  const { write, refusal } = await startProject(t);
  await write('package.json', '{ "type": "module", "engines": { "node": ">=99.7" } }');
  const found = `this is Node ${process.versions.node}, ${process.execPath}.`;
  t.equal(await refusal(), `This needs Node >=99.7; ${found}\n`);
});

t.test('concurrent builds do not affect one another', async (t) => {
  const { build, builds, output } = await startProject(t);
  await Promise.all([build(), build(), build()]);
  t.equal(await output('a'), 'export const a = 1;\n');
  t.notOk(await builds(), 'the result is valid');
});

const bundles = join(rootPath, 'dist/bundle');
const bundleNames = async () => (await readdir(bundles)).filter((name) => /-.*\.cjs$/.test(name));

t.test('V8 accepts the compiled code of the programs that a start runs', async (t) => {
  const script = `
    const { readFileSync } = require('node:fs');
    const [file] = process.argv.slice(1);
    const cachedData = readFileSync(file + '.code');
    const script = new (require('node:vm').Script)(readFileSync(file, 'latin1'), { cachedData });
    process.stdout.write(String(script.cachedDataRejected));`;
  const stored = (await readdir(bundles)).filter((name) => name.endsWith('.code'));
  t.same(stored.map((name) => name.replace(/-\w+\.cjs\.code$/, '')).sort(), [
    'pool-execution-thread',
    'server-front-end-main',
    'server-main',
    'server-own-store',
    'server-start',
    'store-embedded-thread',
    'worker-main',
  ]);
  for (const name of stored) {
    const inFrontEnd = /^(?:server-front-end-main|pool-execution-thread)-/.test(name);
    const flags = inFrontEnd ? frontEndArguments : [];
    const file = join(bundles, name.replace(/\.code$/, ''));
    const { stdout } = await run(program, [...args, ...flags, '-e', script, file]);
    t.equal(stdout, 'false', `${name} is not rejected`);
  }
});

t.test('bundles are ASCII, because their loader reads bytes as characters', async (t) => {
  for (const name of await bundleNames()) {
    const bytes = await readFile(join(bundles, name));
    t.notOk(
      bytes.some((byte) => byte > 127),
      name,
    );
  }
});

t.test('only the thread of the embedded store loads lmdb', async (t) => {
  const loading: string[] = [];
  for (const name of await bundleNames()) {
    const text = await readFile(join(bundles, name), 'utf8');
    if (text.includes('require("lmdb")')) loading.push(name.replace(/-\w+\.cjs$/, ''));
  }
  t.same(loading, ['store-embedded-thread']);
});
