import { hostname } from 'node:os';
import fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import { ServiceError } from '../contract/errors.ts';
import type { Logger } from '../contract/log.ts';
import { hostNotAllowed, isForeignToLoopback } from '../contract/request-host.ts';
import type { Settings } from '../contract/settings/table.ts';
import type { Consumer } from './consumer.ts';
import type { WorkerMetrics } from './metrics.ts';
import { addWorkbench, notFound } from './workbench.ts';

const storeTimeoutMs = 2_000;
/** Probes, scrapers and a few people. The worker needs descriptors for its requests and the store. */
const maxConnections = 100;

export interface OperationsEnvironment {
  readonly settings: Pick<
    Settings,
    'workerHost' | 'workerConcurrency' | 'baseUrl' | 'workbenchUsername' | 'workbenchPassword'
  >;
  readonly log: Logger;
  readonly metrics: WorkerMetrics;
  /** Null until the store connects. */
  readonly consumer: () => Consumer | null;
  /** Round trip to the store, ms; rejects after the timeout. */
  readonly pingStore: (timeoutMs: number) => Promise<number>;
  readonly draining: () => boolean;
}

interface Check {
  readonly ok: boolean;
}

/** Health, metrics and the workbench: see docs/prewarm.md. */
export function operationsServer(environment: OperationsEnvironment): FastifyInstance {
  const { settings, metrics, consumer, pingStore, draining } = environment;
  const server = fastify({
    logger: false,
    forceCloseConnections: true,
    // A request with an invalid URL reaches neither routes nor hooks.
    frameworkErrors: (error, _, reply) => void sendError(toServiceError(error), reply),
  });

  server.server.maxConnections = maxConnections;
  /** The last known figures; zeros until the store has responded. */
  let lastStats = { active: 0, waiting: 0, delayed: 0, failed: 0, oldestWaitingMs: 0 };

  async function readiness() {
    const latency = await pingStore(storeTimeoutMs).catch(() => null);
    const store: Check & { latencyMs: number | null } = {
      ok: latency !== null,
      latencyMs: latency === null ? null : Math.round(latency),
    };
    const queue: Check = { ok: consumer()?.accepting ?? false };
    const ok = store.ok && queue.ok && !draining();
    const status = ok ? 'ready' : draining() ? 'draining' : 'unavailable';
    return { ok, status, checks: { queue, store } };
  }

  async function rejectForeignHosts({ headers }: FastifyRequest): Promise<void> {
    const { host = '' } = headers;
    if (!isForeignToLoopback(host, settings.workerHost)) return;
    throw hostNotAllowed(host);
  }

  server.addHook('onSend', async (_, reply) => {
    reply.header('cache-control', 'no-store').header('x-content-type-options', 'nosniff');
  });
  server.get('/health/live', async () => ({ ok: true, status: 'live' }));
  for (const path of ['/health/ready', '/health']) {
    server.get(path, async (_, reply) => {
      const body = await readiness();
      return reply.code(body.ok ? 200 : 503).send(body);
    });
  }
  server.get('/health/details', { onRequest: rejectForeignHosts }, async (_, reply) => {
    const counted = consumer()
      ?.queue.stats()
      .catch(() => null);
    const [body, stats = null] = await Promise.all([readiness(), counted]);
    lastStats = stats ?? lastStats;
    return reply.code(body.ok ? 200 : 503).send({
      ...body,
      queue: {
        ...lastStats,
        averageRunMs: metrics.averageRunMs,
        concurrency: settings.workerConcurrency,
        status: stats === null ? 'unknown' : 'ok',
      },
      environment: {
        node: process.version,
        versions: { v8: process.versions.v8, uv: process.versions.uv },
        pid: process.pid,
        host: hostname(),
        platform: `${process.platform} ${process.arch}`,
      },
      uptimeSeconds: Math.floor(process.uptime()),
    });
  });
  server.get('/metrics', { onRequest: rejectForeignHosts }, async (_, reply) =>
    reply.type(metrics.registry.contentType).send(await metrics.registry.metrics()),
  );
  addWorkbench(server, settings, () => consumer()?.agenda ?? null);
  server.setNotFoundHandler(notFound);
  server.setErrorHandler<FastifyError>(async (thrown, request, reply) => {
    const error = toServiceError(thrown);
    if (error.code === 'internal_error') {
      const [path] = request.url.split('?', 1);
      environment.log.error({ err: thrown, path }, 'request failed unexpectedly');
    }
    return sendError(error, reply);
  });
  return server;
}

/** Converts errors of fastify and its plugins: a status below 500 means an invalid request. */
function toServiceError(error: FastifyError): ServiceError {
  const { statusCode = 500, message } = error;
  if (error instanceof ServiceError || statusCode >= 500) return ServiceError.of(error);
  return statusCode === 401
    ? new ServiceError('workbench_unauthorized', 'The workbench needs a user name and password.')
    : new ServiceError('invalid_request', message);
}

const sendError = (error: ServiceError, reply: FastifyReply) =>
  reply.code(error.status).header('cache-control', 'no-store').send(error.toBody());
