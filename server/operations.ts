import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { Logger } from '../contract/log.ts';
import { hostNotAllowed, isForeignToLoopback } from '../contract/request-host.ts';
import { toListenAddresses } from '../contract/settings/listeners.ts';
import { defaultOpsPort, type Settings } from '../contract/settings/table.ts';
import { App } from './http/app.ts';
import { ClientConnections } from './http/connection-limit.ts';
import { defaultTimeouts, NodeServer } from './http/node-server.ts';
import type { HttpApp } from './http/request.ts';
import { uncachedHeaders } from './http/responses.ts';
import { expositionType } from './telemetry/registry.ts';

/** Longer than a scraper's interval, because scrapers keep their connections. */
const timeouts = { ...defaultTimeouts, keepAliveTimeout: 60_000 };
/** More than scrapers use. The process needs descriptors for the store and the front ends. */
const maxConnections = 100;

/** The operations listener of the service, which serves `/metrics`. */
function operationsApp(listensOn: string, metrics: () => Promise<string>): App {
  const headers = [['content-type', expositionType] as const, ...uncachedHeaders];
  return new App(
    [
      {
        path: '/metrics',
        methods: () => ['GET', 'HEAD'],
        handler: async (request) =>
          request.respond({ status: 200, headers, body: await metrics() }),
      },
    ],
    {
      onEnd: null,
      onError: () => {},
      admit: (request) => {
        const host = request.header('host');
        if (isForeignToLoopback(host, listensOn)) throw hostNotAllowed(host);
      },
    },
    '',
  );
}

/**
 * Starts the operations listener. Only a configured port must be free: the default belongs to
 * Prometheus itself.
 * @throws the listening error of a configured port or address
 */
export async function startOperations(
  settings: Pick<Settings, 'opsPort' | 'opsHost' | 'port' | 'workerPort'>,
  log: Pick<Logger, 'info' | 'warn'>,
  metrics: () => Promise<string>,
): Promise<void> {
  const { opsPort, opsHost: host } = settings;
  if (opsPort === 0) return;
  const port = opsPort ?? defaultOpsPort;
  const isChosen = opsPort !== null;
  const warn = () =>
    log.warn({ host, port }, 'metrics not served: port in use; set SERVICE_OPS_PORT');
  // This service's other listeners might not listen yet.
  if (!isChosen && (port === settings.port || port === settings.workerPort)) return warn();
  try {
    await freePort({ host, port });
    const start = (app: HttpApp) =>
      new NodeServer(app, new ClientConnections(maxConnections), timeouts);
    for (const address of toListenAddresses(host)) {
      await operationsApp(host, metrics).listen(start, address, port);
    }
    log.info({ host, port }, 'operations listener started');
  } catch (error) {
    if (isChosen || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    warn();
  }
}

/**
 * Checks that no program listens at an address: processes that share a port would not notice it.
 * @returns the port, a free one for 0
 * @throws Node's own error, such as EADDRINUSE
 */
export async function freePort(listener: {
  readonly host: string;
  readonly port: number;
}): Promise<number> {
  let { port } = listener;
  for (const host of toListenAddresses(listener.host)) port = await probePort(host, port);
  return port;
}

async function probePort(host: string, port: number): Promise<number> {
  const probe = createServer().listen({ host, port, exclusive: true });
  await once(probe, 'listening');
  const { port: found } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return found;
}
