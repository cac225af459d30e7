import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DialectName, dialects } from '../urls/src/index.ts';
import { rootPath } from './root.ts';

export interface UrlExample {
  /** The path and the query. */
  readonly url: string;
  /** The query for the same image here, without `project`. */
  readonly native: string;
}

export const dialectNames = Object.keys(dialects) as DialectName[];

const row = /^\| `(?<url>\/[^`]*)` \| .* \| `(?<native>[^`]*)` \|$/gm;

/** Returns the rows of a table in docs/migration. */
function readExamples(name: DialectName): readonly UrlExample[] {
  const page = readFileSync(join(rootPath, `docs/migration/${name}.md`), 'utf8');
  const unescaped = (text = '') => text.replaceAll('\\|', '|');
  return [...page.matchAll(row)].map(({ groups = {} }) => ({
    url: unescaped(groups['url']),
    native: unescaped(groups['native']),
  }));
}

/** The documented URLs of each service. */
export const urlExamples = Object.fromEntries(
  dialectNames.map((name) => [name, readExamples(name)]),
) as Readonly<Record<DialectName, readonly UrlExample[]>>;
