import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { CommandError } from '../../contract/errors.ts';
import { adminCommand } from '../../contract/package.ts';
import type { Settings } from '../../contract/settings/table.ts';
import type { Store } from '../../store/open.ts';
import { jsonOption, type PrintedList, print, printList, printTable } from './terminal.ts';

/** The option of commands that make sense in a new store, and so can create a missing store. */
export const createOption = ['--yes', 'create a missing store in any folder'] as const;

/** Where a command can create a missing store: nowhere, in the default folder, or in any folder. */
type Creation = 'never' | 'default' | 'any';

/** Returns where a command with {@link createOption} can create a store. */
export const toCreation = (yes = false): Creation => (yes ? 'any' : 'default');

/**
 * Runs an action with the configured store, which a service can use at the same time, and closes
 * it. Loads the store code only then: the command's help does not need it, and loading takes time.
 */
export async function withStore(
  action: (store: Store, settings: Settings) => Promise<void>,
  creation: Creation = 'never',
): Promise<void> {
  const { settingsOrExit } = await import('../../contract/settings/load.ts');
  const { ensureIndexes, joinStore, storeExists } = await import('../../store/open.ts');
  const settings = settingsOrExit();
  if (!storeExists(settings)) {
    const place = resolve(settings.dataDir);
    const reason = await whyNotCreate(settings, creation);
    if (reason !== null) {
      throw new CommandError(
        `There is no store in ${place}, and SERVICE_MONGODB_URL is not set. ${reason} For a new store there, add --yes to this command: ${adminCommand('projects create')}`,
      );
    }
    process.stderr.write(`Creating a new store in ${place}.\n`);
  }
  await useStore(
    () => joinStore(settings),
    settings.dataDir,
    async (store) => {
      await ensureIndexes(store);
      await action(store, settings);
    },
  );
}

/**
 * Opens a store, runs an action with it, and closes it.
 * @param unusable begins the message if the store does not open
 * @throws CommandError
 */
async function useStore(
  open: () => Promise<Store>,
  dataDir: string,
  action: (store: Store) => Promise<void>,
  unusable = '',
): Promise<void> {
  const { openErrorText } = await import('../../store/open-error.ts');
  const { isOutage, describeOutage } = await import('../../store/outage.ts');
  const store = await open().catch((error) => {
    const reason = openErrorText(error, dataDir);
    throw reason === null ? error : new CommandError(unusable + reason);
  });
  try {
    await action(store);
  } catch (error) {
    if (!isOutage(error)) throw error;
    throw new CommandError(
      `The store is unavailable: ${describeOutage(error)}. Run the command again.`,
    );
  } finally {
    await store.close();
  }
}

const systemdUnit = '/etc/systemd/system/image-delivery.service';

/**
 * Returns why a command does not create a missing store, or null if it does. In a mistyped data
 * folder, or without a service's settings, the service would not find its projects and keys.
 */
async function whyNotCreate({ port }: Settings, creation: Creation): Promise<string | null> {
  if (creation === 'any') return null;
  const next = 'Run the command with the settings of the service, or start the service.';
  if (creation === 'never' || process.env['SERVICE_DATA_DIR']) return next;
  if (existsSync(systemdUnit)) {
    return `The settings of ${systemdUnit} name another store: run image-delivery-admin instead.`;
  }
  const health = await fetch(`http://127.0.0.1:${port}/api/health`, {
    signal: AbortSignal.timeout(1_000),
  }).then(
    (response) => response.json() as Promise<{ service?: unknown }>,
    () => null,
  );
  return health?.service === 'image-delivery'
    ? `The service at port ${port} uses another store. ${next}`
    : null;
}

/** Completes a command that lists what the store contains, with the option `--json`. */
export function addListAction<T>(
  command: Command,
  read: (store: Store, ...args: string[]) => Promise<readonly T[]>,
  shown: Omit<PrintedList<T>, 'items'>,
): void {
  command.option(...jsonOption).action(() => {
    const { json } = command.opts<{ json?: boolean }>();
    return withStore(async (store) => {
      printList({ ...shown, items: await read(store, ...command.args) }, json);
    });
  });
}

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
      const { backUpToFile } = await import('../../store/backups.ts');
      const { dataDir, mongodbUrl } = settingsOrExit();
      if (mongodbUrl !== null) {
        throw new CommandError('Use the tools of your MongoDB, such as mongodump.');
      }
      const bytes = await backUpToFile(dataDir, file);
      print(`${file} contains the store (${bytes} bytes).`);
    });

  group
    .command('restore')
    .description('replace the embedded store with a backup, keeping the old file')
    .argument('[file]', "a backup; default: the service's last backup")
    .action(async (file?: string) => {
      const { settingsOrExit } = await import('../../contract/settings/load.ts');
      const { restoreBackup } = await import('../../store/backups.ts');
      const { dataDir } = settingsOrExit();
      const { dataTime, replaced } = await restoreBackup(dataDir, file);
      print(
        dataTime === null
          ? 'The backup is restored. It was made by an earlier version, which did not record the time of its data.'
          : `Restored the store to its state at ${dataTime.toISOString()}.`,
      );
      if (replaced !== null) print(`The file that it replaced is ${replaced}.`);
    });
}

const progressEveryMs = 2_000;

/** Returns a store's location: `embedded`, a URL, or by default the configured store. */
const toLocation = (settings: Settings, store = settings.mongodbUrl ?? 'embedded') => ({
  mongodbUrl: store === 'embedded' ? null : store,
  dataDir: settings.dataDir,
});

/** `store copy`. @throws CommandError */
async function copyBetween(from: string | undefined, to: string | undefined): Promise<void> {
  const { settingsOrExit } = await import('../../contract/settings/load.ts');
  const settings = settingsOrExit();
  const [source, target] = [toLocation(settings, from), toLocation(settings, to)];
  if (source.mongodbUrl === target.mongodbUrl) {
    throw new CommandError('Pass --to <store> or --from <store> to name another store.');
  }
  await withUnused('source', source, (store) =>
    withUnused('target', target, (other) => copy(store, other)),
  );
}

/** Runs an action with a store that no service and no worker uses. @throws CommandError */
async function withUnused(
  role: 'source' | 'target',
  place: ReturnType<typeof toLocation>,
  action: (store: Store) => Promise<void>,
): Promise<void> {
  const { ensureIndexes, openUnusedStore, storeExists } = await import('../../store/open.ts');
  const { findActiveRole } = await import('../../store/heartbeat.ts');
  if (role === 'source' && !storeExists(place))
    throw new CommandError('The source does not exist.');
  const use = async (store: Store) => {
    const wait = () => process.stderr.write(`Waiting until nothing uses the ${role}.\n`);
    const part = store.isInProcess ? null : await findActiveRole(store.db, wait);
    if (part !== null) {
      throw new CommandError(`A ${part} uses the ${role}: stop all services and workers first.`);
    }
    if (role === 'target') await ensureIndexes(store);
    await action(store);
  };
  await useStore(() => openUnusedStore(place), place.dataDir, use, `The ${role} cannot be used. `);
}

async function copy(source: Store, target: Store): Promise<void> {
  const { copyStore } = await import('../../store/copy.ts');
  let shownAt = performance.now();
  const contents = await copyStore(source.db, target.db, (step, name, documents) => {
    if (performance.now() - shownAt < progressEveryMs) return;
    shownAt = performance.now();
    process.stderr.write(`${name}: ${documents} ${step}\n`);
  });
  const rows = [...contents].map(([name, content]) => [name, ...content.map(String)]);
  printTable(['collection', 'documents', 'sha256'], rows);
  print('Copied and compared: both stores contain the same documents.');
}
