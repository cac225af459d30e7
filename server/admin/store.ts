import { settingsOrExit } from '../../contract/settings/load.ts';
import type { Settings } from '../../contract/settings/table.ts';
import { cannotUseFolder } from '../../contract/start-failure.ts';
import { damageInWords } from '../../store/restore.ts';
import { DataFileDamaged } from '../../store/embedded/storage/file-check.ts';
import { ensureIndexes, joinStore, type Store } from '../../store/open.ts';
import { isOutage, outageInWords, StoreUnavailable, StoreUrlInvalid } from '../../store/outage.ts';
import { AdminError } from './terminal.ts';

/** Runs an action with the store, and closes the store when the action ends or fails. */
export type WithStore = (
  action: (store: Store, settings: Settings) => Promise<void>,
) => Promise<void>;

/** For the store that the settings name, also while a service uses it. */
export const withStore: WithStore = async (action) => {
  const settings = settingsOrExit();
  const store = await joinStore(settings).catch(async (error) => {
    const expected = error instanceof StoreUnavailable || error instanceof StoreUrlInvalid;
    if (error instanceof DataFileDamaged) throw new AdminError(await damageInWords(error));
    const unusable = cannotUseFolder(settings.dataDir, error);
    if (unusable !== null) throw new AdminError(unusable);
    throw expected ? new AdminError(error.message) : error;
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
