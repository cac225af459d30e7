import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import t from 'tap';
import { sourceFormats } from '../pool/formats/source-formats.ts';
import { outputFormats } from '../pool/rendering/encode/encodings.ts';
import { rootPath as root } from './root.ts';

/** Top-level folders, with the other folders or single files that each can import from. */
const folders: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  server: ['contract', 'pool', 'store', 'urls'],
  worker: ['contract', 'pool', 'store'],
  pool: ['contract'],
  store: ['contract'],
  urls: [],
  demo: ['contract', 'server', 'pool', 'store', 'urls'],
  bench: ['contract', 'server', 'pool', 'store', 'urls', 'demo'],
  sdk: [],
  // It writes the SDK's types from the tables.
  scripts: ['contract', 'pool', 'server'],
  bin: [],
  test: ['contract', 'server', 'pool', 'store', 'worker', 'demo', 'bench', 'sdk', 'urls'],
};
/** Created by builds and runs. */
const generated = new Set(['node_modules', 'dist', 'dist-test', 'data', 'packages']);
const topLevelFiles = new Set([
  'package.json',
  'package-lock.json',
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'LICENSE',
  'SECURITY.md',
  'Dockerfile',
  'compose.yaml',
  'tsconfig.json',
  'biome.json',
]);
const vagueNames = /^(utils?|utilit(y|ies)|helpers?|commons?|libs?|misc|shared|stuff)$/i;

interface Import {
  readonly from: string;
  /** A path from the root if `isInternal`, otherwise a package. */
  readonly to: string;
  readonly isInternal: boolean;
}

/** Returns the specifiers of all static, dynamic and type imports outside comments. */
function specifiers(source: string): string[] {
  const token = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/g;
  const text = source.replace(token, (found) => (/^\/[*/]/.test(found) ? ' ' : found));
  const patterns = [
    /^[ \t]*(?:import|export)\b[^'"`;]*?\bfrom\s*['"]([^'"\n]+)['"]/gm,
    /^[ \t]*import\s*['"]([^'"\n]+)['"]/gm,
    /\b(?:import|require)\(\s*['"]([^'"\n]+)['"]/g,
  ];
  return patterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([, name = '']) => name));
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((path) => !path.split('/').includes('node_modules'));
}

async function readImports(from: string): Promise<Import[]> {
  return specifiers(await readFile(join(root, from), 'utf8')).map((specifier) => {
    const isInternal = specifier.startsWith('.');
    return { from, to: isInternal ? join(dirname(from), specifier) : specifier, isInternal };
  });
}

type Edge = readonly [from: string, to: string];

/** Returns the first cycle, such as `a -> b -> a`, or null. */
function cycle(edges: readonly Edge[]): string | null {
  const done = new Set<string>();
  const follow = (file: string, path: readonly string[]): string | null => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file].join(' -> ');
    if (done.has(file)) return null;
    for (const [from, to] of edges) {
      const found = from === file ? follow(to, [...path, file]) : null;
      if (found !== null) return found;
    }
    done.add(file);
    return null;
  };
  for (const [from] of edges) {
    const found = follow(from, []);
    if (found !== null) return found;
  }
  return null;
}

const files = (await Promise.all(Object.keys(folders).map(filesBelow)))
  .flat()
  .filter((path) => !/^(?:urls\/dist|sdk\/(examples\/[^/]+\/)?(dist|\.\w+))\//.test(path));
const sources = files.filter((path) => /\.[cm]?[jt]sx?$/.test(path));
const imports = (await Promise.all(sources.map(readImports))).flat();
const edges = imports
  .filter(({ isInternal }) => isInternal)
  .map(({ from, to }): Edge => [from, to]);

t.test('finds imports of every kind outside comments and strings', async (t) => {
  // Use @ as a placeholder, because the scan reads this file too.
  const source = [
    `import a, { type B } from '@/a.ts';`,
    `import type { C } from '@/c.ts';`,
    `import type from '@/d.ts';`,
    `import {\n  e,\n} from "@/e.ts";`,
    `export * from '@/f.ts';`,
    `export type { G } from '@/g.ts';`,
    `import '@/h.ts';`,
    `const i = await import('@/i.ts');`,
    `type J = typeof import('@/j.ts');`,
    `import * as k from '@/k.ts'; // import l from '@/l.ts'`,
    `/* import m from '@/m.ts' */ const n = "import o from '@/o.ts'";`,
  ];
  const seen = specifiers(source.join('\n').replaceAll('@/', './')).map((match) => match[2]);
  t.same(seen.sort(), ['a', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k']);
  const graph: Edge[] = [
    ['a', 'b'],
    ['b', 'c'],
    ['c', 'b'],
  ];
  t.equal(cycle(graph), 'b -> c -> b');
  t.ok(imports.length > 100, `${imports.length} imports`);
});

const page = 'server/console/page/';
const layers = ['pool/formats/', 'pool/rendering/', 'pool/execution/'];
const layerIndex = (path: string) => layers.findIndex((layer) => path.startsWith(layer));
const topFolder = (path: string): string => path.split('/')[0] ?? '';

const formatFolder = /^(pool\/formats\/\w+\/)format\.ts$/;
const formatFolders = sources.flatMap((path) => formatFolder.exec(path)?.[1] ?? []);
const isOfFormat = (path: string) => formatFolders.some((folder) => path.startsWith(folder));
const listOfFormats = 'pool/formats/source-formats.ts';
/** Output encoders, which also write PNG. */
const encoders = 'pool/rendering/encode/';

const rules: Readonly<Record<string, (from: string, to: string) => boolean>> = {
  'a top-level folder imports only from the folders that it may use': (from, to) =>
    [topFolder(from), ...(folders[topFolder(from)] ?? [])].some(
      (name) => name === topFolder(to) || name === to,
    ),
  'in pool, formats do not import rendering, and rendering does not import execution': (from, to) =>
    layerIndex(from) === -1 || layerIndex(to) <= layerIndex(from),
  'of pool, the worker imports only what guards its requests': (from, to) =>
    !(from.startsWith('worker/') && to.startsWith('pool/')) ||
    /^pool\/source\/(connect|guard|metered-client|response-headers)\.ts$/.test(to),
  'only source formats, their list, output encoders and tests import a source format': (from, to) =>
    !isOfFormat(to) ||
    isOfFormat(from) ||
    from === listOfFormats ||
    from.startsWith(encoders) ||
    from.startsWith('test/'),
  'only store/ and the tests of the embedded store import it': (from, to) =>
    !to.startsWith('store/embedded/') || /^(store|test\/store\/embedded)\//.test(from),
  'the page for browsers imports only its own files, which only tests import': (from, to) =>
    from.startsWith(page) === to.startsWith(page) || from.startsWith('test/'),
};
for (const [rule, isAllowed] of Object.entries(rules)) {
  t.test(rule, async (t) => {
    for (const [from, to] of edges) if (!isAllowed(from, to)) t.fail(`${from} imports ${to}`);
  });
}

/** Files that name output formats, most of which are source formats too. */
const filesWithOutputs = new Set([
  'contract/image-terms.ts',
  'pool/producer.ts',
  'pool/rendering/format.ts',
  'pool/rendering/gain-map.ts',
  'pool/rendering/layer.ts',
  'server/control/resources/prewarms.ts',
  'server/image/parameters.ts',
  'server/image/resolve-variant.ts',
]);

t.test('names no source format in code outside the format folders', async (t) => {
  t.equal(formatFolders.length, sourceFormats.length);
  const outputs: readonly string[] = outputFormats;
  const named = (formats: readonly { name: string; extensions: readonly string[] }[]) => {
    const names = formats.flatMap(({ name, extensions }) => [name, ...extensions]);
    return new RegExp(`['"](?:${names.join('|')})['"]`);
  };
  const onlySource = named(sourceFormats.filter(({ name }) => !outputs.includes(name)));
  const any = named(sourceFormats);
  for (const path of sources) {
    if (!/^(contract|pool|server|store|worker)\//.test(path) || path.startsWith(page)) continue;
    if (/^pool\/formats\/\w+\//.test(path) || path.startsWith(encoders)) continue;
    const text = await readFile(join(root, path), 'utf8');
    t.notMatch(text, filesWithOutputs.has(path) ? onlySource : any, path);
  }
});

/** Returns the modules loaded before an entry runs; modules of packages by name. */
async function loadedBefore(entry: string): Promise<ReadonlySet<string>> {
  const loaded = new Set([entry]);
  for (const from of loaded) {
    if (!from.endsWith('.ts')) continue;
    const text = await readFile(join(root, from), 'utf8');
    const statements = /^(?:import|export)\b(?! type\b)(?:[^'";]*?\bfrom)? '([^']+)'/gm;
    for (const [, to = ''] of text.matchAll(statements)) {
      loaded.add(to.startsWith('.') ? join(dirname(from), to) : to);
    }
  }
  return loaded;
}

t.test('forks the front ends before the primary loads the MongoDB driver', async (t) => {
  t.ok((await loadedBefore('server/primary-store.ts')).has('mongodb'));
  t.notOk((await loadedBefore('server/main.ts')).has('mongodb'));
});

t.test('loads sharp only in front ends and renderers', async (t) => {
  t.ok((await loadedBefore('server/front-end-main.ts')).has('sharp'));
  for (const program of ['server/main', 'server/admin/main', 'worker/main', 'server/local/main']) {
    t.notOk((await loadedBefore(`${program}.ts`)).has('sharp'), program);
  }
});

t.test('contains no import cycles, including type imports', async (t) => {
  t.equal(cycle(edges), null);
});

t.test('imports between the folders of server in one direction', async (t) => {
  const serverFolder = (path: string) => /^server\/(\w+)\/./.exec(path)?.[1] ?? '';
  const between = edges
    .map(([from, to]): Edge => [serverFolder(from), serverFolder(to)])
    .filter(([from, to]) => from !== '' && to !== '' && from !== to);
  t.equal(cycle(between), null);
  t.ok(between.length > 20, `${between.length} imports between folders`);
});

/** Returns the external imports of the built programs. */
async function externalImports(): Promise<string[]> {
  const { programOptions } = await import(pathToFileURL(join(root, 'scripts/build.js')).href);
  const { metafile } = await build({ ...programOptions, metafile: true, write: false });
  const imports = Object.values(metafile?.outputs ?? {}).flatMap((output) => output.imports);
  return imports.flatMap(({ path, external }) => (external && !isBuiltin(path) ? [path] : []));
}

t.test('depends on every package that the built programs load', async (t) => {
  const { dependencies, devDependencies } = JSON.parse(
    await readFile(join(root, 'package.json'), 'utf8'),
  );
  const packageName = (specifier: string) => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? '';
  const imported = await externalImports();
  t.ok(imported.includes('sharp'));
  // The import can name a style sheet, for example.
  const resolved =
    /(?:resolve|moduleOf|createRequire\(import\.meta\.url\))\(\s*'([^'./][^']*)'|(?<!\b(?:from|import) ?\(?\s*)'([^'./]+\/[^']*\.(?:css|js|wasm))'/g;
  for (const path of sources.filter((source) =>
    /^(?:server|pool|store|worker|demo)\//.test(source),
  )) {
    if (path.startsWith(page) || path.endsWith('.d.ts')) continue;
    const text = await readFile(join(root, path), 'utf8');
    for (const [, specifier, other = ''] of text.matchAll(resolved))
      imported.push(specifier ?? other);
  }
  for (const name of new Set(imported.map(packageName))) {
    // The MongoDB driver tries to load some packages that are not installed.
    const isInstalled = existsSync(join(root, 'node_modules', name));
    if (isInstalled) t.ok(name in dependencies, name);
  }
  // npm does not install the optional peers of a package, such as the web framework of a plug-in.
  for (const name of Object.keys(dependencies)) {
    const folder = join(root, 'node_modules', name);
    const files = (await readdir(folder, { recursive: true })).filter((path) =>
      /\.[cm]?js$/.test(path),
    );
    const { peerDependencies = {} } = JSON.parse(
      await readFile(join(folder, 'package.json'), 'utf8'),
    );
    const bundled = Object.keys(peerDependencies).filter((peer) => peer in devDependencies);
    for (const file of bundled.length > 0 ? files : []) {
      const loaded = specifiers(await readFile(join(folder, file), 'utf8')).map(packageName);
      for (const peer of bundled) t.notOk(loaded.includes(peer), `${name}/${file} loads ${peer}`);
    }
  }
});

t.test('runs no install script of a package', async (t) => {
  const read = async (name: string) => JSON.parse(await readFile(join(root, name), 'utf8'));
  const { packages } = await read('package-lock.json');
  const paths = Object.keys(packages).filter((path) => packages[path].hasInstallScript);
  // Older npm versions run these scripts. No script compiles or downloads on the supported systems.
  const { allowScripts } = await read('package.json');
  t.same(
    Object.keys(allowScripts),
    paths.map((path) => path.replace(/^.*node_modules\//, '')),
  );
  t.same(new Set(Object.values(allowScripts)), new Set([false]));
});

t.test('imports certain packages only in certain files', async (t) => {
  const packages = imports.filter(({ isInternal }) => !isInternal);
  const uws = packages.filter(({ to }) => /uws|uwebsockets/i.test(to)).map(({ from }) => from);
  t.same(new Set(uws), new Set(['server/http/uws-library.ts', 'server/http/uws-server.ts']));
  const telemetry = packages.filter(({ to }) => to.startsWith('@opentelemetry/'));
  const exporters = [
    'contract/otlp/exporter.ts',
    'contract/otlp/metrics.ts',
    'server/telemetry/otlp.ts',
  ];
  t.same(new Set(telemetry.map(({ from }) => from)), new Set(exporters));
  for (const [from] of edges.filter(([, to]) => exporters.includes(to))) {
    if (exporters.includes(from)) continue;
    const text = await readFile(join(root, from), 'utf8');
    t.notMatch(
      text,
      /^import \{[^}]*\} from '.*(?:otlp|otlp\/metrics|otlp\/exporter)\.ts'/m,
      `${from} loads it late`,
    );
  }
  for (const { from, to } of packages.filter((imported) => imported.from.startsWith(page))) {
    // Its imports of packages are in the code examples that it makes.
    if (from === `${page}playground/snippets.ts`) continue;
    t.match(to, /^(preact(\/|$)|@image-delivery\/sdk(\/client)?$)/, from);
  }
  const ofSdk = packages.filter(
    // This entry fails browser builds on purpose, by importing a missing file.
    ({ from, to }) => to.startsWith('@image-delivery/sdk') && from !== 'sdk/src/sign/browser.ts',
  );
  t.ok(ofSdk.some(({ from }) => from.startsWith(page)));
  // This file imports what does not exist.
  for (const { from } of ofSdk)
    if (from !== 'sdk/src/sign/browser.ts')
      t.match(from, /^(server\/console\/page|sdk\/examples|test)\//, from);
});

t.test('derives file paths with fileURLToPath, because URLs encode blanks', async (t) => {
  const path = /(?:import\.meta\.url|\broot)\)\.pathname\b/;
  for (const file of sources) t.notMatch(await readFile(join(root, file), 'utf8'), path, file);
});

t.test('contains only known folders and files in the root, and specific names', async (t) => {
  for (const entry of await readdir(root, { withFileTypes: true })) {
    const { name } = entry;
    if (name.startsWith('.') || generated.has(name) || name.endsWith('.log')) continue;
    const known = entry.isDirectory()
      ? name in folders || name === 'docs'
      : topLevelFiles.has(name);
    t.ok(known, name);
  }
  for (const path of files) {
    const vague = path.split('/').some((part) => vagueNames.test(part.replace(/\..*$/, '')));
    if (vague) t.fail(path);
  }
});
