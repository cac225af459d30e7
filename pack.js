import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { basename, dirname, extname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { packagesFile, programs } from './bundle.js';

/**
 * Builds the packages `image-delivery` and `@image-delivery/sdk`, puts their files in `packages/`, and packs them.
 * The manifests of the clone have no version, without which npm packs and publishes nothing: only what this program
 * has assembled can be published.
 *
 *     node pack.js [image-delivery] [sdk] [--destination FOLDER]
 *
 * It prints the paths of the tarballs.
 */
const root = import.meta.dirname;
const packages = join(root, 'packages');
const keywords = ['image', 'images', 'resize', 'thumbnail', 'webp', 'avif', 'srcset', 'cdn'];
/** Fields of the root's manifest that both packages have; those about the repository are the publisher's. */
const sharedFields = ['license', 'author', 'repository', 'homepage', 'bugs'];

const readJson = (path) => JSON.parse(fs.readFileSync(join(root, path), 'utf8'));
const writeJson = (path, value) => fs.writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
const manifest = readJson('package.json');

/** The entry of a program, which runs its bundle. */
const isProgram = (path) =>
  programs.some((name) => path === `${name}.js` || path === `${name}.cjs`);

export function version() {
  const source = fs.readFileSync(join(root, 'contract/version.ts'), 'utf8');
  return /^export const version = '([^']+)';$/m.exec(source)[1];
}

function run(command, args, cwd = root) {
  const { status, stdout, error } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? status}`);
  return stdout;
}

/** An empty folder with the licence, and the manifest that npm publishes. */
function begin(name, fields) {
  const folder = join(packages, name);
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { recursive: true });
  fs.copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  const shared = sharedFields.filter((field) => field in manifest);
  writeJson(join(folder, 'package.json'), {
    ...fields,
    ...Object.fromEntries(shared.map((field) => [field, manifest[field]])),
    keywords,
  });
  return folder;
}

/** Copies the files of a folder whose paths are taken. */
function copy(from, to, takes) {
  for (const entry of fs.readdirSync(from, { recursive: true, withFileTypes: true })) {
    const path = relative(from, join(entry.parentPath, entry.name));
    if (!entry.isFile() || !takes(path)) continue;
    fs.mkdirSync(join(to, path, '..'), { recursive: true });
    fs.copyFileSync(join(from, path), join(to, path));
  }
}

/** Replaces links to files that the package does not contain by their texts. */
function removeDeadLinks(folder) {
  const pages = fs.readdirSync(folder, { recursive: true }).filter((path) => path.endsWith('.md'));
  for (const page of pages.map((path) => join(folder, path))) {
    const exists = (link) => fs.existsSync(join(dirname(page), link.replace(/#.*$/, '')));
    const text = fs.readFileSync(page, 'utf8');
    const links = /!?\[([^\]]*)\]\((?!https?:|#)([^)\s]*)\)/g;
    fs.writeFileSync(
      page,
      text.replaceAll(links, (whole, words, link) => (exists(link) ? whole : words)),
    );
  }
}

/** The licences of the packages whose modules are in the bundles. */
function licences(names) {
  const texts = names.map((name) => {
    const folder = join(root, 'node_modules', name);
    const { version: its, license } = readJson(`node_modules/${name}/package.json`);
    const files = fs.readdirSync(folder).filter((file) => /^(?:licen[cs]e|notice)/i.test(file));
    const text = files.map((file) => fs.readFileSync(join(folder, file), 'utf8').trim());
    return [`${name} ${its} (${license})`, ...text].join('\n\n');
  });
  return `${texts.join(`\n\n${'-'.repeat(78)}\n\n`)}\n`;
}

/** What the programs of the package need of `dist/`: no source maps, no code of V8, no modules that are bundled. */
function isProgramFile(path) {
  if (path === 'contract/version.js' || isProgram(path)) return true;
  if (path.startsWith('bundle/')) return /\.(?:cjs|txt)$/.test(path);
  if (path.startsWith('server/console/page/')) return extname(path) !== '.map';
  if (path.startsWith('demo/origin/pictures/')) return true;
  return false;
}

function assembleService() {
  run(process.execPath, ['build.js']);
  const { loaded, bundled } = readJson(join('dist/bundle', packagesFile));
  const dependencies = Object.fromEntries(
    loaded.map((name) => [name, manifest.dependencies[name]]),
  );
  const { description, engines } = manifest;
  const folder = begin('image-delivery', {
    name: 'image-delivery',
    version: version(),
    description,
    type: 'module',
    bin: { 'image-delivery': 'cli.js' },
    exports: { './package.json': './package.json' },
    engines,
    os: ['linux', 'darwin'],
    dependencies,
    // Its binaries of all platforms have 133 MB. Without it, Node's own HTTP server answers.
    peerDependencies: { 'uws-pack': manifest.dependencies['uws-pack'] },
    peerDependenciesMeta: { 'uws-pack': { optional: true } },
  });
  fs.copyFileSync(join(root, 'cli.js'), join(folder, 'cli.js'));
  fs.chmodSync(join(folder, 'cli.js'), 0o755);
  copy(join(root, 'dist'), join(folder, 'dist'), isProgramFile);
  for (const page of ['README.md', 'CHANGELOG.md', 'SECURITY.md']) {
    fs.copyFileSync(join(root, page), join(folder, page));
  }
  fs.cpSync(join(root, 'docs'), join(folder, 'docs'), { recursive: true });
  removeDeadLinks(folder);
  fs.writeFileSync(join(folder, 'THIRD-PARTY-LICENCES.txt'), licences(bundled));
  return folder;
}

function assembleSdk() {
  run(process.execPath, ['build.js', 'sdk']);
  const { scripts: _, ...fields } = readJson('sdk/package.json');
  const folder = begin('sdk', { name: fields.name, version: version(), ...fields });
  const isCode = (path) => /\.(?:js|d\.ts)$/.test(path);
  copy(join(root, 'sdk/dist'), join(folder, 'dist'), isCode);
  for (const page of ['README.md', 'CHANGELOG.md']) {
    fs.copyFileSync(join(root, 'sdk', page), join(folder, page));
  }
  removeDeadLinks(folder);
  return folder;
}

const assembled = { 'image-delivery': assembleService, sdk: assembleSdk };

/**
 * Assembles and packs packages.
 *
 * @param {readonly string[]} names
 * @param {string} destination the folder of the tarballs
 * @returns {string[]} their paths
 */
export function pack(names, destination) {
  fs.mkdirSync(destination, { recursive: true });
  return names.map((name) => {
    const folder = assembled[name]();
    const args = ['pack', '--json', '--offline', '--pack-destination', destination];
    const [{ filename }] = JSON.parse(run('npm', args, folder));
    return join(destination, basename(filename));
  });
}

function main() {
  const { values, positionals } = parseArgs({
    options: { destination: { type: 'string', default: packages } },
    allowPositionals: true,
  });
  const names = positionals.length > 0 ? positionals : Object.keys(assembled);
  const unknown = names.filter((name) => !Object.hasOwn(assembled, name));
  if (unknown.length > 0) throw new Error(`unknown packages: ${unknown.join(', ')}`);
  process.stdout.write(`${pack(names, values.destination).join('\n')}\n`);
}

if (process.argv[1] === import.meta.filename) main();
