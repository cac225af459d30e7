import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { adminCommand } from '../../contract/launch-command.ts';
import type { Settings } from '../../contract/settings/table.ts';
import type { Store } from '../../store/open.ts';
import { AdminError } from './terminal.ts';

interface StoreOptions {
  /** Whether the action makes sense in a new store, and so creates a missing store. */
  readonly creates?: boolean;
  /** Validates the input before the store is opened, so that an invalid command does not create a store. */
  readonly check?: (settings: Settings) => Promise<void>;
}

/**
 * Runs an action with the configured store, which a service can use at the same time, and closes
 * it. Loads the store code only then: the command's help does not need it, and loading takes time.
 */
export async function withStore(
  action: (store: Store, settings: Settings) => Promise<void>,
  { creates = false, check }: StoreOptions = {},
): Promise<void> {
  const { settingsOrExit } = await import('../../contract/settings/load.ts');
  const { ensureIndexes, storeExists } = await import('../../store/open.ts');
  const { isOutage, describeOutage } = await import('../../store/outage.ts');
  const settings = settingsOrExit();
  await check?.(settings);
  if (!storeExists(settings)) announceStore(settings.dataDir, creates);
  const store = await openStore(settings);
  try {
    await ensureIndexes(store);
    await action(store, settings);
  } catch (error) {
    if (!isOutage(error)) throw error;
    throw new AdminError(`The store is unavailable: ${describeOutage(error)}.`);
  } finally {
    await store.close();
  }
}

/**
 * Refuses to create a store in a mistyped data folder: the service would not find its projects and
 * keys.
 * @param creates whether to create a missing store, in the default folder or in an existing folder
 * @throws AdminError
 */
function announceStore(dataDir: string, creates: boolean): void {
  const folder = resolve(dataDir);
  const isNamed = Boolean(process.env['SERVICE_DATA_DIR']);
  const place = `${folder} (${isNamed ? 'SERVICE_DATA_DIR' : 'the default, relative to the working directory'})`;
  if (!creates) {
    throw new AdminError(
      `There is no store in ${place}. Set SERVICE_DATA_DIR to the data folder of the service or, for a new store, start the service or create a project: ${adminCommand('projects create --help')}`,
    );
  }
  if (isNamed && !existsSync(folder)) {
    throw new AdminError(
      `There is no folder ${place}. Set SERVICE_DATA_DIR to the data folder of the service or, for a new store, create the folder: mkdir -p ${folder}`,
    );
  }
  process.stderr.write(`Creating a new store in ${folder}.\n`);
}

/** Opens a store, which a service can use at the same time. @throws AdminError */
async function openStore(settings: Settings): Promise<Store> {
  const { joinStore } = await import('../../store/open.ts');
  const { openErrorText } = await import('../../store/open-error.ts');
  return joinStore(settings).catch(async (error) => {
    const reason = await openErrorText(error, settings.dataDir);
    throw reason === null ? error : new AdminError(reason);
  });
}
