import { readdir, readFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { dirname, join, relative } from 'node:path';
import t from 'tap';
import { rootPath as root } from './root.ts';

/** The rooms, and the others that each may import from. */
const rooms: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  server: ['contract', 'pool', 'store'],
  worker: ['contract', 'store'],
  pool: ['contract'],
  store: ['contract'],
  bench: ['contract', 'server', 'pool', 'store', 'worker'],
  test: ['contract', 'server', 'pool', 'store', 'worker', 'bench'],
};
/** What a build or a run leaves behind; none of it is part of the house. */
const leftBehind = new Set(['node_modules', 'dist', 'dist-test', 'data']);
const topLevelFiles = new Set([
  'package.json',
  'package-lock.json',
  'build.js',
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
const drawers = /^(utils?|utilit(y|ies)|helpers?|commons?|libs?|misc|shared|stuff)$/i;

interface Import {
  readonly from: string;
  /** A path from the root for files of ours, else the name of a package. */
  readonly to: string;
  readonly ours: boolean;
}

/** Source text with comments blanked, so that what they quote is no import. */
function withoutComments(source: string): string {
  const token = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/g;
  return source.replace(token, (found) => (/^\/[*/]/.test(found) ? ' ' : found));
}

/** The specifiers of every import in a source text, whether static, dynamic or for types. */
function specifiers(source: string): string[] {
  const text = withoutComments(source);
  const patterns = [
    /^[ \t]*(?:import|export)\b[^'"`;]*?\bfrom\s*['"]([^'"\n]+)['"]/gm,
    /^[ \t]*import\s*['"]([^'"\n]+)['"]/gm,
    /\bimport\(\s*['"]([^'"\n]+)['"]/g,
    /\brequire\(\s*['"]([^'"\n]+)['"]/g,
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

async function importsOf(from: string): Promise<Import[]> {
  const source = await readFile(join(root, from), 'utf8');
  return specifiers(source).map((specifier) => {
    const ours = specifier.startsWith('.');
    const to = ours ? join(dirname(from), specifier) : specifier;
    return { from, to, ours };
  });
}

const roomOf = (path: string): string => path.split('/')[0] ?? '';

/** The first circle that following imports leads into, those of types included, or null. */
function circle(imports: readonly Import[]): string[] | null {
  const next = new Map<string, string[]>();
  for (const { from, to, ours } of imports) {
    if (ours) next.set(from, [...(next.get(from) ?? []), to]);
  }
  const done = new Set<string>();
  const follow = (file: string, way: readonly string[]): string[] | null => {
    if (way.includes(file)) return [...way.slice(way.indexOf(file)), file];
    if (done.has(file)) return null;
    for (const to of next.get(file) ?? []) {
      const found = follow(to, [...way, file]);
      if (found !== null) return found;
    }
    done.add(file);
    return null;
  };
  for (const file of next.keys()) {
    const found = follow(file, []);
    if (found !== null) return found;
  }
  return null;
}

const files = (await Promise.all(Object.keys(rooms).map(filesBelow))).flat();
const sources = files.filter((path) => /\.[cm]?[jt]sx?$/.test(path));
const imports = (await Promise.all(sources.map(importsOf))).flat();

t.test('the scan sees imports of every kind, and no quoted ones', async (t) => {
  // Written with @, or the scan would find these here.
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
  ]
    .join('\n')
    .replaceAll('@/', './');
  const seen = specifiers(source).map((specifier) => specifier[2]);
  t.same(seen.sort(), ['a', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k']);
  t.same(
    circle([
      { from: 'a', to: 'b', ours: true },
      { from: 'b', to: 'c', ours: true },
      { from: 'c', to: 'b', ours: true },
    ]),
    ['b', 'c', 'b'],
  );
  t.ok(imports.length > 100, `${imports.length} imports in the house`);
});

t.test('each room imports only from those that it may know', async (t) => {
  for (const { from, to, ours } of imports) {
    const room = roomOf(from);
    if (!ours || roomOf(to) === room || rooms[room]?.includes(roomOf(to))) continue;
    t.fail(`${from} imports ${to}`);
  }
});

t.test(
  'within pool, formats know nothing of rendering, and rendering nothing of execution',
  async (t) => {
    const floors = ['pool/formats/', 'pool/rendering/', 'pool/execution/'];
    const floorOf = (path: string) => floors.findIndex((floor) => path.startsWith(floor));
    for (const { from, to, ours } of imports) {
      const floor = floorOf(from);
      if (ours && floor >= 0 && floorOf(to) > floor) t.fail(`${from} imports ${to}`);
    }
  },
);

t.test('only store/ and the tests of the embedded store import it', async (t) => {
  const mayImport = /^(store|test\/store\/embedded)\//;
  for (const { from, to, ours } of imports) {
    if (!ours || !to.startsWith('store/embedded/')) continue;
    t.ok(mayImport.test(from), `${from} imports ${to}`);
  }
});

t.test('the folders of server import one another in one direction', async (t) => {
  const folderOf = (path: string) => /^server\/(\w+)\/./.exec(path)?.[1];
  const edges = imports.flatMap(({ from, to, ours }) => {
    const [a, b] = [folderOf(from), folderOf(to)];
    return ours && a !== undefined && b !== undefined && a !== b ? [{ from: a, to: b, ours }] : [];
  });
  t.equal(circle(edges)?.join(' -> '), undefined);
  t.ok(edges.length > 20, `${edges.length} imports between folders`);
});

t.test('every import of ours leads to a file that is there', async (t) => {
  for (const { from, to, ours } of imports) {
    // The clients that these programs use are generated by the test that runs them.
    if (from.startsWith('test/client/others/')) continue;
    if (ours && !files.includes(to)) t.fail(`${from} imports ${to}`);
  }
});

t.test('what runs in production is installed for production', async (t) => {
  // The built files, which have no imports of types. The benchmarks need more; the demo does not.
  const built = (await filesBelow('dist')).filter(
    (path) => path.endsWith('.js') && (!path.startsWith('dist/bench/') || /demo|origin/.test(path)),
  );
  t.ok(built.length > 100, 'the service is built');
  const { dependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  for (const path of built) {
    for (const { to, ours } of await importsOf(path)) {
      const [name = '', second = ''] = to.split('/');
      const packageName = name.startsWith('@') ? `${name}/${second}` : name;
      // The snippets that the console shows are texts with imports.
      if (path.endsWith('/page/main.js')) continue;
      // And so is code that a bundled package of Fastify would generate.
      if (path.startsWith('dist/bundle/') && packageName === 'fast-json-stringify') continue;
      if (ours || isBuiltin(to) || packageName in dependencies) continue;
      t.fail(`${path} imports ${to}`);
    }
  }
});

t.test('the paths of files are not those of their URLs, which encode blanks', async (t) => {
  const path = /(?:import\.meta\.url|\broot)\)\.pathname\b/;
  for (const file of sources) {
    if (path.test(await readFile(join(root, file), 'utf8'))) t.fail(`${file}: use fileURLToPath`);
  }
});

t.test('no imports go in a circle, those of types included', async (t) => {
  t.equal(circle(imports)?.join(' -> '), undefined);
});

t.test('what runs in browsers imports nothing else, and nothing else imports it', async (t) => {
  const page = 'server/console/page/';
  for (const { from, to, ours } of imports) {
    const inside = from.startsWith(page);
    // A snippet that it shows quotes the import of another library.
    const known = /^(preact(\/|$)|@nuxt\/image)/.test(to);
    if (ours ? inside === to.startsWith(page) : !inside || known) continue;
    t.fail(`${from} imports ${to}`);
  }
});

t.test('two files of the service know the HTTP server library, one of them loads it', async (t) => {
  const importers = imports.filter(({ to, ours }) => !ours && /uws|uwebsockets/i.test(to));
  t.same([...new Set(importers.map(({ from }) => from))].sort(), [
    'server/http/uws-library.ts',
    'server/http/uws-server.ts',
  ]);
});

t.test('at the top there are the rooms, and what every project has', async (t) => {
  for (const entry of await readdir(root, { withFileTypes: true })) {
    const { name } = entry;
    if (name.startsWith('.') || leftBehind.has(name) || name.endsWith('.log')) continue;
    const known = entry.isDirectory() ? name in rooms || name === 'docs' : topLevelFiles.has(name);
    t.ok(known, name);
  }
});

t.test('there is no drawer for things without an owner', async (t) => {
  for (const path of files) {
    const drawer = path.split('/').find((part) => drawers.test(part.replace(/\..*$/, '')));
    if (drawer !== undefined) t.fail(path);
  }
});
