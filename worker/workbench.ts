import { createHash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import { fastifyBasicAuth } from '@fastify/basic-auth';
import type { Agenda } from 'agenda';
import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import { ServiceError } from '../contract/errors.ts';
import type { Settings } from '../contract/settings/table.ts';

export interface WorkbenchEnvironment {
  readonly settings: Pick<Settings, 'workbenchUsername' | 'workbenchPassword'>;
  /** Null while the store is not there. */
  readonly agenda: () => Agenda | null;
}

/** The queue dashboard below the server's /workbench, for those who may see it. */
export function addWorkbench(
  server: FastifyInstance,
  { settings, agenda }: WorkbenchEnvironment,
): void {
  server.register(
    async (scope) => {
      await addGuard(scope, settings);
      scope.addHook('onRequest', async (request, reply) => {
        // The addresses in the dashboard's page are relative to this folder.
        if (/^\/workbench(\?|$)/.test(request.url)) return reply.redirect('/workbench/');
        if (agenda() === null) {
          throw new ServiceError('store_unavailable', 'The store does not answer yet.');
        }
      });
      // Paths that lead nowhere are behind the guard as well only if the scope answers them.
      scope.setNotFoundHandler(notFound);
      await scope.register(await agendashPlugin(laterAgenda(agenda)));
    },
    { prefix: '/workbench' },
  );
}

export async function notFound({ method, url }: FastifyRequest): Promise<never> {
  throw new ServiceError('endpoint_not_found', `There is no ${method} ${url.slice(0, 200)}.`);
}

/** Lets in by HTTP Basic when credentials are set, else only clients on this machine. */
async function addGuard(
  scope: FastifyInstance,
  { workbenchUsername, workbenchPassword }: WorkbenchEnvironment['settings'],
): Promise<void> {
  if (workbenchUsername === null || workbenchPassword === null) {
    scope.addHook('onRequest', async (request) => {
      if (isLoopback(request.ip) && namesLoopback(request.headers.host)) return;
      throw new ServiceError(
        'workbench_forbidden',
        'Without credentials the workbench answers this machine only.',
      );
    });
    return;
  }
  await scope.register(fastifyBasicAuth, {
    authenticate: { realm: 'workbench' },
    strictCredentials: false,
    validate: async (username, password) => {
      // Both are compared whatever the first says, so that time does not tell which was wrong.
      const usernameFits = sameText(username, workbenchUsername);
      const passwordFits = sameText(password, workbenchPassword);
      if (!(usernameFits && passwordFits)) return new Error('wrong credentials');
    },
  });
  scope.addHook('onRequest', scope.basicAuth);
}

/** Digests have one length, which makes the comparison take the same time for any text. */
function sameText(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

const isLoopback = (address: string): boolean =>
  isIP(address) !== 0 && ipaddr.process(address).range() === 'loopback';

/** A page on another name that resolves to here (DNS rebinding) names itself in Host. */
function namesLoopback(host: string | undefined): boolean {
  const name = (host ?? '').replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
  return name === 'localhost' || isLoopback(name);
}

/**
 * Agendash's fastify plugin. Its entry file imports every web framework that it knows, so the one
 * file that is needed is loaded by its place.
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
 * Agendash wants its Agenda when its routes are made, and uses it only to answer requests. The
 * routes must be there before the store is, so it gets one that looks for the Agenda when used.
 */
function laterAgenda(agenda: () => Agenda | null): Agenda {
  return new Proxy({} as Agenda, {
    get(_, name) {
      const now = agenda();
      const value: unknown = now === null ? undefined : Reflect.get(now, name);
      return typeof value === 'function' ? value.bind(now) : value;
    },
  });
}
