import { fileURLToPath } from 'node:url';
import { ownFile } from './own-files.ts';

/** What `bin/image-delivery.js` was started as, such as `npx image-delivery`; it sets the variable for all processes. */
export const launchCommand = (): string | undefined =>
  process.env['IMAGE_DELIVERY_COMMAND'] || undefined;

/**
 * A command of the administration as the user types it, for messages: `npx image-delivery admin keys create` where
 * the service was installed as a package, `npm run admin -- keys create` in a clone.
 */
export function adminCommand(args: string): string {
  const own = launchCommand();
  return own === undefined ? `npm run admin -- ${args}` : `${own} admin ${args}`;
}

/**
 * The path of a page of the documentation, for messages: in the installed package, or in the clone.
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
