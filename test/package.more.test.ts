import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import {
  chmod,
  cp,
  mkdir,
  readdir,
  readFile,
  rename,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { version } from '../contract/package.ts';
import { rootPath } from './root.ts';
import { rootKey } from './service/control/control.ts';
import { picture, startTestOrigin } from './service/origin.ts';
import { freePort, json, plainNode, startProgram, startService } from './service/service.ts';
import { temporaryFolder } from './temporary-root.ts';
import { until } from './until.ts';
import { hookSecret, startReceiver } from './worker/receiver.ts';

const run = promisify(execFile);
const [program, ...args] = plainNode;
const modules = join(rootPath, 'node_modules');
const maxTarballBytes = 10 * 2 ** 20;
const maxInstalledBytes = 250 * 2 ** 20;

const folder = await temporaryFolder(t);
const app = join(folder, 'app');
const installed = join(app, 'node_modules/image-delivery');
const bin = join(app, 'node_modules/.bin/image-delivery');

interface Manifest {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly overrides?: Readonly<Record<string, unknown>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}
const readManifest = async (path: string): Promise<Manifest> =>
  JSON.parse(await readFile(join(path, 'package.json'), 'utf8'));

/**
 * Returns the clone's folders that npm installs for a package, except folders for other platforms.
 */
async function foldersFor(manifest: Manifest, from: string, found = new Set<string>()) {
  const {
    dependencies,
    optionalDependencies,
    peerDependencies = {},
    peerDependenciesMeta,
  } = manifest;
  const peers = Object.keys(peerDependencies).filter(
    (name) => peerDependenciesMeta?.[name]?.optional !== true,
  );
  for (const name of [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers]) {
    const paths = createRequire(join(from, 'package.json')).resolve.paths(name) ?? [];
    const path = paths
      .map((parent) => join(parent, name))
      .find((candidate) => existsSync(candidate));
    if (path === undefined || found.has(path)) continue;
    found.add(path);
    await foldersFor(await readManifest(path), path, found);
  }
  return found;
}

async function bytesBelow(path: string): Promise<number> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = files.map(async (file) => (await stat(join(file.parentPath, file.name))).size);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
/**
 * The environment minus the variables of the npm that runs the tests, such as its folder. Keeps the
 * registry.
 */
const outerVariables = Object.entries(process.env).filter(
  ([name]) =>
    name !== 'NODE_OPTIONS' && (!name.startsWith('npm_') || name === 'npm_config_registry'),
);
const npmIn = (cwd: string, ...more: string[]) =>
  run('npm', [...more, ...quiet], { cwd, env: Object.fromEntries(outerVariables) });
const npm = (...more: string[]) => npmIn(app, ...more);

/** Returns true if a registry offers the package's dependencies. */
const isRegistryReachable = (): Promise<boolean> =>
  npm('view', 'agendash', 'version', '--fetch-retries=0', '--fetch-timeout=10000').then(
    () => true,
    () => false,
  );

/**
 * Installs the package like npm, but offline: copies it and only the packages that npm would
 * install with it from the clone. Links would lead to other packages of the clone.
 */
async function copyPackages(tarball: string): Promise<void> {
  await mkdir(installed, { recursive: true });
  execFileSync('tar', ['-xzf', tarball, '--strip-components=1', '-C', installed]);
  for (const path of await foldersFor(await readManifest(installed), rootPath)) {
    // A nested package comes with its parent.
    if (/node_modules\//.test(relative(modules, path))) continue;
    await cp(path, join(app, 'node_modules', relative(modules, path)), { recursive: true });
  }
  await mkdir(dirname(bin));
  await symlink('../image-delivery/bin/image-delivery.js', bin);
}

await npmIn(rootPath, 'pack', '--pack-destination', folder);
const tarball = join(folder, `image-delivery-${version}.tgz`);
await mkdir(app);
await writeFile(join(app, 'package.json'), '{ "private": true }');
const fromRegistry = await isRegistryReachable();
if (fromRegistry) await npm('install', tarball);
else await copyPackages(tarball);
t.comment(
  fromRegistry
    ? 'the package is installed by npm'
    : 'the package is copied: npm reaches no registry',
);
const bytes = await bytesBelow(join(app, 'node_modules'));
const filesAndTimes = async () => {
  const entries = await readdir(installed, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  return Promise.all(files.sort().map(async (file) => [file, (await stat(file)).mtimeMs]));
};
const before = await filesAndTimes();

t.test('stays small, and contains neither sources nor source maps', async (t) => {
  const { size } = await stat(tarball);
  t.comment(`the tarball has ${size} bytes; installed, ${bytes}`);
  t.ok(size <= maxTarballBytes);
  t.ok(bytes <= maxInstalledBytes);
  t.equal((await readManifest(installed)).version, version);
  const others = before.filter(([file]) => /\.(?:ts|tsx|map)$/.test(String(file)));
  t.same(others, []);
  for (const name of ['README.md', 'LICENSE', 'CHANGELOG.md', 'dist/THIRD-PARTY-LICENCES.txt']) {
    t.ok((await readFile(join(installed, name), 'utf8')).length > 0, name);
  }
});

t.test('uses the versions of its packages that its users get', async (t) => {
  const { overrides } = await readManifest(rootPath);
  const shipped = await foldersFor(await readManifest(installed), rootPath);
  const names = [...shipped].map((path) => path.split('node_modules/').at(-1));
  t.ok(names.includes('sharp'));
  // npm applies overrides only in the clone.
  for (const name of Object.keys(overrides ?? {})) t.notOk(names.includes(name), name);
});

t.test('contains its documentation, and the pages that messages name', async (t) => {
  const files = await readdir(installed, { recursive: true });
  for (const page of files.filter((path) => /^(?:docs\/.*|README)\.md$/.test(path))) {
    const text = await readFile(join(installed, page), 'utf8');
    for (const [, link = ''] of text.matchAll(/\]\((?!https?:|#)([^)#\s]+)[^)\s]*\)/g)) {
      const target = join(dirname(page), link);
      // Other links lead to files of the repository.
      if (target.startsWith('docs/'))
        t.ok(files.includes(target.replace(/\/$/, '')), `${page} links to ${link}`);
    }
  }
  const programs = files.filter((path) => /^dist\/(?!server\/console\/page).*\.c?js$/.test(path));
  const texts = programs.map((path) => readFile(join(installed, path), 'utf8'));
  // Comments of bundled packages name pages of these packages.
  const names = (await Promise.all(texts)).flatMap((text) => [
    ...text
      .replaceAll(/^\s*\/\/.*/gm, '')
      .matchAll(/documentPath\(["'`]([\w./-]+)["'`]\)|(?<![\w/-])docs\/([\w/-]+\.md)/g),
  ]);
  const pages = new Set(names.map(([, inCall, inText]) => inCall ?? inText));
  t.ok(pages.has('http-engines.md'));
  for (const page of pages) t.ok(files.includes(`docs/${page}`), `docs/${page}`);
});

t.test("prints each command's help with its name, and the version", async (t) => {
  const command = async (...more: string[]) => (await run(program, [...args, bin, ...more])).stdout;
  t.equal(await command('--version'), `${version}\n`);
  const help = await command();
  t.equal(await command('--help'), help);
  const names = [...help.matchAll(/^ {2}(\w+) {2,}\w/gm)].map(([, name = '']) => name);
  t.same(names, ['serve', 'start', 'server', 'worker', 'admin', 'demo', 'explain', 'health']);
  for (const name of names) {
    t.equal(await command(name, '--version'), `${version}\n`, name);
    t.match(await command(name, '--help'), `Usage: image-delivery ${name} [options]`);
  }
  await t.rejects(run(program, [...args, bin, 'sevre']), {
    code: 1,
    stderr: /^Unknown command: sevre/,
  });
});

t.test('starts if no home folder exists, and writes nothing to the current folder', async (t) => {
  // Only root can start a program as a nameless user.
  const user = process.getuid?.() === 0 ? { uid: 54_321, gid: 54_321 } : {};
  const cwd = join(folder, 'current');
  await mkdir(cwd);
  await chmod(folder, 0o755);
  await chmod(cwd, 0o777);
  const explain = [...args, bin, 'explain', '/img/?url=/a.jpg&project=p&w=8'];
  for (const home of [{}, { HOME: '' }, { HOME: 'a' }, { XDG_CACHE_HOME: 'a' }]) {
    const { stdout } = await run(program, explain, { cwd, env: home, ...user });
    t.match(stdout, 'Source: /a.jpg', JSON.stringify(home));
    t.same(await readdir(cwd), [], JSON.stringify(home));
  }
});

const environment = { PATH: process.env['PATH'] ?? '', TMPDIR: folder };
const start = (
  t: Parameters<typeof startProgram>[0],
  options: readonly string[],
  variables: Readonly<Record<string, string>> = environment,
) => startProgram(t, relative(join(rootPath, 'dist'), bin), folder, variables, options);

t.test('serves a folder of images', async (t) => {
  const pictures = join(folder, 'pictures');
  await mkdir(pictures);
  await writeFile(join(pictures, 'a.jpg'), await picture(300, 200));
  const service = start(t, ['serve', pictures, '--port', String(await freePort())]);
  const url = await until('the URL', () => /http:\S+a\.jpg\S+w=800/.exec(service.stdout())?.[0]);
  const response = await fetch(`${url}&fmt=webp`);
  t.equal(response.headers.get('content-type'), 'image/webp');
  t.match(service.stdout(), /uWebSockets\.js unavailable.*run npm install uws-pack@\d/);
  const [, page = ''] = /fewer hits: see (\S+),/.exec(service.stdout()) ?? [];
  t.equal(page, join(installed, 'docs/http-engines.md'));
  t.equal(await service.end('SIGTERM'), 0);
});

/** Resolves once a URL returns success. */
const untilOk = (url: string) =>
  until(url, () =>
    fetch(url).then(
      ({ ok }) => ok,
      () => false,
    ),
  );

t.test('runs the service, its worker and the workbench in the demo', async (t) => {
  const ports = ['--port', String(await freePort()), '--worker-port', String(await freePort())];
  const demo = start(t, ['demo', ...ports]);
  const page = await until('the page', () => /(http:\S+\/)\n\nOr these/.exec(demo.stdout())?.[1]);
  const images = await until('the images', () => {
    const urls = [...demo.stdout().matchAll(/http:\S+\/img\/\S+\n/g)].map(([line]) => line.trim());
    return urls.length === 4 && urls;
  });
  for (const url of images) t.equal((await fetch(url)).status, 200, url);
  t.match(await (await fetch(page)).text(), 'data-command="image-delivery"');
  const docs = await (await fetch(`${page}docs`)).text();
  const library = /[\w./-]+library\/swagger-ui\.js/.exec(docs)?.[0] ?? '';
  t.equal((await fetch(new URL(library, `${page}docs`))).status, 200, library);
  await untilOk(`http://127.0.0.1:${ports[3]}/workbench`);
  t.equal(await demo.end('SIGTERM'), 0);
});

/** Variables of a service with an own data folder. */
async function serviceEnvironment(name: string) {
  const dataDir = join(folder, name);
  await mkdir(dataDir);
  const [port, workerPort] = [await freePort(), await freePort()];
  return {
    url: `http://127.0.0.1:${port}`,
    workerUrl: `http://127.0.0.1:${workerPort}`,
    variables: {
      ...environment,
      SERVICE_DATA_DIR: dataDir,
      SERVICE_HOST: '127.0.0.1',
      SERVICE_PORT: String(port),
      SERVICE_WORKER_PORT: String(workerPort),
      SERVICE_OPS_PORT: '0',
      SERVICE_PROCESSES: '1',
      SERVICE_PRIVATE_SOURCES: '127.0.0.0/8:*',
      SERVICE_HOOK_SECRET: hookSecret,
      SERVICE_ROOT_API_KEY: rootKey,
    },
  };
}

t.test('finishes a prewarm, calls back and shows the workbench in start', async (t) => {
  const origin = await startTestOrigin(t);
  origin.serve('/a.jpg', await picture(60, 40));
  const { url, workerUrl, variables } = await serviceEnvironment('started');
  const started = start(t, ['start'], variables);
  await untilOk(`${workerUrl}/health/ready`);
  await untilOk(`${url}/api/health`);
  const admin = async (...more: string[]) =>
    (await run(program, [...args, bin, 'admin', ...more], { env: variables })).stdout.trim();
  const project = await admin('projects', 'create', '--name', 'Test', '--origin', origin.url);
  const receiver = await startReceiver(t, await admin('projects', 'webhook-secret', project));
  const api = (path: string, init: RequestInit = {}) =>
    fetch(`${url}/api/sdk/v1/projects/${project}/${path}`, {
      ...init,
      headers: { authorization: `Bearer ${rootKey}`, 'content-type': 'application/json' },
    });
  const accepted = await api('prewarm', {
    method: 'POST',
    body: JSON.stringify({
      sources: [`${origin.url}/a.jpg`],
      formats: ['webp'],
      callbackUrl: `${receiver.url}/prewarmed`,
    }),
  });
  t.equal(accepted.status, 202);
  const location = String(accepted.headers.get('location')).replace(/^.*(?=prewarms\/)/, '');
  const ended = await until('the end of the prewarm', async () => {
    const { prewarm } = await json(await api(location));
    return prewarm.status !== 'accepted' && prewarm;
  });
  t.match(ended, { status: 'done', failures: [] });
  t.match(await until('the callback', () => receiver.received[0]), { path: '/prewarmed' });
  const page = await fetch(`${workerUrl}/workbench/`);
  t.match([page.status, await page.text()], [200, /<script/]);
  t.equal((await run(program, [...args, bin, 'health'], { env: variables })).stderr, '');
  t.notOk(
    started.log.some(({ level }) => level === 'error' || level === 'fatal'),
    started.stdout(),
  );
  t.equal(await started.end('SIGTERM'), 0);
});

/** Returns a page of 72 × 72 points. */
const pdf = (): Buffer => {
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 72 72] >>',
  ].map((object, index) => `${index + 1} 0 obj\n${object}\nendobj\n`);
  // Leave out the reference table, which readers rebuild.
  return Buffer.from(`%PDF-1.7\n${objects.join('')}trailer\n<< /Size 4 /Root 1 0 R >>\n%%EOF\n`);
};

t.test('runs server and worker as two commands', async (t) => {
  const { url, workerUrl, variables } = await serviceEnvironment('apart');
  const [server, worker] = ['server', 'worker'].map((name) => start(t, [name], variables));
  await untilOk(`${url}/api/health`);
  await untilOk(`${workerUrl}/health/ready`);
  t.equal(await worker?.end('SIGTERM'), 0);
  t.equal(await server?.end('SIGTERM'), 0);
});

t.test('does not report a missing package as a port failure', async (t) => {
  const missing = join(app, 'node_modules/agendash');
  await rename(missing, `${missing}-away`);
  t.teardown(() => rename(`${missing}-away`, missing));
  const { variables } = await serviceEnvironment('incomplete');
  const worker = start(t, ['worker'], variables);
  t.equal(await worker.end(null), 1);
  t.notMatch(worker.stderr(), 'cannot be used');
  const fatal = worker.log.find(({ msg }) => msg === 'worker start failed');
  t.match(fatal, { err: { message: /Cannot find package .agendash/ } });
});

t.test('supports every format and text with its dependencies', async (t) => {
  const origin = await startTestOrigin(t);
  origin.serve('/a.heic', await readFile(join(rootPath, 'test/pool/formats/heic/quarters.heic')));
  origin.serve('/a.pdf', pdf());
  origin.serve('/a.png', await picture(60, 40, 'png'));
  const service = await startService(t, {
    dist: join(installed, 'dist'),
    environment: {
      SERVICE_ROOT_API_KEY: rootKey,
      SERVICE_PDF: 'on',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
    },
  });
  const project = await service.project();
  const api = `${service.url}/api/sdk/v1/projects/${project}`;
  const put = await fetch(`${api}/layers/words`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${rootKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ text: { words: 'Sale', size: 20 } }),
  });
  t.equal(put.status, 200);
  for (const query of [
    'a.heic?fmt=webp',
    'a.pdf?fmt=avif',
    'a.png?layer=words&fmt=png',
    'a.png?fmt=jxl',
  ]) {
    const [name, parameters] = query.split('?');
    const image = await fetch(
      `${service.url}/img/${origin.url}/${name}?project=${project}&${parameters}`,
    );
    t.equal(image.status, 200, query);
    t.match(image.headers.get('content-type'), /^image\//, query);
    t.equal(image.headers.get('x-image-warnings'), null, query);
  }
  t.ok(service.log.some(({ msg }) => msg === 'sending traces by OTLP'));
  const [first] = service.log;
  t.match(first, { msg: 'service starting', version, node: process.version });
  t.equal(await service.end(), 0);
});

t.test('writes nothing into the package', async (t) => {
  t.same(await filesAndTimes(), before);
});

t.test('refuses to pack a clone that lacks its packages, and says why', async (t) => {
  const clone = join(folder, 'unbuilt');
  for (const name of [
    'package.json',
    'sdk/package.json',
    'scripts',
    '.npmrc',
    'server/console/page',
  ]) {
    await cp(join(rootPath, name), join(clone, name), { recursive: true });
  }
  const unbuilt = { message: /The package is built from a clone .*: run npm ci\./ };
  await t.rejects(npmIn(clone, 'pack', '--dry-run', '--offline'), unbuilt);
  await t.rejects(npmIn(clone, 'publish', '--dry-run', '--offline'), unbuilt);
  const sdk = { message: /not built, and its tools are not installed: run npm ci\./ };
  await t.rejects(npmIn(clone, 'pack', '--workspace', 'sdk', '--dry-run', '--offline'), sdk);
});
