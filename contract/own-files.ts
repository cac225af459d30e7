import { fileURLToPath } from 'node:url';
import { Worker, type WorkerOptions } from 'node:worker_threads';

/** Whether this runs from its sources, by a loader for TypeScript. */
export const isSource = import.meta.url.endsWith('.ts');

/** The manifest of the package or of the clone. Threads that run from source cannot resolve names. */
const root = isSource
  ? new URL('../package.json', import.meta.url)
  : import.meta.resolve('image-delivery/package.json');

/** The URL of a file of the package, such as `demo/origin/pictures/coast.jpg`. */
export const ownFile = (path: string): URL => new URL(path, root);

/**
 * The URL of a program or thread, as source if this runs from source, else as built.
 * @param name such as `server/main`; it is an entry of the build (`scripts/build.js`)
 */
export const programUrl = (name: string): URL =>
  ownFile(isSource ? `${name}.ts` : `dist/${name}.js`);

/**
 * Opens a thread whose entry is a `programUrl`.
 *
 * @throws when the process has no memory for it
 */
export function openThread(entry: URL, options: WorkerOptions): Worker {
  if (!isSource) return new Worker(entry, options);
  // In Node 20 the loader for TypeScript applies to modules that a thread loads by `require`, but not to its entry
  // file or to imports.
  const script = `import { createRequire } from 'node:module';
    createRequire(${JSON.stringify(import.meta.url)})(${JSON.stringify(fileURLToPath(entry))});`;
  return new Worker(new URL(`data:text/javascript,${encodeURIComponent(script)}`), options);
}
