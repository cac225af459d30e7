import type { Command } from 'commander';
import { AdminError, print } from './terminal.ts';

export function addStoreCommands(program: Command): void {
  const group = program.command('store').description('the embedded store in the data folder');

  group
    .command('restore')
    .description("put the store's last backup in the place of its data file, which is kept")
    .action(async () => {
      const { settingsOrExit } = await import('../../contract/settings/load.ts');
      const { cannotUseFolder } = await import('../../contract/start-failure.ts');
      const { BackupMissing, restoreBackup } = await import('../../store/restore.ts');
      const { FolderHeld } = await import('../../store/embedded/lock.ts');
      const { DataFileDamaged } = await import('../../store/embedded/storage/file-check.ts');
      const expected = [BackupMissing, FolderHeld, DataFileDamaged];
      const { dataDir } = settingsOrExit();
      const { copiedAt, replaced } = await restoreBackup(dataDir).catch((error) => {
        const known = expected.some((kind) => error instanceof kind);
        const reason = known ? `${error.message}.` : cannotUseFolder(dataDir, error);
        throw reason === null ? error : new AdminError(`The backup was not restored: ${reason}`);
      });
      print(`The store is as it was at ${copiedAt.toISOString()}.`);
      if (replaced !== null) print(`The file that it replaced is ${replaced}.`);
    });
}
