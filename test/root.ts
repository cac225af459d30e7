import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * The repository's folder, as a URL that ends with a slash. `npm test` runs the tests from their
 * build in dist-test/; a single file can run from its source.
 */
export const root = ancestorWith('package-lock.json', new URL('.', import.meta.url));

export const rootPath = fileURLToPath(root);

function ancestorWith(name: string, folder: URL): URL {
  if (existsSync(new URL(name, folder))) return folder;
  const parent = new URL('..', folder);
  if (parent.href === folder.href) throw new Error(`no folder above this one has ${name}`);
  return ancestorWith(name, parent);
}
