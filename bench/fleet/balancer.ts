import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { startHaproxy } from '../servers/haproxy.ts';
import type { Server } from '../servers/server.ts';

/** HAProxy with the configuration of docs/deploy. */
export interface Balancer extends Server {
  /** Resolves when HAProxy sends requests to all machines. */
  untilAllUsed(): Promise<void>;
}

const published = new URL('../../../docs/deploy/haproxy.cfg', import.meta.url);

export async function startBalancer(
  machines: ReadonlyArray<{ readonly port: number }>,
): Promise<Balancer> {
  const socket = join(tmpdir(), `image-delivery-haproxy-${process.pid}`);
  const server = await startHaproxy(
    observed(await readFile(published, 'utf8'), socket),
    machines.map(({ port }) => `127.0.0.1:${port}`),
  );
  const used = async () => {
    const connection = connect(socket);
    await once(connection, 'connect');
    connection.end('show servers state images\n');
    // The sixth field is the state: 2 when the server runs.
    const states = (await text(connection)).split('\n').map((line) => line.split(' ')[5]);
    return states.filter((state) => state === '2').length;
  };
  const untilAllUsed = async () => {
    while ((await used()) < machines.length) await sleep(100);
  };
  await untilAllUsed();
  return { ...server, untilAllUsed };
}

/** Adds a socket that shows the machines' states, and the header X-Machine, which names the machine of a response. */
function observed(configuration: string, socket: string): string {
  return (
    configuration
      .replace(/^global$/m, `$&\n    stats socket ${socket} mode 600`)
      .replaceAll(/^backend images.*$/gm, '$&\n    http-response set-header X-Machine %s')
      // More connections need a higher limit of open files than many shells have.
      .replace(/^ *maxconn.*/m, '    maxconn 2000')
  );
}
