import { cp, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { rootPath } from './root.ts';
import { temporaryFolder } from './temporary-root.ts';

const sources = [
  'contract',
  'server',
  'pool',
  'store',
  'worker',
  'demo',
  'sdk',
  'urls',
  'scripts',
  'bin',
  'package.json',
  'tsconfig.json',
];

/**
 * Copies the sources, with a link to the installed packages.
 *
 * @param more other files and folders to copy
 * @returns a function from a path in the copy to an absolute path
 */
export async function cloneSources(
  t: { teardown(action: () => Promise<unknown>): void },
  ...more: readonly string[]
): Promise<(path: string) => string> {
  const folder = await temporaryFolder(t);
  const at = (path: string) => join(folder, path);
  for (const name of [...sources, ...more]) {
    await cp(join(rootPath, name), at(name), {
      recursive: true,
      filter: (path) => !/node_modules|sdk\/(?:dist|examples)|urls\/dist/.test(path),
    });
  }
  await symlink(join(rootPath, 'node_modules'), at('node_modules'));
  return at;
}
