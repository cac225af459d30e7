import { fileURLToPath } from 'node:url';
import { ownFile } from './own-files.ts';

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
