import { randomInt } from 'node:crypto';
import { calculateObjectSize, Long } from 'bson';
import type { Document } from '../bson/value.ts';
import { ReplyError } from '../errors.ts';
import type { Catalog, Collection } from '../storage/collection.ts';
import { maxDocumentBytes } from '../supported.ts';
import type { CommandReply } from '../wire/message.ts';

/** MongoDB's default for commands that set no batch size. */
const firstBatchDocuments = 101;
const idleMs = 10 * 60 * 1000;
/** Maximum overhead of an array element in a document. */
const elementOverheadBytes = 12;

/** A snapshot taken at the first batch; it hides later writes. */
interface Cursor {
  readonly namespace: string;
  readonly documents: readonly Document[];
  readonly project: (document: Document) => Document;
  position: number;
  usedAt: number;
}

export interface CursorResult {
  readonly namespace: string;
  readonly documents: readonly Document[];
  readonly project?: ((document: Document) => Document) | undefined;
  /** Documents in the first batch; 0 for an empty batch. */
  readonly batchSize?: number | undefined;
  readonly singleBatch?: boolean;
}

/** Open cursors. One that is not used for ten minutes is closed. */
export class Cursors {
  readonly #open = new Map<number, Cursor>();

  /** The reply with a result's first batch. */
  start(result: CursorResult): CommandReply {
    const cursor: Cursor = {
      namespace: result.namespace,
      documents: result.documents,
      project: result.project ?? ((document) => document),
      position: 0,
      usedAt: Date.now(),
    };
    const firstBatch = nextBatch(cursor, result.batchSize ?? firstBatchDocuments);
    const done = cursor.position === cursor.documents.length || result.singleBatch === true;
    const id = done ? 0 : this.#keep(cursor);
    return { cursor: { firstBatch, id: Long.fromNumber(id), ns: result.namespace } };
  }

  /** @throws {ReplyError} 43 for an unknown or expired cursor. */
  more(id: number, namespace: string): CommandReply {
    const cursor = this.#open.get(id);
    if (cursor === undefined || cursor.namespace !== namespace) {
      throw new ReplyError(43, `cursor id ${id} not found`);
    }
    const batch = nextBatch(cursor, cursor.documents.length);
    cursor.usedAt = Date.now();
    const done = cursor.position === cursor.documents.length;
    if (done) this.#open.delete(id);
    return { cursor: { nextBatch: batch, id: Long.fromNumber(done ? 0 : id), ns: namespace } };
  }

  /** @returns whether the cursor existed */
  kill(id: number, namespace: string): boolean {
    return this.#open.get(id)?.namespace === namespace && this.#open.delete(id);
  }

  expire(now: number): void {
    for (const [id, cursor] of this.#open) {
      if (now - cursor.usedAt > idleMs) this.#open.delete(id);
    }
  }

  #keep(cursor: Cursor): number {
    // Not 0, which means "no cursor".
    const id = randomInt(1, 2 ** 48 - 1);
    this.#open.set(id, cursor);
    return id;
  }
}

/** Returns at most `limit` documents and, unless a single document is larger, at most 16 MiB. */
function nextBatch(cursor: Cursor, limit: number): Document[] {
  const batch: Document[] = [];
  let bytes = 0;
  while (batch.length < limit && cursor.position < cursor.documents.length) {
    const stored = cursor.documents[cursor.position];
    if (stored === undefined) break;
    const document = cursor.project(stored);
    bytes += calculateObjectSize(document) + elementOverheadBytes;
    if (batch.length > 0 && bytes > maxDocumentBytes) break;
    batch.push(document);
    cursor.position += 1;
  }
  return batch;
}

export interface ServerState {
  readonly catalog: Catalog;
  readonly cursors: Cursors;
}

/** One command from one client. */
export interface CommandContext extends ServerState {
  readonly database: string;
  readonly connection: number;
}

export const toNamespace = ({ database }: CommandContext, collection: string): string =>
  `${database}.${collection}`;

export const findCollection = (context: CommandContext, name: string): Collection | undefined =>
  context.catalog.get(toNamespace(context, name));

export const createCollection = (context: CommandContext, name: string): Collection =>
  context.catalog.getOrCreate(toNamespace(context, name));
