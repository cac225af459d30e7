import { readFile, writeFile } from 'node:fs/promises';
import t from 'tap';
import { parametersMarkdown } from '../server/image/parameters.ts';
import { settingsExample, settingsMarkdown } from '../store/settings/document.ts';

/**
 * What is generated from the code stands in the documents as it is generated. `npm run docs` runs
 * this file with UPDATE_DOCUMENTS=1, which writes instead of comparing.
 */
const update = process.env['UPDATE_DOCUMENTS'] === '1';
const root = new URL('../', import.meta.url);

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

t.test("the README's table lists every parameter", (t) =>
  check(t, 'README.md', (text) => withSection(text, 'parameters', parametersMarkdown())),
);

t.test("the README's table lists every setting", (t) =>
  check(t, 'README.md', (text) => withSection(text, 'settings', settingsMarkdown())),
);
