import { join } from 'node:path';
import { installed, startServer } from './launch.ts';
import type { Server } from './server.ts';

export const hasHaproxy = installed('haproxy');

/** The lines of a backend that name the machines of the example. */
const machines = / {4}server one .+\n {4}server two .+\n {4}server three .+\n/;

/**
 * Starts HAProxy with the example configuration of docs/deploy.
 * @param example the contents of docs/deploy/haproxy.cfg
 * @param addresses of the services, such as `127.0.0.1:3000`
 */
export function startHaproxy(example: string, addresses: readonly string[]): Promise<Server> {
  const lines = (options: (id: number) => string): string =>
    addresses
      .map((address, index) => `    server s${index + 1} ${address} ${options(index + 1)}\n`)
      .join('');
  return startServer(
    'haproxy',
    (_, folder) => ['haproxy', '-db', '-q', '-f', join(folder, 'haproxy.cfg')],
    {
      files: (_, port) => ({
        'haproxy.cfg': example
          .replace('bind :80', `bind 127.0.0.1:${port}`)
          .replace(
            machines,
            lines((id) => `id ${id}`),
          )
          .replace(
            machines,
            lines((id) => `id ${id} track images/s${id}`),
          )
          .replace(
            machines,
            lines((id) => `track images/s${id}`),
          ),
      }),
    },
  );
}
