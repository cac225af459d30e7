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

const manifest: {
  readonly version: string;
  readonly peerDependencies: Readonly<Record<string, string>>;
} = JSON.parse(readFileSync(ownFile('package.json'), 'utf8'));

/**
 * The version of the service and its SDK (Semantic Versioning), from `package.json`. `npm run
 * release` sets it. The API, in its document and its path, is versioned separately.
 */
export const { version } = manifest;

/** Returns the command that installs an optional package in its tested version. */
export const installCommand = (name: string): string =>
  `npm install ${name}@${manifest.peerDependencies[name]}`;

/**
 * The command that started `bin/image-delivery.js`, such as `npx image-delivery`, which sets the
 * variable for all processes.
 */
export const launchCommand = (): string | undefined =>
  process.env['IMAGE_DELIVERY_COMMAND'] || undefined;

/**
 * Returns an admin command as the user types it, for messages: `npx image-delivery admin keys
 * create` for an installed package, `npm run admin -- keys create` in a clone.
 */
export function adminCommand(args: string): string {
  return `${usageCommand('admin')} ${args}`;
}

/**
 * Returns a documentation page's path for messages: in the installed package, or in the clone.
 * @param name such as `http-engines.md`
 */
export function documentPath(name: string): string {
  const path = `docs/${name}`;
  if (launchCommand() === undefined) return path;
  return fileURLToPath(ownFile(path));
}

/** The programs of `bin/image-delivery.js`. */
export type ProgramName =
  | 'serve'
  | 'start'
  | 'server'
  | 'worker'
  | 'admin'
  | 'demo'
  | 'explain'
  | 'health';

/** The npm scripts of programs, in a clone. */
const scripts: Readonly<Partial<Record<ProgramName, string>>> = {
  serve: 'npm run serve',
  start: 'npm start',
  server: 'npm run start:server',
  worker: 'npm run start:worker',
  admin: 'npm run admin',
  demo: 'npm run demo',
};

/** Returns the command that starts a program, as the user types it. */
export function startCommand(program: ProgramName): string {
  const own = launchCommand();
  if (own !== undefined) return `${own} ${program}`;
  return scripts[program] ?? `node bin/image-delivery.js ${program}`;
}

/** Returns the command that starts a program with options: npm passes them on only after `--`. */
export function usageCommand(program: ProgramName): string {
  const command = startCommand(program);
  return command.startsWith('npm ') ? `${command} --` : command;
}
