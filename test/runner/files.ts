import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rootPath } from '../root.ts';

export const builtTests = join(rootPath, 'dist-test/test');

/**
 * Start of a line that a test process prints, before the milliseconds that a file took and its
 * name.
 */
export const durationMark = '# duration';

/** `store`: tests that run on any store server; `more`: tests of `npm run test:more`. */
export type Selection = 'test' | 'more' | 'store';

/**
 * Number of files per process in a folder: starting Node and loading modules takes longer than most
 * files (twelve files of server/image: 3 s of CPU time instead of 10). Small enough to keep all
 * processors busy until the end.
 */
const filesPerProcess: Readonly<Record<string, number>> = {
  bench: 12,
  contract: 12,
  documents: 12,
  pictures: 12,
  pool: 12,
  sdk: 6,
  server: 12,
  service: 3,
  soak: 12,
  store: 12,
  worker: 3,
};
/** A comment, followed by the reason. */
const ownProcess = '// Own process: ';
/** Import in files that test more in `npm run test:more`. */
const importOfMore = "/extended.js'";

/** Returns a selection's test files below `builtTests` with one of the texts in their path. */
export function testFiles(selection: Selection, texts: readonly string[]): string[] {
  return readdirSync(builtTests, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.js') && isSelected(file, selection))
    .filter((file) => texts.length === 0 || texts.some((text) => file.includes(text)))
    .sort();
}

/**
 * Divides files among processes. Service tests wait most of the time, so other files run next to
 * them. Files that share processes, which take equally long, come last.
 */
export function processesFor(files: readonly string[]): string[][] {
  const processes: string[][] = [];
  for (const file of files) {
    const [folder = ''] = file.split('/', 1);
    const previous = processes.at(-1) ?? [];
    const isFull =
      [file, ...previous].some(hasOwnProcess) ||
      !previous[0]?.startsWith(`${folder}/`) ||
      previous.length >= (filesPerProcess[folder] ?? 1);
    if (isFull) processes.push([file]);
    else previous.push(file);
  }
  const isOfServices = ([first = '']: readonly string[]) => /^(?:service|worker)\//.test(first);
  const isShared = ([first = '']: readonly string[]) => Number(!hasOwnProcess(first));
  processes.sort((a, b) => isShared(a) - isShared(b));
  const services = processes.filter(isOfServices);
  const others = processes.filter((other) => !isOfServices(other));
  const pairs = Math.max(services.length, others.length);
  return Array.from({ length: pairs }, (_, at) => [services[at] ?? [], others[at] ?? []])
    .flat()
    .filter(({ length }) => length > 0);
}

const readSource = (file: string): string => readFileSync(join(builtTests, file), 'utf8');
const hasOwnProcess = (file: string): boolean => readSource(file).includes(ownProcess);

function isSelected(file: string, selection: Selection): boolean {
  if (selection === 'store') return file.endsWith('.store.test.js');
  const isLong = file.endsWith('.more.test.js');
  return selection === 'test' ? !isLong : isLong || readSource(file).includes(importOfMore);
}
