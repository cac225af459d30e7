// @ts-check
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
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
 * Builds dist/ unless it holds what was built from the sources as they are; every command begins
 * with this. A stamp names the content of both, so that a build which was interrupted, or which
 * another overtook, does not count.
 *
 * `tsc --build` goes by the times of files, which do not tell of one that was restored, does not
 * look at its output, and writes where another command may be reading.
 */
const root = import.meta.dirname;
const dist = join(root, 'dist');
const stampFile = join(dist, '.built-from');
/** On the same file system as dist and as deep, for the sake of renaming and of source maps. */
const freshPrefix = '.dist-';
const abandonedMs = 60 * 60 * 1_000;

/** @param {string} folder */
const filesBelow = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

/** @param {string} folder */
const outputs = (folder) => filesBelow(folder).filter((file) => file !== stampFile);

function sources() {
  /** @type {{ include: string[] }} */
  const { include } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8'));
  // The last is npm's own record of what it has installed.
  const others = ['tsconfig.json', 'package.json', 'node_modules/.package-lock.json'];
  return [
    ...include.flatMap((room) => filesBelow(join(root, room))),
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

/** @param {string} builtFrom */
function build(builtFrom) {
  const fresh = mkdtempSync(join(root, freshPrefix));
  try {
    const args = [join(root, 'node_modules/typescript/bin/tsc'), '--outDir', fresh];
    const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
    if (status !== 0) return status ?? 1;
    const built = outputs(fresh).map((file) => relative(fresh, file));
    const stamp = `${builtFrom} ${hashOf(fresh, outputs(fresh))}`;
    // Each is replaced as a whole, so that a command that starts meanwhile reads none by half.
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

/** What builds that were killed have left. */
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
