import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Db, MongoClient } from 'mongodb';
import type { Test } from 'tap';
import { testDatabase } from '../store/connection.ts';
import { until } from '../until.ts';

export interface StoreLink {
  /** The test's database, over the link. */
  readonly db: Db;
  /** The same database over a direct connection. */
  readonly other: Db;
  /** URL of the link, for processes under test. */
  readonly url: string;
  /** Project ids loaded over the link, in order. */
  readonly lookups: readonly unknown[];
  /** Holds all bytes, including bytes on new connections, like a stopped server. */
  hold(): void;
  /**
   * Holds all bytes, starting with a message to the store that contains all of these texts.
   * Resolves once such a message arrives.
   */
  holdAt(...texts: readonly string[]): Promise<void>;
  /** Forwards the held bytes and all later bytes. */
  release(): void;
  /** Delays all later bytes in each direction. */
  slow(ms: number): void;
  /** Switches resets on or off for each connection that sends bytes. */
  reset(on: boolean): void;
  /** Drops all later bytes, and resolves after the first dropped bytes. */
  freeze(): Promise<void>;
  cut(): Promise<void>;
  mend(): Promise<void>;
}

/** Returns the BSON text of a store command: its name and a collection's name. */
export const storeCommand = (name: string, collection: string): string =>
  `${name}\0${String.fromCharCode(collection.length + 1)}\0\0\0${collection}\0`;

/** Returns a store, and a link to it that a test can cut and restore. */
export async function storeLink(t: Test): Promise<StoreLink> {
  const { url, db: other, databaseName } = await testDatabase(t);
  const [{ host = '', port = 0, socketPath } = {}] = other.client.options.hosts;
  const sockets = new Set<Socket>();
  let delayMs = 0;
  let open: Promise<void> = Promise.resolve();
  let release = () => {};
  let resetting = false;
  let onSent = (_: Buffer) => {};
  const forward = (from: Socket, to: Socket, isRequest: boolean) => {
    let sent: Promise<unknown> = Promise.resolve();
    from.on('data', (bytes) => {
      if (isRequest) onSent(bytes);
      if (resetting) return void from.resetAndDestroy();
      const dueAt = Date.now() + delayMs;
      sent = sent
        .then(() => (dueAt > Date.now() ? sleep(dueAt - Date.now()) : undefined))
        .then(() => open)
        .then(() => to.writable && to.write(bytes));
    });
  };
  const proxy = createServer((near) => {
    const far = connect(socketPath === undefined ? { host, port } : { path: socketPath });
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    }
    forward(near, far, true);
    forward(far, near, false);
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  });
  const listen = (port: number) =>
    new Promise<void>((done) => proxy.listen(port, '127.0.0.1', done));
  await listen(0);
  const { port: linkPort } = proxy.address() as AddressInfo;
  const freeze = () =>
    new Promise<void>((done) => {
      for (const socket of sockets) {
        socket.removeAllListeners('data').on('data', () => done());
      }
    });
  const hold = () => {
    open = new Promise((resolve) => {
      release = resolve;
    });
  };
  const holdAt = (...texts: readonly string[]) =>
    new Promise<void>((resolve) => {
      onSent = (bytes) => {
        if (!texts.every((text) => bytes.includes(text, 0, 'latin1'))) return;
        onSent = () => {};
        hold();
        resolve();
      };
    });
  const cut = async () => {
    const closed = new Promise((done) => proxy.close(done));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  t.teardown(cut);

  const [query = ''] = /\?.*/.exec(url) ?? [];
  const client = new MongoClient(`mongodb://127.0.0.1:${linkPort}/${query}`, {
    directConnection: true,
    monitorCommands: true,
    // Operations fail after this time only when the link is cut, even on a busy machine.
    serverSelectionTimeoutMS: 1_000,
    connectTimeoutMS: 20_000,
    heartbeatFrequencyMS: 500,
  });
  t.teardown(() => client.close());
  await until('a connection', () =>
    client.connect().then(
      () => true,
      () => false,
    ),
  );
  const lookups: unknown[] = [];
  client.on('commandStarted', ({ command }) => {
    const loads = command['find'] === 'projects' && command['projection'] === undefined;
    if (loads) lookups.push(...(command['filter']['_id']['$in'] ?? []));
  });
  return {
    db: client.db(databaseName),
    other,
    lookups,
    freeze,
    cut,
    mend: () => listen(linkPort),
    hold,
    holdAt,
    release: () => release(),
    reset: (on) => {
      resetting = on;
    },
    slow: (ms) => {
      delayMs = ms;
    },
    url: `mongodb://127.0.0.1:${linkPort}/${databaseName}${query}`,
  };
}
