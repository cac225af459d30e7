import { settingsOrExit } from '../../contract/settings/load.ts';
import type { Settings } from '../../contract/settings/table.ts';
import { ensureIndexes, joinStore, type Store } from '../../store/open.ts';
import { openErrorText } from '../../store/open-error.ts';
import { isOutage, outageInWords } from '../../store/outage.ts';
import { AdminError } from './terminal.ts';

/** Runs an action with the store, and closes the store when the action ends or fails. */
export type WithStore = (
  action: (store: Store, settings: Settings) => Promise<void>,
) => Promise<void>;

/** Uses the store of the settings, also while a service uses it. */
export const withStore: WithStore = async (action) => {
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
    throw new AdminError(`The store is unavailable: ${outageInWords(error)}.`);
  } finally {
    await store.close();
  }
};
