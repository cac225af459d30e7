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

/**
 * Builds dist/, or with the argument `test` dist-test/, which holds the tests too, unless it is up to
 * date with the sources; every npm command runs this first. A stamp file holds a hash of the sources
 * and of the output, so that an interrupted build, or one whose output another build has overwritten,
 * is repeated.
 *
 * `tsc --build` is not used: it compares modification times, so it misses a file that was restored
 * from a backup; it does not check its output; and it writes in place while another command may read.
 */
const root = import.meta.dirname;
const forTests = process.argv[2] === 'test';
const configFile = join(root, forTests ? 'test/tsconfig.json' : 'tsconfig.json');
const dist = join(root, forTests ? 'dist-test' : 'dist');
/** Modules for browsers, which have other types, and style sheets and pictures, which are copied. */
const page = 'server/console/page';
const stampFile = join(dist, '.built-from');
/** On the same file system as dist, so that files can be renamed, and at the same depth, so that the
 * relative paths of the source maps hold. */
const freshPrefix = '.dist-';
const abandonedMs = 60 * 60 * 1_000;

/** @param {string} folder */
const filesBelow = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'))
    .map((entry) => join(entry.parentPath, entry.name));

/** @param {string} folder */
const outputs = (folder) => filesBelow(folder).filter((file) => file !== stampFile);

function sources() {
  /** @type {{ include: string[] }} */
  const { include } = JSON.parse(readFileSync(configFile, 'utf8'));
  // The last is npm's own list of the installed packages.
  const others = ['tsconfig.json', 'package.json', 'node_modules/.package-lock.json'];
  return [
    configFile,
    ...include.flatMap((room) => filesBelow(join(dirname(configFile), room))),
    ...others.map((name) => join(root, name)).filter((file) => existsSync(file)),
  ];
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
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const args = [tsc, '--project', project, '--outDir', outDir];
  return spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' }).status ?? 1;
}

/** @param {string} outDir */
function buildPage(outDir) {
  const folder = join(root, page);
  if (!existsSync(folder)) return 0;
  const status = compile(folder, outDir);
  if (status !== 0) return status;
  for (const file of filesBelow(folder).filter((name) => /\.(?:css|svg)$/.test(name))) {
    copyFileSync(file, join(outDir, relative(root, file)));
  }
  return 0;
}

/** @param {string} builtFrom */
function build(builtFrom) {
  const fresh = mkdtempSync(join(root, freshPrefix));
  try {
    const status = compile(configFile, fresh) || buildPage(fresh);
    if (status !== 0) return status;
    const built = outputs(fresh).map((file) => relative(fresh, file));
    const stamp = `${builtFrom} ${hashOf(fresh, outputs(fresh))}`;
    // Renamed one by one, so that a command that starts at the same time reads no partial file.
    for (const file of built) {
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

mkdirSync(dist, { recursive: true });
const builtFrom = hashOf(root, sources());
const stamp = existsSync(stampFile) ? readFileSync(stampFile, 'utf8') : '';
if (stamp !== `${builtFrom} ${hashOf(dist, outputs(dist))}`) {
  removeAbandoned();
  process.exitCode = build(builtFrom);
}
