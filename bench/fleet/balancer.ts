import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { startHaproxy } from '../servers/haproxy.ts';
import type { Server } from '../servers/server.ts';
import type { FleetMachine } from './machine.ts';

/** HAProxy with the configuration of docs/deploy. */
export interface Balancer extends Server {
  /** Resolves when HAProxy sends requests to a machine that has started. */
  untilUsed(machine: FleetMachine): Promise<void>;
}

const published = new URL('../../../docs/deploy/haproxy.cfg', import.meta.url);

export async function startBalancer(machines: readonly FleetMachine[]): Promise<Balancer> {
  const socket = join(tmpdir(), `image-delivery-haproxy-${process.pid}`);
  const server = await startHaproxy(
    observed(await readFile(published, 'utf8'), socket),
    machines.map(({ port }) => `127.0.0.1:${port}`),
  );
  const isUsed = async ({ name }: FleetMachine) => {
    const connection = connect(socket);
    await once(connection, 'connect');
    connection.end('show servers state images\n');
    const lines = (await text(connection)).split('\n');
    // The fourth field is the server, the sixth its state: 2 when it runs.
    return lines.some((line) => line.split(' ')[3] === name && line.split(' ')[5] === '2');
  };
  const untilUsed = async (machine: FleetMachine) => {
    while (!(await isUsed(machine))) await sleep(100);
  };
  for (const machine of machines) await untilUsed(machine);
  return { ...server, untilUsed };
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
