import { isOnTerminal, type Logger } from '../contract/log.ts';
import { adminCommand } from '../contract/package.ts';
import type { Settings } from '../contract/settings/table.ts';
import type { Shutdown } from '../contract/shutdown.ts';
import { logOutages, retryDuringOutages } from '../store/connection.ts';
import { isIncompleteCopy } from '../store/copy.ts';
import { newApiKey } from '../store/identifiers.ts';
import { JobQueue } from '../store/jobs.ts';
import { makeFolder } from '../store/make-folder.ts';
import { ensureIndexes, openStore, type Store, serverLimits } from '../store/open.ts';
import { openErrorText } from '../store/open-error.ts';
import { describeOutage } from '../store/outage.ts';
import { Idempotency } from './control/idempotency.ts';
import { RateLimit } from './control/rate-limit.ts';

/**
 * Opens the store as its owner, without waiting until it is available. A permanent error ends the
 * process.
 */
export async function openOwnStore(
  settings: Settings,
  log: Logger,
  shutdown: Shutdown,
): Promise<Store> {
  const opened = makeFolder(settings.dataDir).then(() =>
    openStore(settings, reportOutages(settings, log), (reason) =>
      log.warn({ reason }, 'store backup failed'),
    ),
  );
  const store = await opened.catch(async (error) => {
    const reason = openErrorText(error, settings.dataDir);
    return reason === null
      ? shutdown.fail('The store could not be opened.', error)
      : shutdown.fail(reason);
  });
  shutdown.add(() => store.close());
  store.failed.then((error) => {
    log.fatal({ err: error }, 'embedded store died');
    return shutdown.stop(1);
  });
  return store;
}

/**
 * Waits until the store is available, and prepares it for the front ends. A permanent error ends
 * the process.
 * @returns the new key of a store that contained no keys, else null
 */
export async function prepareStore(
  store: Store,
  settings: Settings,
  log: Logger,
  shutdown: Shutdown,
): Promise<string | null> {
  const { signal } = shutdown;
  try {
    await store.established(signal);
    // The store might become unavailable again during preparation, as in a MongoDB election.
    const onOutage = reportOutages(settings, log);
    // Every attempt uses this key, because a failed attempt can have stored it.
    const newKey = newApiKey();
    const attempt = () => prepare(store, settings, newKey, log);
    return await retryDuringOutages(attempt, { signal, onOutage });
  } catch (error) {
    return shutdown.fail(`The store cannot be used: ${describeOutage(error)}.`, error);
  }
}

/** Logs outages, and writes the first one to standard error. */
function reportOutages(settings: Settings, log: Logger): (cause: string | null) => void {
  const logOutage = logOutages(log);
  let written = isOnTerminal(settings);
  return (cause) => {
    logOutage(cause);
    if (cause === null || written) return;
    written = true;
    process.stderr.write(
      `The store is unavailable: ${cause}. Until it responds, the service delivers only images of known projects.\n`,
    );
  };
}

/** Safe to repeat. */
async function prepare(
  store: Store,
  settings: Settings,
  newKey: string,
  log: Logger,
): Promise<string | null> {
  if (await isIncompleteCopy(store.db)) {
    throw new Error('it contains an incomplete copy of another store; run `store copy` again');
  }
  await ensureIndexes(store);
  await new JobQueue(store.db).ensureIndexes();
  await new RateLimit(store.db, settings.apiRateLimit).ensureIndexes();
  await new Idempotency(store.db).ensureIndexes();
  const limits = await serverLimits(store.db);
  if (limits !== null) log.info(`store limits: ${limits}`);
  return ensureRootKey(store, settings, newKey, log);
}

/** Stores the configured API key, or else the new key as the first key, and returns it. */
async function ensureRootKey(
  { keys, organisations }: Store,
  { rootApiKey, mongodbUrl }: Settings,
  newKey: string,
  log: Logger,
): Promise<string | null> {
  const { _id: orgId } = await organisations.default();
  if (rootApiKey !== null) {
    await keys.storeEnvironmentKey(rootApiKey, orgId);
    // Only this machine uses the embedded store, so its earlier keys are not in use elsewhere.
    if (mongodbUrl === null) {
      await keys.revokeOtherEnvironmentKeys(rootApiKey);
      return null;
    }
    const others = await keys.otherEnvironmentKeys(rootApiKey);
    if (others.length === 0) return null;
    log.warn(
      { keys: others },
      `store contains other keys from SERVICE_ROOT_API_KEY, of other machines or earlier settings; revoke unused keys: ${adminCommand('keys revoke <id>')}`,
    );
    return null;
  }
  return (await keys.storeFirst(newKey, orgId)) ? newKey : null;
}
