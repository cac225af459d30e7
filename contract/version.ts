import { readFileSync } from 'node:fs';
import { ownFile } from './own-files.ts';

/**
 * The version of the service and its SDK (Semantic Versioning), from `package.json`. `npm run
 * release` sets it. The API, in its document and its path, is versioned separately.
 */
export const { version }: { readonly version: string } = JSON.parse(
  readFileSync(ownFile('package.json'), 'utf8'),
);
