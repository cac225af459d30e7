import { Command } from 'commander';
import { launchCommand } from './launch-command.ts';
import { version } from './version.ts';

/**
 * A command with `--version`.
 *
 * @param name in `bin/image-delivery.js`; the help has it as the user types it
 */
export function newCommand(
  name: 'serve' | 'start' | 'server' | 'worker' | 'admin' | 'demo' | 'explain' | 'health',
): Command {
  const own = launchCommand();
  const command = new Command(own === undefined ? name : `${own} ${name}`);
  return command.version(version, '--version', 'print the version');
}
