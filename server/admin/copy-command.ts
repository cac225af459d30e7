import type { Settings } from '../../contract/settings/table.ts';
import type { Store } from '../../store/open.ts';
import { AdminError, print, printTable } from './terminal.ts';

const progressEveryMs = 2_000;

/** Returns a store's location: `embedded`, a URL, or by default the configured store. */
const toLocation = (settings: Settings, store = settings.mongodbUrl ?? 'embedded') => ({
  mongodbUrl: store === 'embedded' ? null : store,
  dataDir: settings.dataDir,
});

/** `store copy`. @throws AdminError */
export async function copyBetween(from: string | undefined, to: string | undefined): Promise<void> {
  const { settingsOrExit } = await import('../../contract/settings/load.ts');
  const settings = settingsOrExit();
  const [source, target] = [toLocation(settings, from), toLocation(settings, to)];
  if (source.mongodbUrl === target.mongodbUrl) {
    throw new AdminError('Name another store: --to <store>, or --from <store>.');
  }
  await withUnused('source', source, (store) =>
    withUnused('target', target, (other) => copy(store, other)),
  );
}

/** Runs an action with a store that no service and no worker uses. @throws AdminError */
async function withUnused(
  role: 'source' | 'target',
  place: ReturnType<typeof toLocation>,
  action: (store: Store) => Promise<void>,
): Promise<void> {
  const { ensureIndexes, openUnusedStore, storeExists } = await import('../../store/open.ts');
  const { openErrorText } = await import('../../store/open-error.ts');
  const { describeOutage, isOutage } = await import('../../store/outage.ts');
  const { findRunningPart } = await import('../../store/heartbeat.ts');
  if (role === 'source' && !storeExists(place)) throw new AdminError('The source does not exist.');
  const store = await openUnusedStore(place).catch(async (error) => {
    const reason = await openErrorText(error, place.dataDir);
    throw reason === null ? error : new AdminError(`The ${role} cannot be used. ${reason}`);
  });
  try {
    const wait = () => process.stderr.write(`Waiting until nothing uses the ${role}.\n`);
    const part = store.isInProcess ? null : await findRunningPart(store.db, wait);
    if (part !== null) {
      throw new AdminError(`A ${part} uses the ${role}: stop all services and workers first.`);
    }
    if (role === 'target') await ensureIndexes(store);
    await action(store);
  } catch (error) {
    if (!isOutage(error)) throw error;
    throw new AdminError(`The store is unavailable: ${describeOutage(error)}. Run it again.`);
  } finally {
    await store.close();
  }
}

async function copy(source: Store, target: Store): Promise<void> {
  const { CopyRefused, copyStore } = await import('../../store/copy.ts');
  let shownAt = performance.now();
  const contents = await copyStore(source.db, target.db, (step, name, documents) => {
    if (performance.now() - shownAt < progressEveryMs) return;
    shownAt = performance.now();
    process.stderr.write(`${name}: ${documents} ${step}\n`);
  }).catch((error) => {
    throw error instanceof CopyRefused ? new AdminError(error.message) : error;
  });
  const rows = [...contents].map(([name, content]) => [name, ...content.map(String)]);
  printTable(['collection', 'documents', 'sha256'], rows);
  print('Copied and compared: both stores contain the same documents.');
}
