import { wholeNumber } from '../bson/number.ts';
import type { Document } from '../bson/value.ts';
import { fieldOf, isNumber } from '../bson/value.ts';
import { CommandError, notSupported } from '../errors.ts';
import type { Catalog } from '../storage/catalog.ts';
import type { Collection } from '../storage/collection.ts';
import { Arguments } from './arguments.ts';
import type { Cursors } from './cursors.ts';

/** What commands work on. */
export interface Store {
  readonly catalog: Catalog;
  readonly cursors: Cursors;
}

/** A reply's fields besides `ok`; JavaScript numbers go out as int32 or double. */
export type Reply = { readonly [field: string]: unknown };

/** One command from one client. */
export class Call {
  readonly store: Store;
  readonly name: string;
  readonly database: string;
  readonly connection: number;
  readonly given: Arguments;
  readonly #touched = new Set<Collection>();

  /** @throws {CommandError} for a bad `$db`, or for a session or write option that is not offered */
  constructor(store: Store, command: Document, name: string, connection: number) {
    this.store = store;
    this.name = name;
    this.connection = connection;
    this.given = new Arguments(command, name);
    this.database = databaseName(this.given.text('$db'));
    this.given.ignore('lsid', 'comment', '$readPreference', '$clusterTime', 'maxTimeMS');
    this.given.ignore('apiDeprecationErrors', 'bypassDocumentValidation');
    this.#takeVersion();
    this.#takeTransaction();
    this.#takeConcerns();
  }

  /** The namespace whose collection the command's own field names. */
  namespace(): string {
    return `${this.database}.${collectionName(this.given.text(this.name))}`;
  }

  collection(namespace: string): Collection | undefined {
    return this.#touch(this.store.catalog.get(namespace));
  }

  createCollection(namespace: string): Collection {
    const collection = this.store.catalog.getOrCreate(namespace);
    this.#touched.add(collection);
    return collection;
  }

  /** The last batch of the journal that the reply rests on: it goes out when that is on disk. */
  get restsOn(): number {
    let last = this.store.catalog.changed;
    for (const { changed } of this.#touched) last = Math.max(last, changed);
    return last;
  }

  #touch(collection: Collection | undefined): Collection | undefined {
    if (collection !== undefined) this.#touched.add(collection);
    return collection;
  }

  #takeVersion(): void {
    const version = this.given.value('apiVersion');
    if (version !== undefined && version !== '1') {
      throw new CommandError(322, 'the API version must be "1"');
    }
    this.given.refuseTrue('apiStrict');
  }

  #takeTransaction(): void {
    const transaction = this.given.value('startTransaction') ?? this.given.value('autocommit');
    if (transaction !== undefined || this.given.value('txnNumber') !== undefined) {
      throw new CommandError(20, 'Transaction numbers are only allowed on a replica set member');
    }
  }

  #takeConcerns(): void {
    const read = this.given.optionalDocument('readConcern') ?? {};
    for (const field of Object.keys(read)) {
      // A reply never goes out before what it rests on is on disk, which satisfies every level
      // except that of a snapshot across commands.
      if (field !== 'level') throw notSupported(`readConcern.${field}`);
    }
    const level = fieldOf(read, 'level');
    if (level === 'snapshot') throw notSupported('the read concern snapshot');
    const write = this.given.optionalDocument('writeConcern') ?? {};
    const w = fieldOf(write, 'w');
    const copies = isNumber(w) ? wholeNumber(w) : null;
    if (w !== undefined && w !== 'majority' && copies !== 0 && copies !== 1) {
      throw new CommandError(2, "cannot use 'w' > 1 when a host is not replicated");
    }
  }
}

const MAX_DATABASE_NAME_BYTES = 63;
const MAX_NAMESPACE_BYTES = 255;

function databaseName(name: string): string {
  if (
    name === '' ||
    Buffer.byteLength(name) > MAX_DATABASE_NAME_BYTES ||
    /[/\\. "$*<>:|?\0]/.test(name)
  ) {
    throw new CommandError(73, `Invalid database name: '${name}'`);
  }
  return name;
}

export function collectionName(name: string): string {
  const malformed = name === '' || name.startsWith('.') || /[$\0]/.test(name);
  if (malformed || name.startsWith('system.') || Buffer.byteLength(name) > MAX_NAMESPACE_BYTES) {
    throw new CommandError(73, `Invalid collection name: '${name}'`);
  }
  return name;
}
