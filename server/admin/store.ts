import type { Settings } from '../../contract/settings/table.ts';
import type { Store } from '../../store/open.ts';
import { AdminError } from './terminal.ts';

/**
 * Runs an action with the store of the settings, which a service may use at the same time, and closes it.
 * Loads the store only then: the help of the command does not need it, and loading takes time.
 */
export async function withStore(
  action: (store: Store, settings: Settings) => Promise<void>,
): Promise<void> {
  const { settingsOrExit } = await import('../../contract/settings/load.ts');
  const { ensureIndexes } = await import('../../store/open.ts');
  const { isOutage, describeOutage } = await import('../../store/outage.ts');
  const settings = settingsOrExit();
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
 * Opens a store, which a service may use at the same time.
 * @param prefix of the message of an error
 * @throws AdminError
 */
export async function openStore(
  settings: Pick<Settings, 'mongodbUrl' | 'dataDir'>,
  prefix = '',
): Promise<Store> {
  const { joinStore } = await import('../../store/open.ts');
  const { openErrorText } = await import('../../store/open-error.ts');
  return joinStore(settings).catch(async (error) => {
    const reason = await openErrorText(error, settings.dataDir);
    throw reason === null ? error : new AdminError(prefix + reason);
  });
}
