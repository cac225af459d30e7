import { Command } from 'commander';
import { settingsOrExit } from '../../contract/settings/load.ts';
import { addKeyCommands } from './key-commands.ts';
import { addOrganisationCommands } from './organisation-commands.ts';
import { addProjectCommands } from './project-commands.ts';
import { storeOf } from './store.ts';
import { Mistake } from './terminal.ts';

const settings = settingsOrExit();
const withStore = storeOf(settings);
const program = new Command('admin').description(
  'Manages keys, organisations and projects in the store that the settings name.',
);
addKeyCommands(program, withStore);
addOrganisationCommands(program, withStore);
addProjectCommands(program, withStore, settings);

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof Mistake)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
