import { ServiceError } from '../../contract/errors.ts';
import { newCommand } from '../../contract/new-command.ts';
import { addKeyCommands } from './key-commands.ts';
import { addOrganisationCommands } from './organisation-commands.ts';
import { addPresetCommands } from './preset-commands.ts';
import { addPrewarmCommand } from './prewarm-command.ts';
import { addProjectCommands } from './project-commands.ts';
import { addPurgeCommand } from './purge-command.ts';
import { addStoreCommands } from './store-commands.ts';
import { AdminError } from './terminal.ts';

const program = newCommand('admin').description(
  'Manages keys, organisations, projects and their presets in the store that the settings name.',
);
addKeyCommands(program);
addOrganisationCommands(program);
addProjectCommands(program);
addPresetCommands(program);
addPrewarmCommand(program);
addPurgeCommand(program);
addStoreCommands(program);

// Bundles have no await of a module.
program.parseAsync().catch((error: unknown) => {
  if (!(error instanceof AdminError || error instanceof ServiceError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
