import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { basename, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { buildService, readJson, root } from './build.js';
import { bundledPackages } from './pack.js';

/**
 * `npm run release -- 1.2.3 [--dry-run]` checks, sets the version, packs, writes an SBOM and
 * checksums, commits and tags. A dry run does not commit, and restores the files. It publishes
 * nothing: see docs/contributing/releasing.md.
 */

/** https://semver.org, without build metadata, which npm ignores. */
const semver =
  /^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;
/** Only releases use it, so `npm ci` does not install it. */
const typesChecker = '@arethetypeswrong/cli@0.18.5';

const { values, positionals } = parseArgs({
  options: { 'dry-run': { type: 'boolean', default: false } },
  allowPositionals: true,
});
const [version = ''] = positionals;
const dryRun = values['dry-run'];

const allPackages = ['--workspaces', '--include-workspace-root'];
const say = (text) => process.stdout.write(`\n==> ${text}\n`);

/** Runs a program and shows its output unless it is returned. @throws if the program fails */
function run(name, args, stdio = 'inherit') {
  const options = { cwd: root, stdio, encoding: 'utf8', maxBuffer: 64 * 2 ** 20 };
  const result = spawnSync(name, args, options);
  if (result.status === 0) return result.stdout?.trim();
  const reason = result.error?.message ?? result.stderr?.trim() ?? `it ended with ${result.status}`;
  throw new Error(`${[name, ...args].join(' ')}: ${reason}`);
}
const readOutput = (name, args) => run(name, args, 'pipe');
const git = (...args) => readOutput('git', args);

/** Returns the reason that prevents a release, or null. */
function refusal() {
  if (!semver.test(version)) return `${version} is not a version such as 1.2.3 or 1.3.0-rc.1`;
  if (git('status', '--porcelain') !== '')
    return 'the working tree has changes: commit or stash them';
  if (git('tag', '--list', `v${version}`) !== '') return `the tag v${version} exists`;
  // The tags decide whether a pre-release of the same version, such as 1.3.0-rc.1, precedes it.
  const present = readJson('package.json').version;
  const [next, last] = [version, present].map((text) => text.split('-')[0]);
  const precedes = next.localeCompare(last, 'en', { numeric: true }) < 0;
  return precedes ? `${version} precedes the present version, ${present}` : null;
}

const unreleased = /^## \[?Unreleased\]?\n/m;

/** Moves unreleased entries below the release's heading. */
const moveUnreleased = (text, title) => {
  const [, after = ''] = text.split(unreleased);
  if (after.split(/^## /m)[0].trim() === '') return text;
  return text.replace(
    unreleased,
    (line) => `${line}\n## ${title} - ${new Date().toISOString().slice(0, 10)}\n`,
  );
};
const replaceTags = (text) =>
  text.replaceAll(/(?<=\bimage-delivery:)\d+\.\d+\.\d+[^\s`]*/g, version);

/**
 * Files that contain the version, in addition to the manifests and lock file, which npm changes.
 */
const changes = {
  'docs/deploy/helm/image-delivery/Chart.yaml': (text) =>
    text.replaceAll(/^((?:v|appV)ersion: )\S+/gm, `$1${version}`),
  'docs/install.md': replaceTags,
  'docs/kubernetes.md': replaceTags,
  Dockerfile: replaceTags,
  'compose.yaml': replaceTags,
  'CHANGELOG.md': (text) => moveUnreleased(text, `[${version}]`),
  'sdk/CHANGELOG.md': (text) => moveUnreleased(text, version),
};
const manifests = ['package.json', 'sdk/package.json', 'urls/package.json', 'package-lock.json'];
const changedFiles = [...Object.keys(changes), ...manifests];

function setVersion() {
  for (const [path, change] of Object.entries(changes)) {
    const text = fs.readFileSync(join(root, path), 'utf8');
    const changed = change(text);
    if (changed === text && path !== 'sdk/CHANGELOG.md')
      throw new Error(`${path}: nothing to change`);
    fs.writeFileSync(join(root, path), changed);
  }
  const options = ['--no-git-tag-version', '--allow-same-version', '--no-workspaces-update'];
  readOutput('npm', ['version', version, ...options, ...allPackages]);
  readOutput('npm', ['install', '--package-lock-only', '--no-audit', '--no-fund']);
}

/** The notes of the release: its part of the changelog. */
function notes() {
  const text = fs.readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  const [, part = ''] = text.split(`\n## [${version}]`);
  return `${part.split('\n').slice(1).join('\n').split(/\n## /)[0].trim()}\n`;
}

/** Writes the packages that the service consists of, installed with it or bundled, as CycloneDX. */
function writeSbom(file, bundled) {
  const read = (...more) => {
    const options = ['--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only'];
    return JSON.parse(readOutput('npm', ['sbom', ...options, ...more]));
  };
  const [all, sbom] = [read(), read('--omit=dev')];
  const refs = new Set(sbom.components.map((part) => part['bom-ref']));
  const isBundled = ({ purl = '' }) =>
    bundled.includes(decodeURIComponent(purl.replace(/^pkg:npm\/|@[^@/]*$/g, '')));
  const added = all.components.filter((part) => isBundled(part) && !refs.has(part['bom-ref']));
  for (const { 'bom-ref': ref } of added) refs.add(ref);
  sbom.components.push(...added);
  sbom.dependencies = all.dependencies
    .filter(({ ref }) => refs.has(ref) || ref === all.metadata.component['bom-ref'])
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((id) => refs.has(id)) }));
  fs.writeFileSync(file, `${JSON.stringify(sbom, null, 2)}\n`);
}

/** @returns the folder with the published files, and its tarballs */
async function assemble() {
  const folder = join(root, 'packages', version);
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { recursive: true });
  run('npm', ['pack', ...allPackages, '--pack-destination', folder]);
  const tarballs = fs.readdirSync(folder).map((name) => join(folder, name));
  const typed = tarballs.filter((path) => /-(?:sdk|urls)-/.test(path));
  for (const path of ['.', 'sdk', 'urls']) run('npx', ['publint', '--strict', path]);
  for (const path of typed) {
    const args = ['exec', '--yes', `--package=${typesChecker}`, '--', 'attw', path];
    const profile = /-sdk-/.test(path) ? 'node16' : 'esm-only';
    run('npm', [...args, '--profile', profile, '--no-emoji']);
  }
  const sbom = join(folder, `image-delivery-${version}.cdx.json`);
  writeSbom(sbom, bundledPackages(await buildService()));
  fs.writeFileSync(join(folder, 'NOTES.md'), notes());
  const sums = [...tarballs, sbom].map((path) => {
    const digest = createHash('sha256').update(fs.readFileSync(path)).digest('hex');
    return `${digest}  ${basename(path)}\n`;
  });
  // As `sha256sum --check` reads them.
  fs.writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''));
  return { folder, tarballs, sbom };
}

function printNext({ folder, tarballs, sbom }) {
  const tag = version.includes('-') ? ' --tag next' : '';
  const publish = tarballs.map(
    (path) => `  npm publish ${relative(root, path)} --access public${tag}`,
  );
  process.stdout.write(`
${relative(root, folder)}/ has the packages, ${basename(sbom)}, SHA256SUMS and NOTES.md. Next steps:

  git push origin HEAD v${version}
${publish.join('\n')}
  docker build --tag REGISTRY/image-delivery:${version} . && docker push REGISTRY/image-delivery:${version}

and a release of the tag, with NOTES.md as its text and the other files attached.
`);
}

async function release() {
  const reason = refusal();
  if (reason !== null) throw new Error(reason);
  // Ctrl-C ends the running program, and the release script restores the files.
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {});
  let complete = false;
  try {
    setVersion();
    run('npm', ['test']);
    run('npm', ['run', 'test:more', '--', 'package']);
    const assembled = await assemble();
    if (!dryRun) {
      git('commit', '--message', `Release ${version}`, '--', ...changedFiles);
      git('tag', '--annotate', `v${version}`, '--message', `Version ${version}`);
    }
    complete = !dryRun;
    printNext(assembled);
    if (dryRun) say('this was a dry run: nothing is committed or tagged');
  } finally {
    if (!complete) git('checkout', '--', ...changedFiles);
  }
}

await release().catch((error) => {
  process.stderr.write(`\nNo release: ${error.message}\n`);
  process.exitCode = 1;
});
