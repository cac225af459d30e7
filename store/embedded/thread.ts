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
  /** Becomes 1 when the thread has stopped permanently; shared with its owner. */
  readonly stopped: Int32Array;
}

/** `stop`: run no more code, because the process exits. */
export type OwnerMessage = 'close' | 'stop';

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
  { file, socket: path, backupTimes, stopped }: ThreadData,
  port: NonNullable<typeof parentPort>,
): void {
  const send = (message: ThreadMessage) => port.postMessage(message);
  const cursors = new Cursors();
  let catalog: Catalog;
  try {
    catalog = new Catalog(file, () => cursors.clear());
  } catch (error) {
    send({ type: 'unreadable', reason: error instanceof Error ? error.message : String(error) });
    return port.close();
  }
  const backups = new Backups(
    catalog.journal,
    file,
    (reason) => send({ type: 'backup-failed', reason }),
    backupTimes,
  );
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
    await catalog.journal.durable().catch(() => {});
    await new Promise((resolve) => setImmediate(resolve));
    for (const connection of connections) connection.end();
    await backups.close();
    await catalog.journal.close();
    port.close();
  };
  port.on('message', (message: OwnerMessage) => {
    if (message === 'close') return void close();
    Atomics.store(stopped, 0, 1);
    Atomics.notify(stopped, 0);
    // Blocks until the thread's termination.
    Atomics.wait(stopped, 0, 1);
  });
}

if (parentPort !== null && isThreadData(workerData)) serve(workerData, parentPort);
