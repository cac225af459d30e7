import { Command } from 'commander';
import { type ProgramName, usageCommand } from './launch-command.ts';
import { version } from './version.ts';

/** Returns a program's command, with `--version`. Its help shows the command as the user types it. */
export function newCommand(program: ProgramName): Command {
  const command = new Command(usageCommand(program));
  return command.version(version, '--version', 'print the version');
}
