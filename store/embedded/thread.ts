import { chmodSync } from 'node:fs';
import { createServer } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import type { Value } from './bson/value.ts';
import { Cursors } from './commands/context.ts';
import { runCommand } from './commands/table.ts';
import { ReplyError } from './errors.ts';
import { someValueAt } from './query/path.ts';
import { Catalog, type Collection } from './storage/collection.ts';
import type { Entry, IndexSpecification } from './storage/index.ts';
import { ClientConnection } from './wire/connection.ts';

export interface BackupTimes {
  /** Until the first backup after a start, and between two, in ms. */
  readonly firstAfterMs: number;
  readonly everyMs: number;
}

const hourly: BackupTimes = { firstAfterMs: 60_000, everyMs: 60 * 60_000 };

export interface ThreadData {
  readonly file: string;
  readonly socket: string;
  readonly backupTimes?: BackupTimes | undefined;
}

export type OwnerMessage = 'close';

export type ThreadMessage =
  | { readonly type: 'listening' }
  /** The thread cannot load the data file, and ends. */
  | { readonly type: 'unreadable'; readonly reason: string }
  | { readonly type: 'backup-failed'; readonly reason: string };

/** Enough for several 100-connection driver pools; the listener drops more connections. */
const maxConnections = 1000;
const sweepIntervalMs = 1000;

function isThreadData(data: unknown): data is ThreadData {
  return typeof data === 'object' && data !== null && 'file' in data && 'socket' in data;
}

function serve(
  { file, socket: path, backupTimes = hourly }: ThreadData,
  port: NonNullable<typeof parentPort>,
): void {
  const send = (message: ThreadMessage) => port.postMessage(message);
  const cursors = new Cursors();
  let catalog: Catalog;
  try {
    catalog = new Catalog(file);
  } catch (error) {
    // A file system error ends the thread.
    if (hasFileSystemCode(error)) throw error;
    send({ type: 'unreadable', reason: error instanceof Error ? error.message : String(error) });
    return port.close();
  }
  const backUp = () =>
    catalog.log.backUp().catch((error) => send({ type: 'backup-failed', reason: error.message }));
  const firstBackup = setTimeout(backUp, backupTimes.firstAfterMs);
  const backups = setInterval(backUp, backupTimes.everyMs);
  const state = { catalog, cursors };
  const connections = new Set<ClientConnection>();
  let connectionCount = 0;

  const server = createServer((socket) => {
    connectionCount += 1;
    const id = connectionCount;
    const run = (command: Parameters<typeof runCommand>[1]) => runCommand(state, command, id);
    const connection = new ClientConnection(socket, run);
    connections.add(connection);
    socket.on('close', () => connections.delete(connection));
  });
  server.maxConnections = maxConnections;

  const sweeping = setInterval(() => {
    cursors.expire(Date.now());
    sweepExpired(catalog, Date.now());
  }, sweepIntervalMs);

  server.listen(path, () => {
    chmodSync(path, 0o600);
    send({ type: 'listening' });
  });

  const close = async () => {
    for (const timer of [sweeping, firstBackup, backups]) clearInterval(timer);
    server.close();
    for (const connection of connections) connection.stopReading();
    // Commits and replies to finished commands before connections close.
    await catalog.log.durable().catch(() => {});
    await new Promise((resolve) => setImmediate(resolve));
    for (const connection of connections) connection.end();
    await catalog.log.close();
    port.close();
  };
  port.on('message', (message: OwnerMessage) => {
    if (message === 'close') void close();
  });
}

const hasFileSystemCode = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && typeof error.code === 'string';

if (parentPort !== null && isThreadData(workerData)) serve(workerData, parentPort);

const msPerSecond = 1000;

/**
 * Removes documents that have expired under a TTL index. A later sweep removes documents left
 * behind by a full disk or a failed write.
 */
export function sweepExpired(catalog: Catalog, now: number): void {
  for (const collection of catalog.list()) {
    try {
      for (const index of collection.indexes) {
        for (const entry of expired(collection, index, now)) collection.remove(entry);
      }
    } catch (error) {
      if (!(error instanceof ReplyError)) throw error;
    }
  }
  void catalog.log.durable().catch(() => {});
}

function expired(collection: Collection, index: IndexSpecification, now: number): Entry[] {
  const { expireAfterSeconds, path } = index;
  if (expireAfterSeconds === null) return [];
  const latest = now - expireAfterSeconds * msPerSecond;
  const isDue = (value: Value) => value instanceof Date && value.getTime() <= latest;
  // Other values never expire.
  return [...collection.entries()].filter(({ document }) => someValueAt(document, path, isDue));
}
