import { chmodSync } from 'node:fs';
import { createServer } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { Cursors } from './commands/cursors.ts';
import { runCommand } from './commands/table.ts';
import { Backups, type BackupTimes } from './storage/backup.ts';
import { Catalog } from './storage/catalog.ts';
import { sweepExpired } from './storage/expiry.ts';
import { ClientConnection } from './wire/connection.ts';

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
  { file, socket: path, backupTimes }: ThreadData,
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
  const onFailure = (reason: string) => send({ type: 'backup-failed', reason });
  const backups = new Backups(catalog.log, onFailure, backupTimes);
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
    clearInterval(sweeping);
    server.close();
    for (const connection of connections) connection.stopReading();
    // Commits and replies to finished commands before connections close.
    await catalog.log.durable().catch(() => {});
    await new Promise((resolve) => setImmediate(resolve));
    for (const connection of connections) connection.end();
    await backups.close();
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
