import { readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import t from 'tap';
import { errorCatalogue } from '../../contract/errors.ts';
import { settingRows } from '../../contract/settings/table.ts';
import { healthSchema } from '../../server/control/health-schema.ts';
import { parameterNames, parameters } from '../../server/image/parameters.ts';
import { root } from '../root.ts';
import { proseOf, readPage, readPages } from './pages.ts';

/** What every page for readers keeps to. Its examples are run by test/service/documents.test.ts. */
const pages = await readPages();
const ofReaders = pages.filter(({ path }) => path === 'README.md' || path.startsWith('docs/'));

t.test('the README is short, and so are the pages', async (t) => {
  for (const { path, text } of ofReaders) {
    const lines = text.split('\n').length - 1;
    t.ok(lines < (path === 'README.md' ? 200 : 201), `${path} has ${lines} lines`);
  }
});

t.test('every link leads to a file and to a heading', async (t) => {
  const anchors = new Map(pages.map((page) => [page.path, page.anchors]));
  for (const { path, text } of pages) {
    for (const [, target = ''] of proseOf(text).matchAll(/\]\(([^)\s]+)\)/g)) {
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

t.test('the index of docs/ and the README link every page', async (t) => {
  for (const from of ['README.md', 'docs/README.md']) {
    const text = pages.find(({ path }) => path === from)?.text ?? '';
    const links = [...text.matchAll(/\]\(([^)\s#]+)/g)].map(([, to = '']) =>
      join(dirname(from), to),
    );
    const missing = ofReaders.filter(({ path }) => path !== from && !links.includes(path));
    const wanted = from === 'README.md' ? ['docs/operating/metrics.md', 'docs/README.md'] : [];
    t.same(
      missing.map(({ path }) => path).filter((path) => !wanted.includes(path)),
      from === 'README.md' ? [] : ['README.md'],
      from,
    );
    const rows = text.split('\n').filter((line) => line.startsWith('|'));
    const titles = rows.flatMap((row) => /\| \[[^\]]*\]\(([^)]+)\) \|$/.exec(row)?.[1] ?? []);
    t.same(
      titles.filter((to, index) => titles.indexOf(to) !== index),
      [],
      `${from} lists each page once`,
    );
  }
});

/** Blocks in these languages are shown as they are: nothing in them runs. */
const shown = new Set(['', 'text', 'html', 'nginx']);

t.test('every block of code is run by a test, or says why it is not', async (t) => {
  for (const { page, line, language, mark } of pages.flatMap(({ blocks }) => blocks)) {
    const where = `${page}:${line}`;
    const [, key = '', value = ''] = /^(run by|not run): (.+)$/.exec(mark) ?? [];
    if (key === 'not run') t.ok(value.length > 10, `${where} has a reason`);
    else if (key === 'run by') {
      const test = await readFile(new URL(value, root), 'utf8').catch(() => '');
      t.ok(test.includes(page), `${where}: ${value} names the page`);
    } else if (language !== 'console') {
      t.ok(shown.has(language), `${where}: ${language} needs "run by" or "not run" above it`);
    } else {
      t.ok(page === 'README.md' || page.startsWith('docs/'), `${where} is run with its page`);
    }
  }
});

t.test('commands, settings and parameters that the pages name exist', async (t) => {
  const { scripts } = JSON.parse(await readFile(new URL('package.json', root), 'utf8'));
  // An orchestrator's, which a page says is ignored.
  const settings = new Set<string>(['SERVICE_NAME']);
  for (const [, { variable }] of settingRows) settings.add(variable);
  const healthStatuses = new Set<string>(healthSchema.properties.status.enum);
  const queryNames = new Set([
    ...parameterNames.flatMap((name) => [name, ...parameters[name].aliases]),
    'project',
    'url',
    'exp',
    'sig',
  ]);
  for (const { path, text } of pages) {
    for (const [, name = ''] of text.matchAll(/\bnpm run (?:--silent )?([a-z][\w:]*)/g)) {
      t.ok(name in scripts, `${path}: npm run ${name}`);
    }
    for (const [name] of text.matchAll(/\bSERVICE_[A-Z_]*[A-Z]\b/g)) {
      t.ok(settings.has(name), `${path}: ${name}`);
    }
    for (const [, code = ''] of text.matchAll(/\b[45]\d\d `([a-z_]+)`/g)) {
      t.ok(code in errorCatalogue || healthStatuses.has(code), `${path}: ${code}`);
    }
    for (const [, query = ''] of text.matchAll(/\/img\/[^\s?`"]*\?([^\s`"')]+)/g)) {
      for (const part of query.replaceAll('&amp;', '&').split('&')) {
        const [name = ''] = part.split('=');
        if (/^[a-z]+$/.test(name) && !part.includes('}'))
          t.ok(queryNames.has(name), `${path}: ?${name}`);
      }
    }
  }
});

/** Words of advertising and idioms, which a reader of plain English does not need. */
const notPlain =
  /\b(?:out of the box|under the hood|blazing|seamless\w*|leverag\w+|effortless\w*|simply|state of the art|battle-tested|rock.solid|cutting.edge|game.changer|sweet spot|silver bullet|rule of thumb|as needed)\b/i;

t.test('the pages are in plain English', async (t) => {
  for (const { path, text } of pages) {
    const [found] = notPlain.exec(proseOf(text)) ?? [];
    t.equal(found, undefined, path);
    t.notMatch(text, /[ \t]+$/m, `${path} has no spaces at the ends of lines`);
  }
});
