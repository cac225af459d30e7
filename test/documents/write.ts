import { writeFile } from 'node:fs/promises';
import { root } from '../root.ts';
import { outdatedDocuments } from './generated.ts';

/** `npm run docs`: writes the generated parts of the documents. */
for (const [name, text] of Object.entries(await outdatedDocuments())) {
  await writeFile(new URL(name, root), text);
  process.stdout.write(`${name}\n`);
}
