import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Builds dist/, dist-test/ (with the tests) when the argument is `test`, or sdk/dist/ when it is `sdk`, unless it
 * is up to date.
 * Every npm command runs this first. A stamp file holds hashes of the sources, the installed packages and
 * the output, so that an interrupted or overwritten build is repeated. `tsc --build` is not used: it
 * compares modification times, does not check its output, and writes in place while another command may
 * read.
 *
 * Without TypeScript, as after `npm ci --omit=dev`, an existing build is used, unless the sources are
 * there and have changed.
 */
// `import.meta.dirname` does not exist in the old versions of Node that get the message below.
const root = dirname(fileURLToPath(import.meta.url));
const [, , target = 'service'] = process.argv;
const isService = target === 'service';
const [configName, distName] = {
  service: ['tsconfig.json', 'dist'],
  test: ['test/tsconfig.json', 'dist-test'],
  sdk: ['sdk/tsconfig.json', 'sdk/dist'],
}[target];
const configFile = join(root, configName);
const dist = join(root, distName);
const stampFile = join(dist, '.built-from');
const tsc = join(root, 'node_modules/typescript/bin/tsc');
const installedPackages = join(root, 'node_modules/.package-lock.json');
/** The console's page: modules for browsers, with other types. */
const page = join(root, 'server/console/page');
const hasPage = target !== 'sdk' && fs.existsSync(page);
/** The SDK, with which the page writes the URLs of images. */
const sdk = join(root, 'sdk/src');
const builders = ['build.js', 'bundle.js', 'bundle-loader.cjs'];
const copiedFiles = /\.(?:css|svg|jpg|png|gif|webp)$/;
/** Beside dist/: files can be renamed into it, and the relative paths of source maps hold. */
const freshPrefix = '.dist-';
const abandonedMs = 60 * 60 * 1_000;
const filesBelow = (folder) =>
  fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'))
    .map((entry) => join(entry.parentPath, entry.name));

const outputs = (folder) => filesBelow(folder).filter((file) => file !== stampFile);

function sources() {
  const { include } = JSON.parse(fs.readFileSync(configFile, 'utf8'));
  const others = ['tsconfig.json', 'package.json', ...builders].map((name) => join(root, name));
  const folders = include.map((folder) => join(dirname(configFile), folder));
  if (hasPage) folders.push(sdk);
  return [configFile, ...others, ...folders.filter(fs.existsSync).flatMap(filesBelow)];
}

function hashOf(folder, files) {
  const hash = createHash('sha256');
  for (const file of files.filter(fs.existsSync).sort()) {
    const content = fs.readFileSync(file);
    hash.update(`${relative(folder, file)} ${content.length}\n`).update(content);
  }
  return hash.digest('hex');
}

/**
 * Compares the native files that the service may load with their recorded digests.
 *
 * @param outDir with the compiled modules
 * @returns {Promise<string[]>} a sentence for each file that differs
 */
async function changedNativeFiles(outDir) {
  const digests = join(outDir, 'server/http/uws-digests.js');
  const folder = join(root, 'node_modules/uws-pack');
  if (!isService || !fs.existsSync(digests) || !fs.existsSync(folder)) return [];
  const { digestFailure, recordedFiles } = await import(digests);
  const { version } = JSON.parse(fs.readFileSync(join(folder, 'package.json'), 'utf8'));
  const paths = recordedFiles.map((name) => join(folder, 'dist/bin', name)).filter(fs.existsSync);
  return paths.map((path) => digestFailure(`uws-pack ${version}`, path)).filter(Boolean);
}

function compile(project, outDir) {
  const args = [tsc, '--project', project, '--outDir', outDir];
  return spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' }).status ?? 1;
}

/** Its types are checked by `compile`, which emits nothing for it. */
async function bundlePage(outDir) {
  if (!hasPage) return;
  const esbuild = await import('esbuild');
  await esbuild.build({
    entryPoints: [join(page, 'main.tsx'), join(page, 'docs.ts')],
    outdir: join(outDir, relative(root, page)),
    bundle: true,
    format: 'esm',
    charset: 'utf8',
    minify: true,
    alias: { '@image-delivery/sdk': join(sdk, 'index.ts') },
    // The service checks what users enter.
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'warning',
  });
}

/** A terminal shows nothing else for this time; the output of a program that others read stays as it is. */
function announce() {
  const what = { service: 'the service', test: 'the tests', sdk: 'the SDK' }[target];
  const usually = isService ? ', which usually takes 10 to 40 s' : '';
  const why = fs.existsSync(stampFile) ? 'the sources or packages have changed' : 'once';
  process.stderr.write(`Compiling ${what}${usually} (${why}).\n`);
}

async function build(builtFrom) {
  announce();
  const begun = performance.now();
  const fresh = fs.mkdtempSync(join(root, freshPrefix));
  try {
    const status = compile(configFile, fresh) || (hasPage ? compile(page, fresh) : 0);
    if (status !== 0) return status;
    const changed = await changedNativeFiles(fresh);
    if (changed.length > 0) {
      process.stderr.write(`${changed.join('\n')}\n`);
      return 1;
    }
    await bundlePage(fresh);
    for (const file of sources().filter((name) => copiedFiles.test(name))) {
      const copy = join(fresh, relative(root, file));
      fs.mkdirSync(dirname(copy), { recursive: true });
      fs.copyFileSync(file, copy);
    }
    if (target !== 'sdk') {
      // A production installation has build.js without it.
      const { bundlePrograms, linkPrograms } = await import('./bundle.js');
      if (isService) await bundlePrograms(fresh);
      else linkPrograms(fresh, distName);
    }
    const built = outputs(fresh).map((file) => relative(fresh, file));
    const stamp = `${builtFrom} ${hashOf(fresh, outputs(fresh))}`;
    // One by one, so that a command that starts at the same time reads no partial file. Sorted, bundle/
    // comes before the files that import it.
    for (const file of built.sort()) {
      fs.mkdirSync(dirname(join(dist, file)), { recursive: true });
      fs.renameSync(join(fresh, file), join(dist, file));
    }
    for (const file of outputs(dist)) {
      if (!built.includes(relative(dist, file))) fs.rmSync(file, { force: true });
    }
    fs.writeFileSync(stampFile, stamp);
    process.stderr.write(`Compiled in ${Math.round((performance.now() - begun) / 1_000)} s.\n`);
    return 0;
  } finally {
    fs.rmSync(fresh, { recursive: true, force: true });
  }
}

/** Removes the folders of builds that were killed. */
function removeAbandoned() {
  for (const name of fs.readdirSync(root).filter((entry) => entry.startsWith(freshPrefix))) {
    const folder = join(root, name);
    const { mtimeMs = Date.now() } = fs.statSync(folder, { throwIfNoEntry: false }) ?? {};
    if (Date.now() - mtimeMs > abandonedMs) fs.rmSync(folder, { recursive: true, force: true });
  }
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
}

async function buildUnlessUpToDate() {
  fs.mkdirSync(dist, { recursive: true });
  const stamp = fs.existsSync(stampFile) ? fs.readFileSync(stampFile, 'utf8') : '';
  const [builtSources, builtPackages, builtOutput] = stamp.split(' ');
  const intact = builtOutput === hashOf(dist, outputs(dist));
  const canBuild = fs.existsSync(tsc);
  if (!canBuild && !intact) {
    fail('The service is not built, and TypeScript is not installed: npm ci && npm run build');
  } else if (canBuild || fs.existsSync(configFile)) {
    const from = hashOf(root, sources());
    // The compiled code is only for this V8.
    const packages = `${hashOf(root, [installedPackages])}-${process.versions.v8}`;
    const changed = !intact || builtSources !== from;
    if (!canBuild && changed) {
      fail('The sources have changed, and TypeScript is not installed: npm ci && npm run build');
    } else if (canBuild && (changed || builtPackages !== packages)) {
      removeAbandoned();
      process.exitCode = await build(`${from} ${packages}`);
    }
  }
}

const { engines } = JSON.parse(fs.readFileSync(join(root, 'package.json'), 'utf8'));
const required = engines?.node ?? '>=0.0';
const [major, minor] = required.slice(2).split('.').map(Number);
const [ownMajor, ownMinor] = process.versions.node.split('.').map(Number);
if (ownMajor > major || (ownMajor === major && ownMinor >= minor)) await buildUnlessUpToDate();
else
  fail(`This needs Node ${required}; this is Node ${process.versions.node}, ${process.execPath}.`);
