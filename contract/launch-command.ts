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
  const own = launchCommand();
  return own === undefined ? `npm run admin -- ${args}` : `${own} admin ${args}`;
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

/** The command that starts the service with its worker or, with `worker`, only a worker. */
export function startCommand(program: 'start' | 'worker'): string {
  const own = launchCommand();
  if (own !== undefined) return `${own} ${program}`;
  return program === 'start' ? 'npm start' : 'npm run start:worker';
}
