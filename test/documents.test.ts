import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { settingRows } from '../contract/settings/table.ts';
import { parameterNames, parameters, parametersMarkdown } from '../server/image/parameters.ts';
import {
  errorsMarkdown,
  metricsMarkdown,
  settingsExample,
  settingsMarkdown,
} from './documents/tables.ts';
import { root } from './root.ts';
import { differencesMarkdown } from './store/servers.ts';

/**
 * What is generated from the code stands in the documents as it is generated. `npm run docs` runs
 * this file with UPDATE_DOCUMENTS=1, which writes instead of comparing.
 */
const update = process.env['UPDATE_DOCUMENTS'] === '1';

async function check(
  t: { equal(found: unknown, wanted: unknown, message: string): unknown },
  name: string,
  expected: (text: string) => string,
) {
  const file = new URL(name, root);
  const text = await readFile(file, 'utf8').catch(() => '');
  if (update) await writeFile(file, expected(text));
  else t.equal(text, expected(text), `${name} is up to date (npm run docs)`);
}

/** The text between two HTML comments that name a section, replaced. */
function withSection(text: string, section: string, content: string): string {
  const [begin, end] = [`<!-- ${section}: generated -->`, `<!-- ${section}: end -->`];
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from === -1 || to === -1) throw new Error(`the document has no section ${section}`);
  return `${text.slice(0, from + begin.length)}\n${content}\n${text.slice(to)}`;
}

t.test('.env.example lists every setting', (t) => check(t, '.env.example', settingsExample));

const sections = [
  ['docs/parameters.md', 'parameters', parametersMarkdown],
  ['docs/settings.md', 'settings', settingsMarkdown],
  ['docs/errors.md', 'errors', errorsMarkdown],
  ['docs/testing.md', 'stores', differencesMarkdown],
] as const;
for (const [page, section, content] of sections) {
  t.test(`${page} has the table of all ${section}`, (t) =>
    check(t, page, (text) => withSection(text, section, content())),
  );
}

t.test('docs/operating/metrics.md lists every metric', (t) =>
  check(t, 'docs/operating/metrics.md', metricsMarkdown),
);

t.test('the examples of deployments set only what is a setting', async (t) => {
  const known = new Set<string>(settingRows.map(([, { variable }]) => variable));
  const folder = new URL('docs/deploy/', root);
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const examples = names
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  for (const file of [...examples, new URL('Dockerfile', root), new URL('compose.yaml', root)]) {
    const text = await readFile(file, 'utf8');
    for (const [variable] of text.matchAll(/\bSERVICE_[A-Z_]+\b/g))
      t.ok(known.has(variable), variable);
  }
});

t.test(
  'the gallery shows every parameter of the transform by its example, and all its pictures',
  async (t) => {
    const folder = new URL('docs/gallery/', root);
    const page = await readFile(new URL('index.html', folder), 'utf8');
    for (const name of parameterNames) {
      const { beside, example, role } = parameters[name];
      if (role === 'delivery') continue;
      const own = example === '' ? name : `${name}=${example}`;
      const query = [beside, own].filter((part) => part !== '').join('&');
      t.ok(
        page.includes(`&amp;${query.replaceAll('&', '&amp;')}</code>`),
        `${query} (npm run docs:gallery)`,
      );
    }
    const shown = [...page.matchAll(/src="([^"]+)"/g)].map(([, file]) => file);
    const files = (await readdir(folder)).filter((file) => file !== 'index.html');
    t.same(new Set(files), new Set(shown));
  },
);
