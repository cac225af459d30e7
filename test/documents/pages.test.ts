import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import t from 'tap';
import { errorCatalogue } from '../../contract/errors.ts';
import { loadSettings } from '../../contract/settings/load.ts';
import { settingRows } from '../../contract/settings/table.ts';
import { healthSchema } from '../../server/control/service-status.ts';
import { parameterNames, parameters } from '../../server/image/parameters.ts';
import { root, rootPath } from '../root.ts';
import { outdatedDocuments } from './generated.ts';
import { readPage, readPages, readProse } from './pages.ts';
import { settingsExample, settingsMarkdown } from './tables.ts';

/** test/documents/examples.test.ts runs the examples of the pages. */
const pages = await readPages();
/** Pages other than the reports of `npm run bench`, which can be of any length. */
const pagesForReaders = pages.filter(
  ({ path }) => path === 'README.md' || path.startsWith('docs/'),
);
const read = (name: string) => readFile(resolve(rootPath, name), 'utf8');
const settings = new Set<string>(settingRows.map(([, { variable }]) => variable));

t.test('contains current generated parts', async (t) => {
  t.same(Object.keys(await outdatedDocuments()), [], 'npm run docs');
  t.notMatch(settingsMarkdown(), /\| (undefined|null) \||=>|\[object/);
});

t.test('changes nothing by .env.example, even if its lines are active', async (t) => {
  const example = settingsExample();
  t.same(parseEnv(example), {});
  const uncommented = parseEnv(example.replace(/^#(SERVICE_)/gm, '$1'));
  t.same(new Set(Object.keys(uncommented)), settings);
  t.same(loadSettings(uncommented as Record<string, string>), loadSettings({}));
});

t.test('limits the prose of a page for users to 1,200 words', async (t) => {
  for (const { path, text } of pagesForReaders) {
    if (path.startsWith('docs/contributing/')) continue;
    const prose = readProse(text).replaceAll(/^\s*(?:\||<).*$/gm, '');
    const words = prose.match(/\S+/g)?.length ?? 0;
    t.ok(words <= 1_200, `${path} has ${words} words of prose`);
  }
});

t.test('resolves every link to a file and a heading', async (t) => {
  const readmes = ['sdk', 'urls', 'store/embedded', 'bench/results'];
  const all = [
    ...pages,
    ...(await Promise.all(readmes.map((folder) => readPage(`${folder}/README.md`)))),
  ];
  const anchors = new Map(all.map((page) => [page.path, page.anchors]));
  for (const { path, text } of all) {
    for (const [, target = ''] of readProse(text).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      const [file = '', anchor] = target.split('#');
      const linked = file === '' ? path : join(dirname(path), file);
      const found = await stat(new URL(linked, root)).catch(() => null);
      t.ok(found, `${path}: ${target}`);
      if (anchor === undefined) continue;
      const ids = anchors.get(linked) ?? (await readPage(linked)).anchors;
      t.ok(ids.has(anchor), `${path}: ${target} is a heading`);
    }
  }
});

t.test('links every page from the index in docs/, once', async (t) => {
  const index = 'docs/README.md';
  const text = pages.find(({ path }) => path === index)?.text ?? '';
  const links = [...text.matchAll(/\]\(([^)\s#]+)/g)].map(([, to = '']) =>
    join(dirname(index), to),
  );
  const others = pagesForReaders.map(({ path }) => path).filter((path) => path !== 'README.md');
  t.same(
    others.filter((path) => path !== index && !links.includes(path)),
    [],
  );
  const rows = text.split('\n').filter((line) => line.startsWith('|'));
  const titles = rows.flatMap((row) => /\| \[[^\]]*\]\(([^)]+)\) \|$/.exec(row)?.[1] ?? []);
  t.equal(titles.length, new Set(titles).size);
});

/** Languages of blocks that contain no runnable code. */
const notCode = new Set(['', 'text', 'html', 'nginx']);

t.test('runs every block of code in a test, or gives the reason why not', async (t) => {
  for (const { page, line, language, mark } of pages.flatMap(({ blocks }) => blocks)) {
    const where = `${page}:${line}`;
    const [, key = '', value = ''] = /^(run by|not run): (.+)$/.exec(mark) ?? [];
    if (key === 'not run') t.ok(value.length > 10, `${where} has a reason`);
    else if (key === 'run by') {
      const test = await read(value).catch(() => '');
      t.ok(test.includes(page), `${where}: ${value} names the page`);
    } else if (language !== 'console') {
      t.ok(notCode.has(language), `${where}: ${language} needs "run by" or "not run" above it`);
    } else {
      t.ok(page === 'README.md' || page.startsWith('docs/'), `${where} is run with its page`);
    }
  }
});

t.test('names only existing files, commands, settings, error codes and parameters', async (t) => {
  const { scripts } = JSON.parse(await read('package.json'));
  const healthStatuses = new Set<string>(healthSchema.properties.status.enum);
  const queryNames = new Set([
    ...parameterNames.flatMap((name) => [name, ...parameters[name].aliases]),
    'project',
    'url',
    'exp',
    'sig',
    // The example of an unknown parameter.
    'magnify',
  ]);
  for (const { path, text } of pages) {
    for (const [, name = ''] of text.matchAll(/\bnpm run (?:--silent )?([a-z][\w:]*)/g)) {
      t.ok(name in scripts, `${path}: npm run ${name}`);
    }
    for (const [, file = ''] of text.matchAll(/`((?:\w+\/)+[\w.-]+\.(?:ts|js))`/g)) {
      t.ok(existsSync(resolve(rootPath, file)), `${path}: ${file}`);
    }
    for (const [name] of text.matchAll(/\bSERVICE_[A-Z_]*[A-Z]\b/g)) {
      // SERVICE_NAME is an orchestrator's, which the service ignores.
      t.ok(settings.has(name) || name === 'SERVICE_NAME', `${path}: ${name}`);
    }
    for (const [, code = ''] of text.matchAll(/\b[45]\d\d `([a-z_]+)`/g)) {
      t.ok(code in errorCatalogue || healthStatuses.has(code), `${path}: ${code}`);
    }
    for (const [, query = ''] of text.matchAll(/\/img\/[^\s?`"]*\?([^\s`"')]+)/g)) {
      for (const part of query.replaceAll('&amp;', '&').split('&')) {
        const [name = ''] = part.split('=');
        if (!/^[a-z]+$/.test(name) || part.includes('}')) continue;
        t.ok(queryNames.has(name), `${path}: ?${name}`);
      }
    }
  }
});

t.test('sets only existing settings in the deployment files', async (t) => {
  const deploy = { recursive: true, withFileTypes: true } as const;
  const entries = await readdir(resolve(rootPath, 'docs/deploy'), deploy);
  const examples = entries.filter((entry) => entry.isFile());
  const files = examples.map((entry) => join(entry.parentPath, entry.name));
  for (const name of [...files, 'Dockerfile', 'compose.yaml']) {
    const text = await read(name);
    for (const [variable] of text.matchAll(/\bSERVICE_[A-Z_]+\b/g)) {
      t.ok(settings.has(variable), `${name}: ${variable}`);
    }
  }
});

t.test('runs only files in the systemd units that the page about them lists', async (t) => {
  const page = await read('docs/install.md');
  const [, list = ''] = /\bdeploy\s+(`.*?)\.\s/s.exec(page) ?? [];
  const deployed = new Set(Array.from(list.matchAll(/`([^`]+)`/g), ([, path]) => path));
  for (const [file] of page.matchAll(/^(?:cp|install) .*$/gm)) {
    for (const [path = ''] of file.matchAll(/(?<= )(?:docs|\.env)\S*/g)) {
      t.ok(deployed.has(path.split('/')[0]), `copies ${path}`);
    }
  }
  for (const name of ['image-delivery', 'image-delivery-worker']) {
    const unit = await read(`docs/deploy/systemd/${name}.service`);
    const programs = Array.from(
      unit.matchAll(/^Exec\w+=-?\/usr\/bin\/node (\S+)/gm),
      ([, path]) => path,
    );
    t.ok(programs.length > 0);
    for (const path of programs) t.ok(deployed.has(path?.split('/')[0]), `${name} runs ${path}`);
    const admin = await read('docs/deploy/systemd/image-delivery-admin');
    for (const setting of ['User', 'WorkingDirectory', 'UMask', 'Environment', 'EnvironmentFile']) {
      const [line = ''] = new RegExp(`^${setting}=.*$`, 'm').exec(unit) ?? [];
      t.match(admin.replaceAll('"', ''), `--property=${line} `, `admin has ${name}'s ${setting}`);
    }
  }
});

t.test('shows the example of every transform parameter in the gallery', async (t) => {
  const page = await read('docs/gallery/index.html');
  for (const name of parameterNames) {
    const { exampleContext, example, role } = parameters[name];
    if (role === 'delivery') continue;
    const own = example === '' ? name : `${name}=${example}`;
    const query = [exampleContext, own].filter((part) => part !== '').join('&');
    const shown = `&amp;${query.replaceAll('&', '&amp;')}</code>`;
    t.ok(page.includes(shown), `${query} (npm run docs:gallery)`);
  }
  const shown = [...page.matchAll(/src="([^"]+)"/g)].map(([, file]) => file);
  const files = await readdir(new URL('docs/gallery/', root));
  t.same(new Set(files), new Set([...shown, 'index.html']));
});

/** Idioms, and words of advertising. */
const notPlain =
  /\b(?:out of the box|under the hood|blazing|seamless\w*|leverag\w+|effortless\w*|simply|state of the art|battle-tested|rock.solid|cutting.edge|game.changer|sweet spot|silver bullet|rule of thumb|as needed)\b/i;

t.test('keeps the pages in plain English', async (t) => {
  for (const { path, text } of pages) {
    const [found] = notPlain.exec(readProse(text)) ?? [];
    t.equal(found, undefined, path);
    t.notMatch(text, /[ \t]+$/m, `${path} has no spaces at the ends of lines`);
  }
});
