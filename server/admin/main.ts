import { Command } from 'commander';
import { ServiceError } from '../../contract/errors.ts';
import { addKeyCommands } from './key-commands.ts';
import { addOrganisationCommands } from './organisation-commands.ts';
import { addPresetCommands } from './preset-commands.ts';
import { addProjectCommands } from './project-commands.ts';
import type { WithStore } from './store.ts';
import { addStoreCommands } from './store-commands.ts';
import { AdminError } from './terminal.ts';

// Loaded when a command runs: the help does not need the store, which takes time to load.
const withStore: WithStore = async (action) => (await import('./store.ts')).withStore(action);
const program = new Command('admin').description(
  'Manages keys, organisations, projects and their presets in the store that the settings name.',
);
addKeyCommands(program, withStore);
addOrganisationCommands(program, withStore);
addProjectCommands(program, withStore);
addPresetCommands(program, withStore);
addStoreCommands(program);

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof AdminError || error instanceof ServiceError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
