import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The files of the pages, by their names below the folder of their version. */
export interface ConsoleFiles {
  /** A hash of all files: the files of another version have other URLs. */
  readonly version: string;
  readonly files: ReadonlyMap<string, Uint8Array>;
}

/** Media types by file extension. */
export const mediaTypes: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The build's folder with the bundled page; a service that runs from its sources uses the last build. */
const pageFolder = fileURLToPath(
  new URL(
    extname(import.meta.url) === '.ts' ? '../../dist/server/console/page/' : 'page/',
    import.meta.url,
  ),
);

/** Swagger UI, by the names that are served. */
const libraryFiles = {
  'library/swagger-ui.js': 'swagger-ui-dist/swagger-ui-bundle.js',
  'library/swagger-ui.css': 'swagger-ui-dist/swagger-ui.css',
};

/** Reads all files that are served. */
export function loadConsoleFiles(): ConsoleFiles {
  const files = new Map<string, Uint8Array>();
  for (const name of readdirSync(pageFolder).sort()) {
    if (extname(name) in mediaTypes) files.set(name, readFileSync(`${pageFolder}${name}`));
  }
  for (const [name, specifier] of Object.entries(libraryFiles)) {
    files.set(name, readFileSync(fileURLToPath(import.meta.resolve(specifier))));
  }
  const hash = createHash('sha256');
  for (const [name, content] of files) hash.update(`${name} ${content.length}\n`).update(content);
  return { version: hash.digest('hex').slice(0, 16), files };
}
