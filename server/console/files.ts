import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The files of the pages, by their names below the folder of their version. */
export interface ConsoleFiles {
  /** Of the contents of all files: another version has other URLs. */
  readonly version: string;
  readonly files: ReadonlyMap<string, Uint8Array>;
}

/** Media types by the extension of the name. */
export const mediaTypes: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The modules of libraries that the pages import, with the names that they are served by. */
const libraryModules: Readonly<Record<string, string>> = {
  preact: 'library/preact.js',
  'preact/hooks': 'library/preact-hooks.js',
  'preact/jsx-runtime': 'library/preact-jsx-runtime.js',
};

const otherLibraryFiles: Readonly<Record<string, string>> = {
  'swagger-ui-dist/swagger-ui-bundle.js': 'library/swagger-ui.js',
  'swagger-ui-dist/swagger-ui.css': 'library/swagger-ui.css',
};

/** Where the build puts the pages' own files; run from the sources, the last build's are used. */
const pageFolder = fileURLToPath(
  new URL(
    extname(import.meta.url) === '.ts' ? '../../dist/server/console/page/' : 'page/',
    import.meta.url,
  ),
);

/**
 * A module with relative URLs in place of the names of libraries. An import map would do this in the
 * browser, but can only be inline.
 */
function withRelativeImports(module: string, name: string): string {
  return module.replace(
    /(\bfrom\s*)(["'])(preact(?:\/[\w-]+)?)\2/g,
    (all, from: string, quote: string, library: string) => {
      const target = libraryModules[library];
      if (target === undefined) return all;
      const path = posix.relative(posix.dirname(name), target);
      return `${from}${quote}${path.startsWith('.') ? path : `./${path}`}${quote}`;
    },
  );
}

const readLibrary = (specifier: string): Buffer =>
  readFileSync(fileURLToPath(import.meta.resolve(specifier)));

/** Reads all files: these and no others are served. */
export function loadConsoleFiles(): ConsoleFiles {
  const files = new Map<string, Uint8Array>();
  const addModule = (name: string, content: Buffer): void =>
    void files.set(name, Buffer.from(withRelativeImports(content.toString(), name)));
  for (const name of readdirSync(pageFolder).sort()) {
    const content = readFileSync(`${pageFolder}${name}`);
    if (extname(name) === '.js') addModule(name, content);
    else if (extname(name) in mediaTypes) files.set(name, content);
  }
  for (const [specifier, name] of Object.entries(libraryModules)) {
    addModule(name, readLibrary(specifier));
  }
  for (const [specifier, name] of Object.entries(otherLibraryFiles)) {
    files.set(name, readLibrary(specifier));
  }
  const hash = createHash('sha256');
  for (const [name, content] of files) hash.update(`${name} ${content.length}\n`).update(content);
  return { version: hash.digest('hex').slice(0, 16), files };
}

/** The names of the modules that the page at `/` loads, so that it can load them all at once. */
export const indexModules = (files: ConsoleFiles['files']): readonly string[] =>
  [...files.keys()].filter(
    (name) => extname(name) === '.js' && name !== 'docs.js' && name !== 'library/swagger-ui.js',
  );
