import type { Command } from 'commander';
import { addStoreCopyCommand } from './store-copy-command.ts';
import { AdminError, print } from './terminal.ts';

export function addStoreCommands(program: Command): void {
  const group = program.command('store').description('the store as a whole');
  addStoreCopyCommand(group);

  group
    .command('restore')
    .description(
      "replace the embedded store's file with its last backup; the replaced file is kept",
    )
    .action(async () => {
      const { settingsOrExit } = await import('../../contract/settings/load.ts');
      const { RestoreFailed, restoreBackup } = await import('../../store/restore.ts');
      const { dataDir } = settingsOrExit();
      const { copiedAt, replaced } = await restoreBackup(dataDir).catch((error) => {
        throw error instanceof RestoreFailed ? new AdminError(error.message) : error;
      });
      print(`The store is as it was at ${copiedAt.toISOString()}.`);
      if (replaced !== null) print(`The file that it replaced is ${replaced}.`);
    });
}
