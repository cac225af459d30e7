import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createClient } from '@hey-api/openapi-ts';
import openapiTypescript, { astToString } from 'openapi-typescript';
import { generate } from 'orval';

/**
 * Each writes the client that the program of the same name uses.
 *
 * @type {import('../check-clients.ts').Generators}
 */
export const generators = {
  'openapi-fetch': async ({ document }, folder) => {
    // The default leaves a percent sign in the working directory's path unencoded.
    const tree = await openapiTypescript(document, { cwd: pathToFileURL(`${folder}/`) });
    await writeFile(join(folder, 'schema.d.ts'), astToString(tree));
  },
  'hey-api': async ({ document }, folder) => {
    await createClient({
      input: JSON.parse(document),
      output: { path: join(folder, 'hey-api'), module: { extension: '.js' } },
      plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
      logs: { level: 'silent', file: false },
    });
  },
  orval: async ({ document, url }, folder) => {
    const target = join(folder, 'openapi.json');
    await writeFile(target, document);
    await generate({
      input: { target },
      output: { target: join(folder, 'orval/client.ts'), client: 'fetch', baseUrl: url },
    });
  },
};
