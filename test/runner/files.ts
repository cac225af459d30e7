import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rootPath } from '../root.ts';

export const builtTests = join(rootPath, 'dist-test/test');

/** Begins a line of a process of the tests, before the milliseconds that a file took and its name. */
export const durationMark = '# duration';

/** `store`: those that run on any server of the store; `more`: those of `npm run test:more`. */
export type Selection = 'test' | 'more' | 'store';

/**
 * Files of these folders share processes: starting Node and loading modules takes longer than most of them
 * (twelve files of server/image: 3 s of CPU time instead of 10).
 */
const sharingFolders = [
  'bench',
  'contract',
  'documents',
  'pictures',
  'pool',
  'sdk',
  'server',
  'soak',
  'store',
];
/** A comment, followed by the reason. */
const ownProcess = '// Own process: ';
/** In files that try properties more often in `npm run test:more`. */
const propertyRuns = 'propertyRuns(';
/** So few that all processors have work until the end. */
const filesPerProcess = 12;

/** The test files below `builtTests` that a selection has, and whose path contains one of the texts. */
export function testFiles(selection: Selection, texts: readonly string[]): string[] {
  return readdirSync(builtTests, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.js') && isSelected(file, selection))
    .filter((file) => texts.length === 0 || texts.some((text) => file.includes(text)))
    .sort();
}

/** Divides files among processes; those with a process of their own come first, because most take longest. */
export function processesFor(files: readonly string[]): string[][] {
  const alone: string[][] = [];
  const shared: string[][] = [];
  for (const file of files) {
    const folder = file.split('/', 1)[0] ?? '';
    const previous = shared.at(-1);
    if (!sharingFolders.includes(folder) || hasOwnProcess(file)) alone.push([file]);
    else if (
      previous !== undefined &&
      previous.length < filesPerProcess &&
      previous[0]?.startsWith(`${folder}/`)
    ) {
      previous.push(file);
    } else shared.push([file]);
  }
  return [...alone, ...shared];
}

const sourceOf = (file: string): string => readFileSync(join(builtTests, file), 'utf8');
const hasOwnProcess = (file: string): boolean => sourceOf(file).includes(ownProcess);

function isSelected(file: string, selection: Selection): boolean {
  if (selection === 'store') return file.endsWith('.store.test.js');
  const isLong = file.endsWith('.more.test.js');
  return selection === 'test' ? !isLong : isLong || sourceOf(file).includes(propertyRuns);
}
