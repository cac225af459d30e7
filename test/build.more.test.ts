import { execFile } from 'node:child_process';
import { readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { cloneSources } from './clone.ts';
import { rootPath } from './root.ts';
import { freePort, plainNode, startProgram } from './service/service.ts';

const run = promisify(execFile);
const [program, ...args] = plainNode;
/** Copies the sources, with the clone's packages. */
async function startClone(t: { teardown(action: () => Promise<unknown>): void }) {
  const at = await cloneSources(t);
  const build = () => run(program, [...args, at('scripts/build.js')]);
  /** Returns a failed build's error output. */
  const refusal = (): Promise<string> =>
    build().then(
      () => 'nothing',
      ({ stderr }) => stderr,
    );
  const builtAt = async () => (await stat(at('dist/.built-from'))).mtimeMs;
  return {
    at,
    build,
    refusal,
    /** Returns a program's text with its imports. */
    async output() {
      const files = (await readdir(at('dist'), { recursive: true })).filter((name) =>
        name.endsWith('.js'),
      );
      return (await Promise.all(files.map((name) => readFile(at(`dist/${name}`), 'utf8')))).join();
    },
    /** Runs the build; resolves with whether it has built. */
    async builds() {
      const before = await builtAt();
      await build();
      return (await builtAt()) !== before;
    },
  };
}

t.test('builds only after changes to sources, packages or configuration', async (t) => {
  const { at, build, builds, output, refusal } = await startClone(t);
  const change = async (path: string, from: string, to: string) => {
    const text = await readFile(at(path), 'utf8');
    t.ok(text.includes(from), path);
    await writeFile(at(path), text.replace(from, to));
  };
  await Promise.all([build(), build(), build()]);
  t.notOk(await builds(), 'concurrent builds leave a valid one');

  await change('worker/main.ts', 'worker ready', 'the worker is prepared');
  await utimes(at('worker/main.ts'), 0, 0);
  t.ok(await builds(), 'a changed source with an old modification time');
  t.match(await output(), 'the worker is prepared');
  t.notMatch(await output(), '"worker ready"', 'old chunks are removed');

  await change('package.json', '"license"', '"licence": "none", "license"');
  t.ok(await builds(), 'a changed configuration');

  await change('worker/main.ts', 'the worker is prepared', "' + 'the worker");
  await change('worker/main.ts', 'import { createLogger', 'import { createLogger of');
  for (const time of ['first', 'second'])
    t.match(await refusal(), /error/i, `it fails the ${time} time`);
  await change('worker/main.ts', 'import { createLogger of', 'import { createLogger');
  const child = execFile(program, [...args, at('scripts/build.js')]);
  setTimeout(() => child.kill('SIGKILL'), 300);
  await new Promise((resolve) => child.once('exit', resolve));
  await build();
  t.match(await output(), 'the worker');
});

t.test('uses an existing build if the development dependencies are missing', async (t) => {
  const { at, build, refusal } = await startClone(t);
  await build();
  await rm(at('node_modules'));
  await rm(at('worker'), { recursive: true });
  await build();
  await rm(at('dist'), { recursive: true });
  t.equal(
    await refusal(),
    'The service is not built, and its tools are not installed: run npm ci.\n',
  );
});

t.test('refuses an unsupported version of Node', async (t) => {
  const { at, refusal } = await startClone(t);
  const text = await readFile(at('package.json'), 'utf8');
  await writeFile(at('package.json'), text.replace('>=20.19', '>=99.7'));
  const found = `this is Node ${process.versions.node}, ${process.execPath}.`;
  t.equal(await refusal(), `This needs Node >=99.7; ${found}\n`);
});

t.test('rebuilds and restarts the service after a change in npm run dev', async (t) => {
  const { at } = await startClone(t);
  const environment = {
    SERVICE_DATA_DIR: at('data'),
    SERVICE_HOST: '127.0.0.1',
    SERVICE_PORT: String(await freePort()),
    SERVICE_WORKER_PORT: String(await freePort()),
    SERVICE_OPS_PORT: '0',
    SERVICE_PROCESSES: '1',
  };
  const script = relative(join(rootPath, 'dist'), at('scripts/dev.js'));
  const dev = startProgram(t, script, at('.'), environment);
  await dev.untilLogged('service ready');
  await dev.untilLogged('worker ready');
  const text = await readFile(at('worker/main.ts'), 'utf8');
  const changedAt = performance.now();
  await writeFile(at('worker/main.ts'), text.replace('worker ready', 'the worker works'));
  await dev.untilLogged('the worker works');
  t.comment(`a change took ${Math.round(performance.now() - changedAt)} ms`);
  await dev.untilLogged('service ready', 2);
  t.equal(await dev.end('SIGTERM'), 0);
});
