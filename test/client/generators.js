import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import openapiTypescript, { astToString } from 'openapi-typescript';

/**
 * Each writes the client that the program of the same name uses.
 *
 * @type {import('./check-clients.ts').Generators}
 */
export const generators = {
  'openapi-fetch': async ({ document }, folder) => {
    // Its default does not encode a percent sign in the path of the working directory.
    const tree = await openapiTypescript(document, { cwd: pathToFileURL(`${folder}/`) });
    await writeFile(join(folder, 'schema.d.ts'), astToString(tree));
  },
};
