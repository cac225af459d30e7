import type { Command } from 'commander';
import { copyBetween } from './copy-command.ts';
import { AdminError, print } from './terminal.ts';

export function addStoreCommands(program: Command): void {
  const group = program.command('store').description('copy, back up or restore the store');
  const place = '`embedded` or a mongodb:// URL (default: the configured store)';

  group
    .command('copy')
    .description('copy an unused store into an empty store')
    .option('--from <store>', place)
    .option('--to <store>', place)
    .action(({ from, to }: { from?: string; to?: string }) => copyBetween(from, to));

  group
    .command('backup')
    .description('write the embedded store to a new file')
    .argument('<file>')
    .action(async (file: string) => {
      const { settingsOrExit } = await import('../../contract/settings/load.ts');
      const { BackupFailed, backUpToFile } = await import('../../store/backup-to-file.ts');
      const { dataDir, mongodbUrl } = settingsOrExit();
      if (mongodbUrl !== null) {
        throw new AdminError('Use the tools of your MongoDB, such as mongodump.');
      }
      const bytes = await backUpToFile(dataDir, file).catch((error) => {
        throw error instanceof BackupFailed ? new AdminError(error.message) : error;
      });
      print(`${file} contains the store (${bytes} bytes).`);
    });

  group
    .command('restore')
    .description('replace the embedded store with a backup, keeping the old file')
    .argument('[file]', "a backup; default: the service's last backup")
    .action(async (file?: string) => {
      const { settingsOrExit } = await import('../../contract/settings/load.ts');
      const { RestoreFailed, restoreBackup } = await import('../../store/restore.ts');
      const { dataDir } = settingsOrExit();
      const { dataTime, replaced } = await restoreBackup(dataDir, file).catch((error) => {
        throw error instanceof RestoreFailed ? new AdminError(error.message) : error;
      });
      print(
        dataTime === null
          ? 'The backup is restored. It was made by an earlier version, which did not record the time of its data.'
          : `The store is as it was at ${dataTime.toISOString()}.`,
      );
      if (replaced !== null) print(`The file that it replaced is ${replaced}.`);
    });
}
