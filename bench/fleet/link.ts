import type { AddressInfo } from 'node:net';
import { connect, createServer, type NetConnectOpts, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** `slow` delays all bytes, `silent` drops all bytes, `refused` refuses connections. */
export type Fault = 'none' | 'slow' | 'silent' | 'refused';

/** A slow link's delay in each direction, ms. */
export const slowMs = 2_000;

/** A TCP port of 127.0.0.1 that forwards to a server, with faults. */
export interface Link {
  readonly port: number;
  /** Ends the open connections, except when the link becomes slow. */
  set(fault: Fault): Promise<void>;
  close(): Promise<void>;
}

export async function startLink(target: NetConnectOpts): Promise<Link> {
  const sockets = new Set<Socket>();
  let fault: Fault = 'none';
  const forward = (from: Socket, to: Socket) => {
    let previous: Promise<unknown> = Promise.resolve();
    from.on('data', (chunk) => {
      if (fault === 'silent') return;
      if (fault === 'slow') previous = Promise.all([previous, sleep(slowMs)]);
      previous = previous.then(() => to.writable && to.write(chunk));
    });
  };
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect(target);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    }
    forward(near, far);
    forward(far, near);
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  });
  const listen = (port: number) =>
    new Promise<void>((done, failed) => {
      server.once('error', failed).listen(port, '127.0.0.1', done);
    });
  const cut = async () => {
    const closed = server.listening ? new Promise((done) => server.close(done)) : null;
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    port,
    async set(next) {
      fault = next;
      if (next === 'slow') return;
      await cut();
      if (next !== 'refused') await listen(port);
    },
    close: cut,
  };
}
