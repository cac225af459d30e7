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
  const { ensureIndexes, joinStore } = await import('../../store/open.ts');
  const { openErrorText } = await import('../../store/open-error.ts');
  const { isOutage, describeOutage } = await import('../../store/outage.ts');
  const settings = settingsOrExit();
  const store = await joinStore(settings).catch(async (error) => {
    const reason = await openErrorText(error, settings.dataDir);
    throw reason === null ? error : new AdminError(reason);
  });
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
