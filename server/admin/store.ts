import { settingsOrExit } from '../../contract/settings/load.ts';
import type { Settings } from '../../contract/settings/table.ts';
import { ensureIndexes, joinStore, type Store } from '../../store/open.ts';
import { StoreUnavailable, StoreUrlInvalid } from '../../store/outage.ts';
import { Mistake } from './terminal.ts';

/** Runs an action on the store and lets go of the store whatever happens. */
export type WithStore = (
  action: (store: Store, settings: Settings) => Promise<void>,
) => Promise<void>;

/** For commands on the store that the settings name, also while a service runs on it. */
export const withStore: WithStore = async (action) => {
  const settings = settingsOrExit();
  const store = await joinStore(settings).catch((error) => {
    const told = error instanceof StoreUnavailable || error instanceof StoreUrlInvalid;
    throw told ? new Mistake(error.message) : error;
  });
  try {
    await ensureIndexes(store);
    await action(store, settings);
  } finally {
    await store.close();
  }
};
