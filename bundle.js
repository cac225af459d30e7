import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { isBuiltin } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const root = import.meta.dirname;
const { dependencies = {} } = JSON.parse(fs.readFileSync(join(root, 'package.json'), 'utf8'));
/** In the folder of the bundles: see `packagesOf`. */
export const packagesFile = 'packages.json';
/** The programs and threads of the service, which are bundled with their dependencies. */
export const programs = [
  'server/main',
  'server/front-end-main',
  'server/start',
  'worker/main',
  'server/own-store',
  'store/embedded/thread',
  'pool/execution/thread',
  'server/local/main',
  'pool/execution/process/main',
  'pool/formats/heic/thread',
  'pool/formats/pdf/thread',
  'pool/formats/jxl/thread',
  'pool/rendering/encode/jxl/thread',
  'server/admin/main',
  'demo/main',
  'server/health-check',
];
/** Number of `programs` that `npm start` runs, the first ones. */
const startedPrograms = 7;
/** Time for them to start. */
const startsWithinMs = 30_000;
const answersWithinMs = 2_000;
/** Packages that load files of their own. */
const external = [
  '@opentelemetry/*',
  'agendash',
  'libheif-js',
  '@embedpdf/pdfium',
  'wasm-vips',
  'lmdb',
  'piscina',
];
/** Optional packages of the MongoDB driver, which are not installed. */
const absent = [
  '@aws-sdk/credential-providers',
  '@mongodb-js/zstd',
  'gcp-metadata',
  'kerberos',
  'mongodb-client-encryption',
  'snappy',
  'socks',
];

/**
 * Replaces what CommonJS does not have: `import.meta`, and `import()` of a computed name. sharp can only be
 * bundled so, which saves 90 ms of CPU time (measured as below). The modules' URLs end in `.cjs`, as the files
 * of the programs that they start.
 */
const metaPlugin = (outDir, loaded) => ({
  name: 'import.meta',
  setup({ onLoad }) {
    onLoad({ filter: /\.m?js$/ }, ({ path }) => {
      const from = relative(outDir, path);
      const isOurs = !from.startsWith('..');
      if (!isOurs && !path.includes('/node_modules/sharp/dist/')) return undefined;
      const ownUrl = `__urlOf(${JSON.stringify(`../${from.replace(/\.js$/, '.cjs')}`)})`;
      const source = fs.readFileSync(path, 'utf8');
      if (isOurs) for (const name of packagesWithFilesIn(source)) loaded.add(name);
      const contents = source
        .replaceAll('import.meta.url', isOurs ? ownUrl : `__resolve('sharp')`)
        .replaceAll('import.meta.resolve', '__resolve')
        .replaceAll(/\bimport\((?=\w)/g, '__import(');
      return { contents, loader: 'js' };
    });
  },
});

/** The package of a specifier such as `@scope/name/file.js`. */
const packageOf = (specifier) => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? '';

/** Packages of which a module resolves a file, as in `import.meta.resolve('name/file.css')`, in place of an import. */
function packagesWithFilesIn(source) {
  const specifiers = source.matchAll(
    /(?<!\b(?:from|import)\s*\(?)(['"])((?:@[\w.-]+\/)?[\w.-]+)(?:\/[\w./-]+)?\1/g,
  );
  return [...specifiers]
    .filter(
      ([text, , name]) =>
        name in dependencies &&
        (text.length > name.length + 2 || RegExp(`resolve\\(${text}`).test(source)),
    )
    .map(([, , name]) => name);
}

/** Leaves a dynamic import of another program to that program's bundle. */
const programsPlugin = (outDir) => ({
  name: 'programs',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\.?\// }, ({ path, resolveDir, kind }) => {
      const program = relative(outDir, join(resolveDir, path)).replace(/\.js$/, '');
      const isOther = kind === 'dynamic-import' && programs.includes(program);
      return isOther ? { path: `../${program}.cjs`, external: true } : undefined;
    });
  },
});

/**
 * The parts of undici that the service uses: without the others a start takes 0.9 of the time (15 pairs of
 * starts). An import of another part fails the build.
 */
const undiciPlugin = {
  name: 'undici',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^undici$/ }, () => ({ path: 'undici', namespace: 'parts' }));
    onLoad({ filter: /./, namespace: 'parts' }, () => ({
      resolveDir: root,
      contents: `
        import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
        import api from 'undici/lib/api/index.js';
        export { default as Agent } from 'undici/lib/dispatcher/agent.js';
        export { default as Client } from 'undici/lib/dispatcher/client.js';
        export { default as Pool } from 'undici/lib/dispatcher/pool.js';
        export { default as buildConnector } from 'undici/lib/core/connect.js';
        import parse from 'undici/lib/web/cookies/parse.js';
        export const parseCookie = parse.parseSetCookie;
        Object.assign(Dispatcher.prototype, api);`,
    }));
  },
};

/** The function that `bundle-loader.cjs` calls. */
const bundleHead = `(function (require, module, __import, __filename, __dirname) {
const { exports } = module;
const { pathToFileURL: __toUrl } = require('node:url');
const __urlOf = (path) => __toUrl(require('node:path').join(__dirname, path)).href;
const __resolve = (specifier) => __toUrl(require.resolve(specifier)).href;`;

/**
 * Bundles the programs, and replaces their entry files by ones that run the bundles.
 *
 * Loading the modules of a front end from bundles takes 328 ms of CPU time instead of 648 (the minimum of seven
 * alternating runs with Node 20). As CommonJS with stored code, a service answers after 0.66 of the time until its
 * first healthy answer, and without white space after 0.95 of that (15 pairs of starts each). The names contain
 * a hash, because V8 checks only the length of a source when it reads compiled code.
 */
export async function bundlePrograms(outDir) {
  const entries = programs.filter((program) => fs.existsSync(join(outDir, `${program}.js`)));
  if (entries.length === 0) return;
  const esbuild = await import('esbuild');
  const folder = join(outDir, 'bundle');
  // The native part of sharp, whose modules are bundled.
  const loaded = new Set(['sharp']);
  const { metafile } = await esbuild.build({
    absWorkingDir: outDir,
    entryPoints: entries.map((entry) => ({ in: `${entry}.js`, out: entry.replaceAll('/', '-') })),
    entryNames: '[name]-[hash]',
    outdir: folder,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    // Only the conditions that Node itself uses.
    conditions: [],
    external: [...external, ...absent],
    supported: { 'dynamic-import': false },
    sourcemap: true,
    sourcesContent: false,
    minifyWhitespace: true,
    lineLimit: 160,
    // One has a letter beyond ASCII, and the loader reads bytes as characters.
    legalComments: 'external',
    logLevel: 'warning',
    banner: { js: bundleHead },
    footer: { js: '})' },
    metafile: true,
    plugins: [metaPlugin(outDir, loaded), programsPlugin(outDir), undiciPlugin],
  });
  for (const [file, { entryPoint }] of Object.entries(metafile.outputs)) {
    if (entryPoint === undefined) continue;
    const entry = join(outDir, entryPoint);
    const inner = entry.replace(/\.js$/, '.cjs');
    const loader = relative(dirname(entry), join(folder, 'loader.cjs'));
    fs.writeFileSync(inner, `module.exports = require('${loader}').run('${basename(file)}');\n`);
    fs.writeFileSync(entry, `import './${basename(inner)}';\n`);
    fs.rmSync(`${entry}.map`, { force: true });
  }
  fs.copyFileSync(join(root, 'bundle-loader.cjs'), join(folder, 'loader.cjs'));
  fs.writeFileSync(join(folder, packagesFile), JSON.stringify(packagesOf(metafile, loaded)));
  const stored = () => fs.readdirSync(folder).filter((name) => name.endsWith('.code'));
  await storeCompiledCode(outDir, stored).catch(({ message }) => {
    for (const name of stored()) fs.rmSync(join(folder, name));
    process.stderr.write(`Starts will be slow, because no compiled code was stored: ${message}\n`);
  });
}

/**
 * The packages that the programs load from `node_modules`, which an installation needs, and those whose modules are in
 * the bundles. `pack.js` reads it.
 */
function packagesOf({ inputs, outputs }, loaded) {
  const imported = Object.values(outputs)
    .flatMap(({ imports }) => imports)
    .filter(
      ({ path, external: isExternal }) => isExternal && !isBuiltin(path) && !path.startsWith('.'),
    )
    .map(({ path }) => packageOf(path));
  const bundled = Object.keys(inputs).flatMap(
    (path) => path.split('node_modules/').slice(1).at(-1) ?? [],
  );
  const names = (all) => [...new Set(all)].sort();
  // Others are optional, and not installed.
  const direct = [...loaded, ...imported].filter((name) => name in dependencies);
  return {
    loaded: names([...direct, ...direct.flatMap(peersOf)]),
    bundled: names(bundled.map(packageOf)),
  };
}

/**
 * The packages that a package expects beside it, such as the web framework for which Agendash has a plugin. npm does
 * not install optional ones.
 */
function peersOf(name) {
  const file = join(root, 'node_modules', name, 'package.json');
  const { peerDependencies = {} } = JSON.parse(fs.readFileSync(file, 'utf8'));
  return Object.keys(peerDependencies).filter((peer) => peer in dependencies);
}

/**
 * Makes the programs and threads of another build those of dist/, which start in half of the time. Tests start
 * hundreds.
 *
 * @param distName the name of the build's final folder
 */
export function linkPrograms(outDir, distName) {
  for (const program of programs) {
    const entry = join(outDir, `${program}.js`);
    const bundled = relative(dirname(join(root, distName, program)), join(root, 'dist', program));
    // piscina runs the default export of a thread.
    const lines = [`import program from '${bundled}.cjs';`, 'export default program.default;', ''];
    if (fs.existsSync(entry)) fs.writeFileSync(entry, lines.join('\n'));
  }
}

/**
 * Runs the programs of a start, which store their compiled code (`bundle-loader.cjs`).
 *
 * @param stored the files with it
 * @throws Error when a program did not start; the programs work without stored code too
 */
async function storeCompiledCode(outDir, stored) {
  const data = fs.mkdtempSync(join(tmpdir(), 'image-delivery-build-'));
  const [port, workerPort] = [await freePort(), await freePort()];
  const others = Object.entries(process.env).filter(([name]) => !/^(?:SERVICE|OTEL)_/.test(name));
  const env = {
    ...Object.fromEntries(others),
    STORE_COMPILED_CODE: '1',
    SERVICE_DATA_DIR: data,
    SERVICE_HOST: '127.0.0.1',
    SERVICE_PORT: port,
    SERVICE_OPS_PORT: '0',
    SERVICE_WORKER_PORT: workerPort,
    SERVICE_PROCESSES: '1',
    SERVICE_LOG_LEVEL: 'error',
  };
  // They end when the channel closes, also when this process is killed.
  const start = (program) => {
    const stdio = ['ignore', 'ignore', 'inherit', 'ipc'];
    const child = spawn(process.execPath, [join(outDir, `${program}.js`)], { stdio, env });
    return { child, ended: once(child, 'exit') };
  };
  spawnSync(process.execPath, [join(outDir, 'server/start.js'), '--help'], { env });
  const parts = [start('worker/main'), start('server/main')];
  const isReady = async () =>
    stored().length >= startedPrograms &&
    (await answers(`http://127.0.0.1:${workerPort}/health/ready`)) &&
    (await answers(`http://127.0.0.1:${port}/api/health`));
  const deadline = Date.now() + startsWithinMs;
  const hasEnded = ({ child: { exitCode, signalCode } }) => (exitCode ?? signalCode) !== null;
  while (!parts.some(hasEnded) && Date.now() < deadline && !(await isReady())) await sleep(50);
  for (const { child } of parts) child.kill('SIGTERM');
  const codes = (await Promise.all(parts.map(({ ended }) => ended))).map(([code]) => code);
  fs.rmSync(data, { recursive: true, force: true });
  if (codes.some((code) => code !== 0)) throw new Error('a program ended with an error.');
  if (stored().length < startedPrograms) throw new Error('a program did not start in time.');
}

const answers = (url) =>
  fetch(url, { signal: AbortSignal.timeout(answersWithinMs) }).then(
    ({ ok }) => ok,
    () => false,
  );

function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.once('listening', () => {
      const { port } = server.address();
      server.close(() => resolve(String(port)));
    });
  });
}
