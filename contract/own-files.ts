import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker, type WorkerOptions } from 'node:worker_threads';

/** Whether this runs from its sources, by a loader for TypeScript. */
export const isSource = import.meta.url.endsWith('.ts');

/** The manifest of the package or of the clone. Threads that run from source cannot resolve names. */
const root = isSource
  ? new URL('../package.json', import.meta.url)
  : import.meta.resolve('image-delivery/package.json');

/** Returns the URL of a file in the package, such as `demo/origin/pictures/coast.jpg`. */
export const ownFile = (path: string): URL => new URL(path, root);

/**
 * Returns a program's or thread's URL: the source file if this runs from source, else the built
 * file.
 * @param name such as `server/main`, an entry in the build (`scripts/build.js`)
 */
export const programUrl = (name: string): URL =>
  ownFile(isSource ? `${name}.ts` : `dist/${name}.js`);

/**
 * Starts a thread with a `programUrl` as its entry.
 *
 * @throws if the process lacks the memory
 */
export function openThread(entry: URL, options: WorkerOptions): Worker {
  if (!isSource) return new Worker(entry, options);
  // In Node 20 the loader for TypeScript applies to modules that a thread loads by `require`, but not to its entry
  // file or to imports.
  const script = `import { createRequire } from 'node:module';
    createRequire(${JSON.stringify(import.meta.url)})(${JSON.stringify(fileURLToPath(entry))});`;
  return new Worker(new URL(`data:text/javascript,${encodeURIComponent(script)}`), options);
}

/**
 * The version of the service and its SDK (Semantic Versioning), from `package.json`. `npm run
 * release` sets it. The API, in its document and its path, is versioned separately.
 */
export const { version }: { readonly version: string } = JSON.parse(
  readFileSync(ownFile('package.json'), 'utf8'),
);
