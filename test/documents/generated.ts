import { readFile } from 'node:fs/promises';
import { root } from '../root.ts';
import {
  adminMarkdown,
  apiMarkdown,
  errorsMarkdown,
  factsMarkdown,
  layersMarkdown,
  metricsMarkdown,
  parametersMarkdown,
  settingsExample,
  settingsMarkdown,
} from './tables.ts';

/** Replaces the text between the two HTML comments that name a section. */
const section = (name: string, content: () => string) => (text: string) => {
  const [begin, end] = [`<!-- ${name}: generated -->`, `<!-- ${name}: end -->`];
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from === -1 || to === -1) throw new Error(`no section ${name}`);
  return `${text.slice(0, from + begin.length)}\n${content()}\n${text.slice(to)}`;
};

/** The files with generated text, each with a function from its text to the generated one. */
const generated: Readonly<Record<string, (text: string) => string>> = {
  '.env.example': settingsExample,
  'docs/operating/metrics.md': metricsMarkdown,
  'docs/admin.md': section('commands', adminMarkdown),
  'docs/api.md': section('operations', apiMarkdown),
  'docs/information.md': section('facts', factsMarkdown),
  'docs/parameters.md': section('parameters', parametersMarkdown),
  'docs/layers.md': section('layers', layersMarkdown),
  'docs/settings.md': section('settings', settingsMarkdown),
  'docs/errors.md': section('errors', errorsMarkdown),
};

/** Returns new texts for outdated files. */
export async function outdatedDocuments(): Promise<Record<string, string>> {
  const outdated: Record<string, string> = {};
  for (const [name, generate] of Object.entries(generated)) {
    const text = await readFile(new URL(name, root), 'utf8').catch(() => '');
    const expected = generate(text);
    if (text !== expected) outdated[name] = expected;
  }
  return outdated;
}
