import type { Command } from 'commander';
import type { Settings } from '../../contract/settings/table.ts';
import type {
  CollectionCounts,
  CollectionPass,
  Conflict,
} from '../../store/copy/copy-collection.ts';
import { openStore } from './store.ts';
import { AdminError, print, printTable } from './terminal.ts';

interface Options {
  readonly from?: string;
  readonly to?: string;
  readonly merge?: true;
  readonly delete?: true;
  readonly keep?: true;
  readonly dryRun?: true;
}

interface Place extends Pick<Settings, 'mongodbUrl' | 'dataDir'> {
  /** For people, without credentials. */
  readonly name: string;
}

const progressEveryMs = 2_000;
/** Documents that are named one by one. */
const maxNamed = 50;

export function addStoreCommands(program: Command): void {
  const group = program.command('store').description('the store as a whole');
  addCopyCommand(group);

  group
    .command('restore')
    .description(
      "replace the embedded store's file with its last backup; the replaced file is kept",
    )
    .action(async () => {
      const { settingsOrExit } = await import('../../contract/settings/load.ts');
      const { RestoreFailed, restoreBackup } = await import('../../store/restore.ts');
      const { dataDir } = settingsOrExit();
      const { dataOf, replaced } = await restoreBackup(dataDir).catch((error) => {
        throw error instanceof RestoreFailed ? new AdminError(error.message) : error;
      });
      print(
        dataOf === null
          ? 'The backup is restored. It was made by an earlier version, which did not record the time of its data.'
          : `The store is as it was at ${dataOf.toISOString()}.`,
      );
      if (replaced !== null) print(`The file that it replaced is ${replaced}.`);
    });
}

function addCopyCommand(group: Command): void {
  group
    .command('copy')
    .description(
      'copy projects, organisations, keys, usage and jobs to another store, which may be in use',
    )
    .option('--from <store>', '`embedded` or a mongodb:// URL; default: the store of the settings')
    .option('--to <store>', '`embedded` or a mongodb:// URL; default: the store of the settings')
    .option('--merge', 'copy also to a store with the data of another deployment')
    .option(
      '--delete',
      'delete copied documents that the store to copy from does not have any more',
    )
    .option(
      '--keep',
      'accept documents that have changed in both stores as the target store has them',
    )
    .option('--dry-run', 'count documents, without a change')
    .action(async (options: Options) => {
      const { settingsOrExit } = await import('../../contract/settings/load.ts');
      const settings = settingsOrExit();
      const from = await placeOf(options.from, settings);
      const to = await placeOf(options.to, settings);
      if (from.name === to.name) {
        throw new AdminError('Name another store: --to <store>, or --from <store>.');
      }
      if (options.merge && options.delete) {
        throw new AdminError('--delete would delete the data that --merge keeps.');
      }
      await copy(from, to, options);
    });
}

async function placeOf(
  store: string | undefined,
  { mongodbUrl, dataDir }: Settings,
): Promise<Place> {
  const url = store === undefined ? mongodbUrl : store === 'embedded' ? null : store;
  if (url !== null && !/^mongodb(\+srv)?:\/\//.test(url)) {
    throw new AdminError('A store is `embedded` or a mongodb:// or mongodb+srv:// URL.');
  }
  const { addressOf } = await import('../../store/client.ts');
  const { StoreUrlInvalid } = await import('../../store/outage.ts');
  try {
    const name = url === null ? `the embedded store in ${dataDir}` : addressOf(url);
    return { mongodbUrl: url, dataDir, name };
  } catch (error) {
    throw error instanceof StoreUrlInvalid ? new AdminError(error.message) : error;
  }
}

async function copy(from: Place, to: Place, options: Options): Promise<void> {
  const { JobQueue } = await import('../../store/jobs.ts');
  const { ensureIndexes } = await import('../../store/open.ts');
  const { CopyRefused, copyStore } = await import('../../store/copy/copy-store.ts');
  const { describeOutage, isOutage } = await import('../../store/outage.ts');
  const { dryRun = false, merge: merges = false, delete: deletes = false } = options;
  const { keep: keeps = false } = options;
  print(`From ${from.name} to ${to.name}${dryRun ? ', without a change' : ''}:`);
  const source = await openStore(from, `${from.name}: `);
  try {
    const target = await openStore(to, `${to.name}: `);
    try {
      if (!dryRun) {
        await ensureIndexes(target);
        await new JobQueue(target.db).ensureIndexes();
      }
      const onProgress = progress();
      const copyOptions = { dryRun, merges, deletes, keeps, onProgress };
      const copied = await copyStore(source.db, target.db, copyOptions);
      report(copied.collections, dryRun);
      refuseConflicts(copied.conflicts);
      if (dryRun) return;
      if (!copied.verified) {
        throw new AdminError('The store changed during the last pass. Run the command again.');
      }
      print(verdict(copied.collections));
    } finally {
      await target.close();
    }
  } catch (error) {
    if (error instanceof CopyRefused) throw new AdminError(error.message);
    if (!isOutage(error)) throw error;
    throw new AdminError(
      `A store is unavailable: ${describeOutage(error)}. Run the command again.`,
    );
  } finally {
    await source.close();
  }
}

/** Prints progress to standard error, at most every two seconds. */
function progress(): (name: string, counts: CollectionCounts) => void {
  let last = performance.now();
  return (name, { read, added, updated }) => {
    if (performance.now() - last < progressEveryMs) return;
    last = performance.now();
    process.stderr.write(`${name}: ${read} read, ${added} added, ${updated} updated\n`);
  };
}

/** @throws AdminError that names documents that have changed in both stores */
function refuseConflicts(conflicts: readonly Conflict[]): void {
  if (conflicts.length === 0) return;
  for (const { collection, id, fields } of conflicts.slice(0, maxNamed)) {
    print(
      `Changed in both stores, kept as in the target: ${collection} ${id} (${fields.join(', ')})`,
    );
  }
  const more = conflicts.length - maxNamed;
  if (more > 0) print(`and ${more} more`);
  throw new AdminError(
    `Not copied, because they have changed in both stores: ${conflicts.length}. Make these changes again in the target, or accept its documents with --keep.`,
  );
}

/** What the last pass has found, which copied nothing. */
function verdict(collections: ReadonlyMap<string, CollectionPass>): string {
  const sum = (name: keyof CollectionCounts) =>
    [...collections.values()].reduce((total, { counts }) => total + counts[name], 0);
  const [kept, left, others] = [sum('kept'), sum('left'), sum('others')];
  const exceptions = [
    kept > 0 ? `${kept} that the target has changed` : '',
    left > 0 ? `${left} jobs that are running` : '',
  ].filter((text) => text !== '');
  const except = exceptions.length === 0 ? '' : `, except ${exceptions.join(' and ')}`;
  const more = others === 0 ? '' : ` ${others} documents are only in the target.`;
  return `Checked: the target has all documents of the source${except}.${more}`;
}

function report(collections: ReadonlyMap<string, CollectionPass>, dryRun: boolean): void {
  const heads = [
    'collection',
    'documents',
    'added',
    'updated',
    'deleted',
    'kept',
    'left',
    'others',
  ];
  const rows = [...collections].map(([name, { counts, digest }]) => {
    const { read, added, updated, deleted, kept, conflicts, left, others } = counts;
    const numbers = [read, added, updated, deleted, kept + conflicts, left, others].map(String);
    return [name, ...numbers, ...(dryRun ? [] : [digest])];
  });
  printTable(dryRun ? heads : [...heads, 'sha256'], rows);
}
