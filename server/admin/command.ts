import type { Command } from 'commander';
import { ServiceError } from '../../contract/errors.ts';
import { newCommand } from '../../contract/settings/command-line.ts';
import { addActivityCommands } from './activity-commands.ts';
import { addHostCommands } from './host-commands.ts';
import { addKeyCommands } from './key-commands.ts';
import { addOrganisationCommands } from './organisation-commands.ts';
import { addPresetCommands } from './preset-commands.ts';
import { addPrewarmCommand } from './prewarm-command.ts';
import { addProjectCommands } from './project-commands.ts';
import { addPurgeCommand } from './purge-command.ts';
import { addStoreCommands } from './store-commands.ts';
import { AdminError } from './terminal.ts';
import { addUrlSecretCommands } from './url-secret-commands.ts';

/** Returns the command with all its subcommands, which `docs/admin.md` is generated from. */
export function adminCommand(): Command {
  const program = newCommand('admin').description(
    'Manage keys, organisations and projects, with their presets, hosts and URL secrets, in the configured store.',
  );
  addKeyCommands(program);
  addOrganisationCommands(program);
  addProjectCommands(program);
  addPresetCommands(program);
  addHostCommands(program);
  addUrlSecretCommands(program);
  addPrewarmCommand(program);
  addPurgeCommand(program);
  addActivityCommands(program);
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
    if (!(error instanceof AdminError || error instanceof ServiceError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
