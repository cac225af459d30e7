import { createServer, type RequestListener, type Server } from 'node:http';
import { ServiceError } from '../../contract/errors.ts';
import type { Logger } from '../../contract/log.ts';
import { hostNotAllowed, isForeignToLoopback } from '../../contract/request-host.ts';
import { defaultOpsPort, type Settings } from '../../contract/settings/table.ts';
import { expositionType } from './exposition.ts';

/** Time after which an idle connection is closed. */
const idleMs = 60_000;
const always = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

/** The operations listener of the service, which serves `/metrics`. */
function operationsServer(listensOn: string, metrics: () => string): Server {
  const answer: RequestListener = (request, response) => {
    // A body is not read, so the connection cannot be used again.
    if (request.headers['content-length'] ?? request.headers['transfer-encoding']) {
      response.setHeader('connection', 'close');
    }
    const { host = '' } = request.headers;
    if (isForeignToLoopback(host, listensOn)) return fail(hostNotAllowed(host), {});
    const [path = ''] = (request.url ?? '').split('?', 1);
    if (path !== '/metrics') {
      const text = `${request.method} ${path.slice(0, 200)} does not exist.`;
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
  return server.unref();
}

/** Resolves when the server listens, and rejects when it cannot. */
function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, exclusive: true }, () => {
      server.off('error', reject);
      // Such as a connection that could not be accepted; the listener continues.
      server.on('error', () => {});
      resolve();
    });
  });
}

/**
 * Starts the operations listener. A default port in use is not an error: Prometheus itself and a second
 * service on the machine have the same one.
 * @throws the error of listening at a configured port or address
 */
export async function startOperations(
  { opsPort, opsHost, port, workerPort }: Settings,
  log: Pick<Logger, 'info' | 'warn'>,
  metrics: () => string,
): Promise<void> {
  if (opsPort === 0) return;
  const chosen = opsPort ?? defaultOpsPort;
  try {
    // This service's other listeners may not listen yet.
    if (chosen === port || chosen === workerPort) throw portInUse;
    await listen(operationsServer(opsHost, metrics), opsHost, chosen);
    log.info({ host: opsHost, port: chosen }, 'the operations listener listens');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (opsPort !== null || code !== 'EADDRINUSE') throw error;
    log.warn(
      { host: opsHost, port: chosen },
      'metrics are not served, because the default port is in use; set SERVICE_OPS_PORT',
    );
  }
}

const portInUse = Object.assign(new Error('the port is in use'), { code: 'EADDRINUSE' });
