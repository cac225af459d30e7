import { createServer, type RequestListener, type Server } from 'node:http';
import { ServiceError } from '../../contract/errors.ts';
import type { Logger } from '../../contract/log.ts';
import { hostNotAllowed, isForeignToLoopback } from '../../contract/request-host.ts';
import { defaultOpsPort, type Settings } from '../../contract/settings/table.ts';
import { expositionType } from './exposition.ts';

/** A scraper keeps its connection for this long at most, ms. */
const idleMs = 60_000;
const always = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

/** The operations listener of the service: `/metrics`, and nothing else. */
function operationsServer(listensOn: string, metrics: () => string): Server {
  const answer: RequestListener = (request, response) => {
    // A request with a body gets its answer without it; then its connection is of no more use.
    if (request.headers['content-length'] ?? request.headers['transfer-encoding']) {
      response.setHeader('connection', 'close');
    }
    const { host = '' } = request.headers;
    if (isForeignToLoopback(host, listensOn)) return fail(hostNotAllowed(host), {});
    const [path = ''] = (request.url ?? '').split('?', 1);
    if (path !== '/metrics') {
      const text = `There is no ${request.method} ${path.slice(0, 200)}.`;
      return fail(new ServiceError('endpoint_not_found', text), {});
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      const text = `${path} has no ${request.method}.`;
      return fail(new ServiceError('method_not_allowed', text), { allow: 'GET, HEAD' });
    }
    response.writeHead(200, { ...always, 'content-type': expositionType }).end(metrics());

    function fail(error: ServiceError, headers: Readonly<Record<string, string>>): void {
      response
        .writeHead(error.status, { ...always, ...headers, 'content-type': 'application/json' })
        .end(JSON.stringify(error.toBody()));
    }
  };
  const server = createServer({ keepAliveTimeout: idleMs }, answer);
  // It never keeps the process running.
  return server.unref();
}

/** Resolves when the server listens, and rejects when it cannot. */
function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, exclusive: true }, () => {
      server.off('error', reject);
      // Of a connection that could not be accepted, for example; the listener goes on.
      server.on('error', () => {});
      resolve();
    });
  });
}

/**
 * Starts the operations listener that the settings ask for. Where no port is set, a default port that
 * is in use is no error: Prometheus itself has the same one, and so has a second service on the machine.
 * @throws the error of a port that is set, or of an address, that cannot be used
 */
export async function startOperations(
  { opsPort, opsHost, port, workerPort }: Settings,
  log: Pick<Logger, 'info' | 'warn'>,
  metrics: () => string,
): Promise<void> {
  if (opsPort === 0) return;
  const chosen = opsPort ?? defaultOpsPort;
  try {
    // This service's own listeners may not have begun to listen.
    if (chosen === port || chosen === workerPort) throw portInUse;
    await listen(operationsServer(opsHost, metrics), opsHost, chosen);
    log.info({ host: opsHost, port: chosen }, 'the operations listener listens');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (opsPort !== null || code !== 'EADDRINUSE') throw error;
    log.warn(
      { host: opsHost, port: chosen },
      'there are no metrics, because the default port is in use; set SERVICE_OPS_PORT',
    );
  }
}

const portInUse = Object.assign(new Error('the port is in use'), { code: 'EADDRINUSE' });
