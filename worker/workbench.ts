import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { fastifyBasicAuth } from '@fastify/basic-auth';
import type { Agenda } from 'agenda';
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../contract/errors.ts';
import { hostOf, isLoopbackHost } from '../contract/request-host.ts';
import type { Settings } from '../contract/settings/table.ts';

export interface WorkbenchEnvironment {
  readonly settings: Pick<Settings, 'workbenchUsername' | 'workbenchPassword'>;
  /** Null until the store is connected. */
  readonly agenda: () => Agenda | null;
}

/** The queue dashboard at /workbench, with access control. */
export function addWorkbench(
  server: FastifyInstance,
  { settings, agenda }: WorkbenchEnvironment,
): void {
  server.register(
    async (scope) => {
      await addAccessControl(scope, settings);
      scope.addHook('onSend', refuseFrames);
      scope.addHook('onRequest', async (request, reply) => {
        // The dashboard's page has URLs relative to this folder.
        if (/^\/workbench(\?|$)/.test(request.url)) return reply.redirect('/workbench/');
        if (agenda() === null) {
          throw new ServiceError('store_unavailable', 'The store does not answer yet.');
        }
      });
      // Unknown paths pass the access control only if the scope has its own handler for them.
      scope.setNotFoundHandler(notFound);
      await scope.register(await agendashPlugin(lazyAgenda(agenda)));
    },
    { prefix: '/workbench' },
  );
}

/** No page shows the dashboard in a frame, where it could lead its user to click on what deletes jobs. */
async function refuseFrames(_: FastifyRequest, reply: FastifyReply): Promise<void> {
  const policy = reply.getHeader('content-security-policy') ?? "default-src 'self'";
  reply.header('content-security-policy', `${policy}; frame-ancestors 'none'`);
  reply.header('x-frame-options', 'DENY');
}

export async function notFound({ method, url }: FastifyRequest): Promise<never> {
  throw new ServiceError('endpoint_not_found', `There is no ${method} ${url.slice(0, 200)}.`);
}

/** Requires HTTP Basic authentication when credentials are set, else a client on this machine. */
async function addAccessControl(
  scope: FastifyInstance,
  { workbenchUsername, workbenchPassword }: WorkbenchEnvironment['settings'],
): Promise<void> {
  if (workbenchUsername === null || workbenchPassword === null) {
    scope.addHook('onRequest', async (request) => {
      const { ip, headers } = request;
      if (isLoopbackHost(ip) && isLoopbackHost(hostOf(headers.host ?? '')) && !isForwarded(headers))
        return;
      throw new ServiceError(
        'workbench_forbidden',
        'Without credentials the workbench accepts only direct requests from this machine.',
      );
    });
    return;
  }
  await scope.register(fastifyBasicAuth, {
    authenticate: { realm: 'workbench' },
    strictCredentials: false,
    validate: async (username, password) => {
      // Always compares both, so that the response time does not show which one was wrong.
      const usernameMatches = sameText(username, workbenchUsername);
      const passwordMatches = sameText(password, workbenchPassword);
      if (!(usernameMatches && passwordMatches)) return new Error('wrong credentials');
    },
  });
  scope.addHook('onRequest', scope.basicAuth);
}

/** Compares digests: they have one length, so that the comparison takes the same time for any text. */
function sameText(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

/** A proxy on this machine connects from a loopback address for any client. */
function isForwarded(headers: IncomingHttpHeaders): boolean {
  return Object.keys(headers).some((name) =>
    /^(forwarded|via|x-forwarded-.*|x-real-ip)$/.test(name),
  );
}

/**
 * Agendash's fastify plugin. Its entry file imports every web framework that it supports, so the file
 * with the plugin is imported by its path.
 */
async function agendashPlugin(agenda: Agenda): Promise<FastifyPluginAsync> {
  const entry = import.meta.resolve('agendash');
  const file = new URL('./middlewares/fastify.js', entry).href;
  const { createFastifyPlugin } = (await import(file)) as {
    createFastifyPlugin(agenda: Agenda): FastifyPluginAsync;
  };
  return createFastifyPlugin(agenda);
}

/**
 * A proxy of the Agenda. Agendash takes its Agenda when the routes are registered, which is before the
 * store is connected, but uses it only in requests.
 */
function lazyAgenda(agenda: () => Agenda | null): Agenda {
  return new Proxy({} as Agenda, {
    get(_, name) {
      const now = agenda();
      const value: unknown = now === null ? undefined : Reflect.get(now, name);
      return typeof value === 'function' ? value.bind(now) : value;
    },
  });
}
