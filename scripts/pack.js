import * as fs from 'node:fs';
import { join } from 'node:path';
import { buildService, readJson, root, writeSdkTypes } from './build.js';

/** `prepack` of `npm pack` and `npm publish`: builds `dist/` anew, with the licences of the bundled packages. */

/** Returns the names of packages with modules in the bundles. */
export function bundledPackages({ inputs }) {
  const names = Object.keys(inputs).flatMap((path) => {
    const inside = path.split('node_modules/').slice(1).at(-1);
    return /^(?:@[^/]+\/)?[^/]+/.exec(inside ?? '') ?? [];
  });
  return [...new Set(names)].sort();
}

function readLicence(name) {
  const folder = join(root, 'node_modules', name);
  const { version, license } = readJson(`node_modules/${name}/package.json`);
  const files = fs.readdirSync(folder).filter((file) => /^(?:licen[cs]e|notice)/i.test(file));
  const texts = files.map((file) => fs.readFileSync(join(folder, file), 'utf8').trim());
  return [`${name} ${version} (${license})`, ...texts].join('\n\n');
}

async function prepare() {
  if (!fs.existsSync(join(root, 'node_modules/esbuild'))) {
    throw new Error('The package is built from a clone with all its packages: run npm ci.');
  }
  await writeSdkTypes();
  const names = bundledPackages(await buildService());
  const text = names.map(readLicence).join(`\n\n${'-'.repeat(78)}\n\n`);
  fs.writeFileSync(join(root, 'dist/THIRD-PARTY-LICENCES.txt'), `${text}\n`);
}

if (process.argv[1] === import.meta.filename) {
  await prepare().catch(({ message }) => {
    process.stderr.write(`${message}\n`);
    process.exitCode = 1;
  });
}
