import { rmSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { Command } from 'commander';
import { pack, version as presentVersion } from '../pack.js';
import { buildImage, checkTypes, lintPackages, tryPackage } from './check.js';
import { notesOf, setVersion } from './files.js';
import { writeChecksums, writeSbom } from './records.js';
import { outputOf, root, run, say, succeeds } from './run.js';

/** `npm run release`: see docs/releasing.md. */

/** https://semver.org, without build metadata, which npm ignores. */
const semver =
  /^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;

const command = new Command('npm run release --')
  .description(
    'Makes a release: checks, sets the version, packs, writes an SBOM and checksums, commits and tags. It publishes nothing.',
  )
  .argument('<version>', 'such as 1.2.3 or 1.3.0-rc.1')
  .option('--dry-run', 'everything but the commit and the tag; the changed files are restored')
  .parse();
const [version = ''] = command.args;
const { dryRun = false } = command.opts();

const git = (...args) => outputOf('git', args);

/** The reason why there can be no release now, or null. */
function refusal() {
  if (!semver.test(version)) return `${version} is not a version such as 1.2.3 or 1.3.0-rc.1`;
  if (git('status', '--porcelain') !== '')
    return 'the working tree has changes: commit or stash them';
  if (succeeds('git', ['rev-parse', '--quiet', '--verify', `refs/tags/v${version}`]))
    return `the tag v${version} exists`;
  // Of what precedes the same version, such as 1.3.0-rc.1, the tags tell.
  const numbersOf = (text) => text.split('-')[0];
  const [next, present] = [version, presentVersion()].map(numbersOf);
  const precedes = next.localeCompare(present, 'en', { numeric: true }) < 0;
  return precedes ? `${version} precedes the present version, ${presentVersion()}` : null;
}

function test() {
  say('running the tests, and those of the packages');
  run('npm', ['test']);
  run('npm', ['run', 'test:more', '--', 'package']);
}

/** @returns the folder with what is published */
async function assemble() {
  const folder = join(root, 'packages', version);
  rmSync(folder, { recursive: true, force: true });
  say('building and packing');
  const tarballs = pack(['image-delivery', 'sdk'], folder);
  const [service, sdk] = tarballs;
  await lintPackages();
  checkTypes(sdk);
  await tryPackage(service, version);
  buildImage(version);
  const sbom = join(folder, `image-delivery-${version}.cdx.json`);
  writeSbom(sbom, version);
  const notes = join(folder, 'NOTES.md');
  writeFileSync(notes, notesOf(version));
  writeChecksums(join(folder, 'SHA256SUMS'), [...tarballs, sbom]);
  return { folder, tarballs, sbom };
}

function printNext({ folder, tarballs, sbom }) {
  const here = relative(root, folder);
  const publish = tarballs.map((path) => {
    const tag = version.includes('-') ? ' --tag next' : '';
    return `  npm publish ${relative(root, path)} --access public${tag}`;
  });
  process.stdout.write(`
${here}/ has the packages, ${basename(sbom)}, SHA256SUMS and NOTES.md. What a person does now:

  git push origin HEAD v${version}
${publish.join('\n')}
  docker build --tag REGISTRY/image-delivery:${version} . && docker push REGISTRY/image-delivery:${version}

and a release of the tag, with NOTES.md as its text and the other files attached.
`);
}

async function release() {
  const reason = refusal();
  if (reason !== null) throw new Error(reason);
  const changed = setVersion(version, new Date().toISOString().slice(0, 10));
  // Ctrl-C ends the program that runs, and the files are restored.
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {});
  let complete = false;
  try {
    test();
    const assembled = await assemble();
    if (!dryRun) {
      git('commit', '--message', `Release ${version}`, '--', ...changed);
      git('tag', '--annotate', `v${version}`, '--message', `Version ${version}`);
    }
    complete = !dryRun;
    printNext(assembled);
    if (dryRun) say('this was a dry run: nothing is committed or tagged');
  } finally {
    if (!complete) git('checkout', '--', ...changed);
  }
}

await release().catch((error) => {
  process.stderr.write(`\nNo release: ${error.message}\n`);
  process.exitCode = 1;
});
