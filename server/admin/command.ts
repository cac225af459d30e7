import type { Command } from 'commander';
import { CommandError, ServiceError } from '../../contract/errors.ts';
import { newCommand } from '../../contract/settings/command-line.ts';
import { addKeyCommands, addOrganisationCommands } from './access-commands.ts';
import { addFailuresCommand, addPrewarmCommand, addPurgeCommand } from './image-commands.ts';
import { addAllItemCommands } from './item-commands.ts';
import { addProjectCommands } from './project-commands.ts';
import { addStoreCommands } from './store.ts';

/** Returns the command with all its subcommands, which `docs/admin.md` is generated from. */
export function adminCommand(): Command {
  const program = newCommand('admin').description(
    'Manage keys, organisations and projects, with their presets, hosts and URL secrets, in the configured store.',
  );
  addKeyCommands(program);
  addOrganisationCommands(program);
  addProjectCommands(program);
  addAllItemCommands(program);
  addPrewarmCommand(program);
  addPurgeCommand(program);
  addFailuresCommand(program);
  addStoreCommands(program);
  return program;
}

/**
 * Runs the admin command. Prints an expected error as a line and sets the exit code.
 *
 * @param argv like `process.argv`: the program, its script, and the arguments
 */
export async function runAdmin(argv: readonly string[]): Promise<void> {
  try {
    await adminCommand().parseAsync(argv);
  } catch (error) {
    if (!(error instanceof CommandError || error instanceof ServiceError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
