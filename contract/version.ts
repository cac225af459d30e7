import { readFileSync } from 'node:fs';
import { ownFile } from './own-files.ts';

/**
 * The version of the service and of its SDK, by Semantic Versioning, from `package.json`. `npm run release` sets it.
 * The version of the API, in its document and its path, is another one.
 */
export const { version }: { readonly version: string } = JSON.parse(
  readFileSync(ownFile('package.json'), 'utf8'),
);
