import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/**
 * `node scripts/build.js [service | test | sdk | types | urls]` builds `dist/`, `dist-test/` (with
 * the tests), `sdk/dist/`, `sdk/src/generated/`, which these contain, or `urls/dist/`, unless it is
 * up to date: a stamp contains a hash of the sources and installed packages. Without development
 * dependencies it uses an existing build.
 */

// `import.meta.dirname` does not exist in old versions of Node, which get a message below.
export const root = join(dirname(fileURLToPath(import.meta.url)), '..');
export const readJson = (path) => JSON.parse(fs.readFileSync(join(root, path), 'utf8'));
const manifest = readJson('package.json');
const page = 'server/console/page';
const source = ['contract', 'server', 'pool', 'store', 'worker', 'demo', 'sdk/src', 'urls/src'];
/** The names of programs, of threads, and of the module that the build itself runs. */
const isProgram = /\/(?:main|front-end-main|start|health-check|thread|uws-digests)\.ts$/;

/** Returns a folder's files, or the file itself. */
function listFiles(path) {
  if (!fs.statSync(path, { throwIfNoEntry: false })?.isDirectory()) return [path];
  const entries = fs.readdirSync(path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map((entry) => join(entry.parentPath, entry.name));
}

/**
 * esbuild options for the programs. Packages in `dependencies` contain native parts, WebAssembly or
 * separate files, or are loaded by such a package; all others are bundled, because a few large
 * files load faster.
 */
export const programOptions = {
  absWorkingDir: root,
  entryPoints: source.flatMap((folder) =>
    listFiles(join(root, folder)).filter((path) => isProgram.test(path)),
  ),
  outdir: 'dist',
  outbase: '.',
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  external: Object.keys(manifest.dependencies),
  // For packages that are CommonJS.
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url), __dirname = import.meta.dirname, __filename = import.meta.filename;",
  },
  sourcemap: true,
  sourcesContent: false,
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
};

/** Options of esbuild for the console's page. */
export const pageOptions = {
  absWorkingDir: root,
  entryPoints: listFiles(join(root, page)).filter((path) =>
    /page\/(?:main\.tsx|docs\.ts|[^/]+\.(?:css|svg))$/.test(path),
  ),
  outdir: join('dist', page),
  bundle: true,
  format: 'esm',
  charset: 'utf8',
  minify: true,
  loader: { '.svg': 'copy' },
  alias: {
    '@image-delivery/sdk': join(root, 'sdk/src/index.ts'),
    '@image-delivery/sdk/client': join(root, 'sdk/src/client/index.ts'),
  },
  // The service checks what users enter.
  define: { 'process.env.NODE_ENV': '"production"' },
  logLevel: 'warning',
};

const targets = {
  types: { dist: 'sdk/src/generated', folders: ['contract', 'pool', 'store', 'server'] },
  service: { dist: 'dist', folders: source },
  test: { dist: 'dist-test', folders: [...source, 'bench', 'test'], project: 'test' },
  sdk: { dist: 'sdk/dist', folders: ['sdk/src', 'sdk/tsconfig.json'], project: 'sdk' },
  urls: { dist: 'urls/dist', folders: ['urls/src', 'urls/tsconfig.json'], project: 'urls' },
};

function hashFiles(paths) {
  const hash = createHash('sha256');
  for (const file of paths.flatMap((path) => listFiles(join(root, path))).sort()) {
    if (fs.existsSync(file) && !file.endsWith('.built-from'))
      hash.update(file).update(fs.readFileSync(file));
  }
  return hash.digest('hex');
}

/** Runs the compiler, which checks types too. */
function compile(...args) {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const { status } = spawnSync(process.execPath, [tsc, ...args], { cwd: root, stdio: 'inherit' });
  if (status !== 0) throw new Error('The types have errors.');
}

/** Builds the SDK for `require`, in a folder whose manifest says what its files are. */
function buildCommonJs(folder) {
  const module = ['--module', 'commonjs', '--moduleResolution', 'bundler'];
  compile('--project', 'sdk', '--outDir', folder, ...module, '--verbatimModuleSyntax', 'false');
  fs.writeFileSync(join(root, folder, 'package.json'), '{ "type": "commonjs" }\n');
}

/** Writes the SDK's tables and types, if they are out of date. */
export const writeSdkTypes = () => build('types');

function generateSdkTypes() {
  const args = ['--import=tsx', join(root, 'scripts/sdk/write.ts')];
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) throw new Error('The SDK cannot be generated from the tables.');
}

/** Compares the native files of uws-pack with their recorded digests. */
async function checkNativeFiles() {
  const folder = join(root, 'node_modules/uws-pack');
  if (!fs.existsSync(folder)) return;
  const digests = pathToFileURL(join(root, 'dist/server/http/uws-digests.js')).href;
  const { digestFailure, recordedFiles } = await import(digests);
  const { version } = readJson('node_modules/uws-pack/package.json');
  const paths = recordedFiles.map((name) => join(folder, 'dist/bin', name)).filter(fs.existsSync);
  const failures = paths.flatMap((path) => digestFailure(`uws-pack ${version}`, path) ?? []);
  if (failures.length > 0) throw new Error(failures.join('\n'));
}

/**
 * Builds the programs and the page. Replaces files individually, so that a program starting
 * meanwhile reads no partial file.
 *
 * @returns the programs' metafile
 */
export async function buildService() {
  const esbuild = await import('esbuild');
  const results = await Promise.all(
    [programOptions, pageOptions].map((options) => esbuild.build({ ...options, write: false })),
  );
  const files = results.flatMap(({ outputFiles }) => outputFiles);
  // Chunks come before the programs that import them.
  for (const { path, contents } of files.toSorted((a, b) => a.path.localeCompare(b.path))) {
    const temporary = `${path}.${process.pid}`;
    fs.mkdirSync(dirname(path), { recursive: true });
    fs.writeFileSync(temporary, contents);
    fs.renameSync(temporary, path);
  }
  const built = new Set(files.map(({ path }) => path));
  // Keeps the stamp and another build's temporary files.
  const isOld = (path) => !built.has(path) && !/\.(?:built-from|\d+)$/.test(path);
  for (const path of listFiles(join(root, 'dist')).filter(isOld)) fs.rmSync(path, { force: true });
  await checkNativeFiles();
  return results[0].metafile;
}

async function build(target) {
  const { dist, folders, project } = targets[target];
  const stampFile = join(root, dist, '.built-from');
  const stamp = () => (fs.existsSync(stampFile) ? fs.readFileSync(stampFile, 'utf8') : null);
  if (!fs.existsSync(join(root, 'node_modules/esbuild'))) {
    if (stamp() !== null) return;
    throw new Error('The service is not built, and its tools are not installed: run npm ci.');
  }
  if (target !== 'types') await writeSdkTypes();
  const packages = 'node_modules/.package-lock.json';
  const from = hashFiles([...folders, 'package.json', 'tsconfig.json', 'scripts', packages]);
  if (stamp() === from) return;
  // Because the stamp is gone, a failed or killed build is repeated.
  const replaced = project === undefined ? stampFile : join(root, dist);
  fs.rmSync(replaced, { recursive: true, force: true });
  const startedAt = performance.now();
  if (target === 'types') generateSdkTypes();
  else if (target === 'service') await buildService();
  else compile('--project', project, '--outDir', dist);
  if (target === 'test') compile('--project', page);
  if (target === 'sdk') buildCommonJs(join(dist, 'cjs'));
  fs.writeFileSync(stampFile, from);
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  process.stderr.write(`Built ${relative(root, dirname(stampFile))}/ in ${seconds} s.\n`);
}

function requireNode() {
  const { node } = manifest.engines;
  const { version, execPath } = process;
  if (version.slice(1).localeCompare(node.slice(2), 'en', { numeric: true }) >= 0) return;
  throw new Error(`This needs Node ${node}; this is Node ${version.slice(1)}, ${execPath}.`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    requireNode();
    await build(process.argv[2] ?? 'service');
  } catch ({ message }) {
    process.stderr.write(`${message}\n`);
    process.exitCode = 1;
  }
}
