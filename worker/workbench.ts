import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fastifyBasicAuth } from '@fastify/basic-auth';
import type { Agenda } from 'agenda';
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../contract/errors.ts';
import { isLoopbackHost, parseHost } from '../contract/request-host.ts';
import type { Settings } from '../contract/settings/table.ts';

type Credentials = Pick<Settings, 'workbenchUsername' | 'workbenchPassword'>;
type WorkbenchSettings = Credentials & Pick<Settings, 'baseUrl'>;

/**
 * Serves the queue dashboard at /workbench with access control.
 * @param agenda null until the store connects
 */
export function addWorkbench(
  server: FastifyInstance,
  settings: WorkbenchSettings,
  agenda: () => Agenda | null,
): void {
  server.register(
    async (scope) => {
      await addAccessControl(scope, settings);
      scope.addHook('onSend', forbidFrames);
      scope.addHook('onSend', nameService(settings.baseUrl));
      scope.addHook('onRequest', async (request, reply) => {
        // The dashboard's page has URLs relative to this folder.
        if (/^\/workbench(\?|$)/.test(request.url)) return reply.redirect('/workbench/');
        if (agenda() === null) {
          throw new ServiceError('store_unavailable', 'The store does not respond yet.');
        }
      });
      // The access control covers unknown paths only if the scope handles them itself.
      scope.setNotFoundHandler(notFound);
      await scope.register(await agendashPlugin(lazyAgenda(agenda)));
    },
    { prefix: '/workbench' },
  );
}

/** Forbids frames, against clickjacking (RFC 7034): the dashboard has buttons that delete jobs. */
async function forbidFrames(_: FastifyRequest, reply: FastifyReply): Promise<void> {
  const policy = reply.getHeader('content-security-policy') ?? "default-src 'self'";
  reply.header('content-security-policy', `${policy}; frame-ancestors 'none'`);
  reply.header('x-frame-options', 'DENY');
}

/** Adds the service to the dashboard's page, and an empty icon, which browsers request otherwise. */
function nameService(baseUrl: string) {
  const service = baseUrl.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const head = `<title>Workbench · ${service}</title><link rel="icon" href="data:,">`;
  const banner = `<p style="margin:0;padding:0.25rem 1rem">The queue of ${service}</p>`;
  return async (_: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> => {
    if (!String(reply.getHeader('content-type')).startsWith('text/html')) return payload;
    const page = await text(payload as Readable);
    // These headers describe the original file.
    for (const header of ['content-length', 'etag', 'last-modified']) reply.removeHeader(header);
    return page.replace('<title>Agendash</title>', head).replace('<body>', `<body>${banner}`);
  };
}

const paths = '/health/live, /health/ready, /health/details, /metrics or /workbench/';

export async function notFound({ method, url }: FastifyRequest): Promise<never> {
  const missing = `${method} ${url.slice(0, 200)}`;
  throw new ServiceError('endpoint_not_found', `There is no ${missing}.`, undefined, {
    hint: `Use ${paths}.`,
  });
}

/** Requires HTTP Basic authentication or, without credentials in the settings, a direct request from this machine. */
async function addAccessControl(
  scope: FastifyInstance,
  { workbenchUsername, workbenchPassword }: Credentials,
): Promise<void> {
  if (workbenchUsername === null || workbenchPassword === null) {
    scope.addHook('onRequest', async (request) => {
      const { ip, headers } = request;
      if (
        isLoopbackHost(ip) &&
        isLoopbackHost(parseHost(headers.host ?? '')) &&
        !isForwarded(headers)
      )
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
      // Compares both in any case: the response time must not show which one was wrong.
      const usernameMatches = equalInConstantTime(username, workbenchUsername);
      const passwordMatches = equalInConstantTime(password, workbenchPassword);
      if (!(usernameMatches && passwordMatches)) return new Error('wrong credentials');
    },
  });
  scope.addHook('onRequest', scope.basicAuth);
}

/** Compares digests, because `timingSafeEqual` needs equal lengths. */
function equalInConstantTime(given: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(other));
}

/**
 * Returns whether a proxy forwarded the request: behind a local proxy, every client has a loopback
 * address.
 */
function isForwarded(headers: IncomingHttpHeaders): boolean {
  return Object.keys(headers).some((name) =>
    /^(forwarded|via|x-forwarded-.*|x-real-ip)$/.test(name),
  );
}

/** Imported by its path: the entry file of Agendash imports every web framework that it supports. */
async function agendashPlugin(agenda: Agenda): Promise<FastifyPluginAsync> {
  const entry = import.meta.resolve('agendash');
  const file = new URL('./middlewares/fastify.js', entry).href;
  const { createFastifyPlugin } = (await import(file)) as {
    createFastifyPlugin(agenda: Agenda): FastifyPluginAsync;
  };
  return createFastifyPlugin(agenda);
}

/** Agendash needs the Agenda when its routes are registered, before the store connects. */
const lazyAgenda = (agenda: () => Agenda | null): Agenda =>
  new Proxy({} as Agenda, {
    get(_, name) {
      const now = agenda();
      const value: unknown = now === null ? undefined : Reflect.get(now, name);
      return typeof value === 'function' ? value.bind(now) : value;
    },
  });
