import { join } from 'node:path';
import { installed, startServer } from './launch.ts';
import type { Server } from './server.ts';

export const hasHaproxy = installed('haproxy');

/**
 * Starts HAProxy with the example configuration of docs/deploy.
 * @param example the contents of docs/deploy/haproxy.cfg
 * @param addresses of its three machines, such as `127.0.0.1:3000`
 */
export const startHaproxy = (example: string, addresses: readonly string[]): Promise<Server> =>
  startServer(
    'haproxy',
    (_, folder) => ['haproxy', '-db', '-q', '-f', join(folder, 'haproxy.cfg')],
    {
      files: (_, port) => ({
        'haproxy.cfg': example
          .replace('bind :80', `bind 127.0.0.1:${port}`)
          .replaceAll(/10\.0\.0\.1([123]):3000/g, (_, id) => addresses[Number(id) - 1] ?? ''),
      }),
    },
  );
