import { hostname } from 'node:os';
import fastify, { type FastifyError, type FastifyInstance, type FastifyReply } from 'fastify';
import { ServiceError } from '../contract/errors.ts';
import type { Logger } from '../contract/log.ts';
import type { Settings } from '../contract/settings/table.ts';
import type { Consumer } from './consumer.ts';
import type { WorkerMetrics } from './metrics.ts';
import { agendashPlugin, workbenchGuard } from './workbench.ts';

const storeWithinMs = 2_000;

export interface OperationsEnvironment {
  readonly settings: Settings;
  readonly log: Logger;
  readonly metrics: WorkerMetrics;
  /** Null while the store is not there. */
  readonly consumer: () => Consumer | null;
  /** Round trip to the store, ms; rejects when it does not answer. */
  readonly pingStore: (withinMs: number) => Promise<number>;
  readonly draining: () => boolean;
}

interface Check {
  readonly ok: boolean;
}

/** The worker's operations server (spec part 4.2). */
export function operationsServer(environment: OperationsEnvironment): FastifyInstance {
  const { settings, metrics, consumer, pingStore, draining } = environment;
  const server = fastify({
    logger: false,
    forceCloseConnections: true,
    // What is no URL at all reaches neither routes nor hooks.
    frameworkErrors: (error, _, reply) => void sendError(toServiceError(error), reply),
  });

  async function readiness() {
    const latency = await pingStore(storeWithinMs).catch(() => null);
    const store: Check & { latencyMs: number | null } = {
      ok: latency !== null,
      latencyMs: latency === null ? null : Math.round(latency),
    };
    const queue: Check = { ok: consumer()?.accepting ?? false };
    const ok = store.ok && queue.ok && !draining();
    const status = ok ? 'ready' : draining() ? 'draining' : 'unavailable';
    return { ok, status, checks: { queue, store } };
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
  server.get('/health/details', async (_, reply) => {
    const body = await readiness();
    const stats = await consumer()
      ?.queue.stats()
      .catch(() => null);
    return reply.code(body.ok ? 200 : 503).send({
      ...body,
      queue: {
        active: stats?.active ?? null,
        waiting: stats?.waiting ?? null,
        delayed: stats?.delayed ?? null,
        failed: stats?.failed ?? null,
        oldestWaitingMs: stats?.oldestWaitingMs ?? null,
        averageRunMs: metrics.averageRunMs,
        concurrency: settings.workerConcurrency,
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
  server.get('/metrics', async (_, reply) =>
    reply.type(metrics.registry.contentType).send(await metrics.registry.metrics()),
  );
  addWorkbench(server, environment);
  server.setNotFoundHandler(async ({ method, url }) => {
    throw new ServiceError('endpoint_not_found', `There is no ${method} ${url.slice(0, 200)}.`);
  });
  server.setErrorHandler<FastifyError>(async (thrown, request, reply) => {
    const error = toServiceError(thrown);
    if (error.code === 'internal_error') {
      environment.log.error({ err: thrown, path: request.url }, 'a request failed unexpectedly');
    }
    return sendError(error, reply);
  });
  return server;
}

/** What fastify itself finds wrong with a request has a status below 500. */
function toServiceError(error: FastifyError): ServiceError {
  const { statusCode, message } = error;
  return statusCode !== undefined && statusCode < 500 && !(error instanceof ServiceError)
    ? new ServiceError('invalid_request', message)
    : ServiceError.of(error);
}

const sendError = (error: ServiceError, reply: FastifyReply) =>
  reply.code(error.status).header('cache-control', 'no-store').send(error.toBody());

/** The dashboard comes and goes with the store; its routes are there from the start. */
function addWorkbench(
  server: FastifyInstance,
  { settings, consumer }: OperationsEnvironment,
): void {
  const guard = workbenchGuard(settings);
  let dashboard: Promise<FastifyInstance> | null = null;

  async function inner(): Promise<FastifyInstance | null> {
    const agenda = consumer()?.agenda;
    if (agenda === undefined) return null;
    dashboard ??= (async () => {
      const instance = fastify({ logger: false });
      await instance.register(await agendashPlugin(agenda), { prefix: '/workbench' });
      await instance.ready();
      return instance;
    })();
    return dashboard;
  }

  server.register(async (scope) => {
    scope.addHook('onRequest', guard);
    // The dashboard is a server of its own behind this one, so bodies pass through as they are.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => done(null, body));
    scope.get('/workbench', async (_, reply) => reply.redirect('/workbench/'));
    scope.all('/workbench/*', async (request, reply) => {
      const target = await inner();
      if (target === null) {
        throw new ServiceError('store_unavailable', 'The store does not answer yet.');
      }
      const { 'content-type': type, accept } = request.headers;
      const answer = await target.inject({
        method: request.method as 'GET',
        url: request.url,
        headers: { ...(type && { 'content-type': type }), ...(accept && { accept }) },
        ...(Buffer.isBuffer(request.body) && { payload: request.body }),
      });
      for (const name of ['content-type', 'content-security-policy', 'etag', 'location']) {
        const value = answer.headers[name];
        if (value !== undefined) reply.header(name, value);
      }
      return reply.code(answer.statusCode).send(answer.rawPayload);
    });
  });
}
