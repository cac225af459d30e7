// @ts-check
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Builds dist/, or with the argument `test` dist-test/, which holds the tests too, unless it is up to
 * date with the sources; every npm command runs this first. A stamp file holds a hash of the sources
 * and of the output, so that an interrupted build, or one whose output another build has overwritten,
 * is repeated.
 *
 * Without TypeScript, as in an installation for production (`npm ci --omit=dev`), what is built is used,
 * unless there are sources and they have changed.
 *
 * `tsc --build` is not used: it compares modification times, so it misses a file that was restored
 * from a backup; it does not check its output; and it writes in place while another command may read.
 */
// `import.meta.dirname` is not in the old versions of Node for which there is a message below.
const root = dirname(fileURLToPath(import.meta.url));
const forTests = process.argv[2] === 'test';
const configFile = join(root, forTests ? 'test/tsconfig.json' : 'tsconfig.json');
const dist = join(root, forTests ? 'dist-test' : 'dist');
/** Modules for browsers, which have other types. */
const page = 'server/console/page';
/** Style sheets and pictures are copied. */
const copied = /\.(?:css|svg|jpg|png|gif|webp)$/;
const stampFile = join(dist, '.built-from');
/** On the same file system as dist, so that files can be renamed, and at the same depth, so that the
 * relative paths of the source maps hold. */
const freshPrefix = '.dist-';
const abandonedMs = 60 * 60 * 1_000;
/** The programs and threads of the service, which are bundled with their dependencies. */
const programs = [
  'server/main',
  'server/process',
  'server/start',
  'server/local/main',
  'worker/main',
  'store/embedded/thread',
  'pool/execution/thread',
  'pool/execution/process/main',
];
const bundleFolder = 'bundle';
/** Packages that load files of their own, and optional ones of the MongoDB driver. */
const unbundled = [
  'agendash',
  'lmdb',
  'piscina',
  '@aws-sdk/credential-providers',
  '@mongodb-js/zstd',
  'gcp-metadata',
  'kerberos',
  'mongodb-client-encryption',
  'snappy',
  'socks',
];
/**
 * The part of undici that is used, as its index assembles it: the whole, with fetch, WebSockets and mocks,
 * takes three times as long to load. A name that is missing here fails the build.
 */
const usedOfUndici = `
  import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
  import methods from 'undici/lib/api/index.js';
  Object.assign(Dispatcher.prototype, methods);
  export { default as Agent } from 'undici/lib/dispatcher/agent.js';
  export { default as Client } from 'undici/lib/dispatcher/client.js';
  export { default as Pool } from 'undici/lib/dispatcher/pool.js';
  export { default as buildConnector } from 'undici/lib/core/connect.js';
`;
const tsc = join(root, 'node_modules/typescript/bin/tsc');
/** npm's own list of the installed packages. */
const packagesFile = join(root, 'node_modules/.package-lock.json');

/** @param {string} folder */
const filesBelow = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'))
    .map((entry) => join(entry.parentPath, entry.name));

/** @param {string[]} paths */
const existing = (...paths) => paths.filter((file) => existsSync(file));

/** @param {string} folder */
const outputs = (folder) => filesBelow(folder).filter((file) => file !== stampFile);

function sources() {
  /** @type {{ include: string[] }} */
  const { include } = JSON.parse(readFileSync(configFile, 'utf8'));
  const others = ['tsconfig.json', 'package.json', 'build.js'].map((name) => join(root, name));
  const rooms = include.map((room) => join(dirname(configFile), room));
  return [...existing(configFile, ...others), ...existing(...rooms).flatMap(filesBelow)];
}

/**
 * @param {string} folder
 * @param {string[]} files
 */
function hashOf(folder, files) {
  const hash = createHash('sha256');
  for (const file of files.sort()) {
    const content = readFileSync(file);
    hash.update(`${relative(folder, file)} ${content.length}\n`).update(content);
  }
  return hash.digest('hex');
}

/**
 * @param {string} project
 * @param {string} outDir
 */
function compile(project, outDir) {
  const args = [tsc, '--project', project, '--outDir', outDir];
  return spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' }).status ?? 1;
}

/** @param {string} outDir */
function buildPage(outDir) {
  const folder = join(root, page);
  if (!existsSync(folder)) return 0;
  return compile(folder, outDir);
}

/** @param {string} outDir */
function copyFiles(outDir) {
  for (const file of sources().filter((name) => copied.test(name))) {
    const copy = join(outDir, relative(root, file));
    mkdirSync(dirname(copy), { recursive: true });
    copyFileSync(file, copy);
  }
  return 0;
}

/**
 * Loading a few large files takes half the time and memory of loading a thousand small ones. The entry
 * files of the programs are replaced by ones that import their bundles, which are all in one folder,
 * because modules find others by paths relative to their own.
 * @param {string} outDir
 */
async function bundlePrograms(outDir) {
  const entries = forTests
    ? []
    : programs.filter((program) => existsSync(join(outDir, `${program}.js`)));
  if (entries.length === 0) return 0;
  const esbuild = await import('esbuild');
  await esbuild.build({
    absWorkingDir: outDir,
    entryPoints: entries.map((entry) => ({ in: `${entry}.js`, out: entry.replaceAll('/', '-') })),
    outdir: join(outDir, bundleFolder),
    bundle: true,
    splitting: true,
    chunkNames: 'chunk-[hash]',
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // Only what Node itself would choose.
    conditions: [],
    external: unbundled,
    sourcemap: true,
    sourcesContent: false,
    logLevel: 'warning',
    banner: {
      // What CommonJS modules expect.
      js: `import { createRequire as __createRequire } from 'node:module';
const require = __createRequire(import.meta.url), __filename = import.meta.filename, __dirname = import.meta.dirname;`,
    },
    plugins: [
      {
        name: 'used-of-undici',
        setup({ onResolve, onLoad }) {
          const namespace = 'used-of-undici';
          onResolve({ filter: /^undici$/ }, ({ path, resolveDir: pluginData }) => ({
            path,
            namespace,
            pluginData,
          }));
          onLoad({ filter: /^/, namespace }, ({ pluginData: resolveDir }) => ({
            contents: usedOfUndici,
            resolveDir,
          }));
        },
      },
      {
        name: 'own-urls',
        setup({ onLoad }) {
          onLoad({ filter: /\.m?js$/ }, ({ path }) => {
            const from = relative(outDir, path);
            // sharp's modules, which are all in one folder, find its native ones by theirs.
            const url = /\/node_modules\/sharp\/dist\//.test(path.replaceAll('\\', '/'))
              ? `import.meta.resolve('sharp')`
              : `new URL(${JSON.stringify(`../${from}`)}, import.meta.url).href`;
            if (from.startsWith('..') && url.startsWith('new')) return undefined;
            const contents = readFileSync(path, 'utf8').replaceAll('import.meta.url', url);
            return { contents, loader: 'js' };
          });
        },
      },
    ],
  });
  for (const entry of entries) {
    const bundle = join(outDir, bundleFolder, `${entry.replaceAll('/', '-')}.js`);
    const specifier = relative(dirname(join(outDir, entry)), bundle);
    const names = /^export \{[^}]* as default/m.test(readFileSync(bundle, 'utf8'))
      ? '{ default } from'
      : '* from';
    writeFileSync(join(outDir, `${entry}.js`), `export ${names} '${specifier}';\n`);
    rmSync(join(outDir, `${entry}.js.map`), { force: true });
  }
  return 0;
}

/** @param {string} builtFrom */
async function build(builtFrom) {
  const fresh = mkdtempSync(join(root, freshPrefix));
  try {
    const status =
      compile(configFile, fresh) ||
      buildPage(fresh) ||
      copyFiles(fresh) ||
      (await bundlePrograms(fresh));
    if (status !== 0) return status;
    const built = outputs(fresh).map((file) => relative(fresh, file));
    const stamp = `${builtFrom} ${hashOf(fresh, outputs(fresh))}`;
    // Renamed one by one, so that a command that starts at the same time reads no partial file; what
    // bundles import comes before them, by its name.
    for (const file of built.sort()) {
      mkdirSync(dirname(join(dist, file)), { recursive: true });
      renameSync(join(fresh, file), join(dist, file));
    }
    for (const file of outputs(dist)) {
      if (!built.includes(relative(dist, file))) rmSync(file, { force: true });
    }
    writeFileSync(stampFile, stamp);
    return 0;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** Removes the folders of builds that were killed. */
function removeAbandoned() {
  for (const name of readdirSync(root).filter((entry) => entry.startsWith(freshPrefix))) {
    const folder = join(root, name);
    const { mtimeMs } = statSync(folder, { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() };
    if (Date.now() - mtimeMs > abandonedMs) rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {string} message */
function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
}

/** The sources, the installed packages, and the output; the last is hashed after a build. */
async function buildUnlessUpToDate() {
  mkdirSync(dist, { recursive: true });
  const stamp = existsSync(stampFile) ? readFileSync(stampFile, 'utf8') : '';
  const [builtSources, builtPackages, builtOutput] = stamp.split(' ');
  const intact = builtOutput === hashOf(dist, outputs(dist));
  if (!existsSync(tsc)) {
    if (!intact)
      fail('The service is not built, and TypeScript is not installed: npm ci && npm run build');
    else if (existsSync(configFile) && builtSources !== hashOf(root, sources())) {
      fail('The sources have changed, and TypeScript is not installed: npm ci && npm run build');
    }
    return;
  }
  const [from, packages] = [hashOf(root, sources()), hashOf(root, existing(packagesFile))];
  if (intact && builtSources === from && builtPackages === packages) return;
  removeAbandoned();
  process.exitCode = await build(`${from} ${packages}`);
}

/**
 * Whether this Node is one that package.json allows; the sources use what older ones do not have.
 * @param {string} allowed such as `>=20.19`
 */
function isSupported(allowed) {
  const [major = 0, minor = 0] = (/\d+\.\d+/.exec(allowed)?.[0] ?? '').split('.').map(Number);
  const [ours = 0, oursMinor = 0] = process.versions.node.split('.').map(Number);
  return ours > major || (ours === major && oursMinor >= minor);
}

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const { node: allowed = '' } = manifest.engines ?? {};
if (isSupported(allowed)) await buildUnlessUpToDate();
else
  fail(`This needs Node ${allowed}; this is Node ${process.versions.node}, ${process.execPath}.`);
