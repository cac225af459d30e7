import { createHash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import type { Agenda } from 'agenda';
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import { ServiceError } from '../contract/errors.ts';
import type { Settings } from '../contract/settings/table.ts';

type Credentials = Pick<Settings, 'workbenchUsername' | 'workbenchPassword'>;

/**
 * Agendash's fastify plugin. Its entry file imports every web framework that it knows, so the one
 * file that is needed is loaded by its place.
 */
export async function agendashPlugin(agenda: Agenda): Promise<FastifyPluginAsync> {
  const entry = import.meta.resolve('agendash');
  const file = new URL('./middlewares/fastify.js', entry).href;
  const { createFastifyPlugin } = (await import(file)) as {
    createFastifyPlugin(agenda: Agenda): FastifyPluginAsync;
  };
  return createFastifyPlugin(agenda);
}

/** Digests have one length, which makes the comparison take the same time for any text. */
function sameText(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

function readBasic(header: string | undefined): readonly [user: string, password: string] {
  const encoded = /^Basic +([A-Za-z0-9+/=]+) *$/i.exec(header ?? '')?.[1] ?? '';
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon === -1 ? ['', ''] : [text.slice(0, colon), text.slice(colon + 1)];
}

const isLoopback = (address: string): boolean =>
  isIP(address) !== 0 && ipaddr.process(address).range() === 'loopback';

/** A page on another name that resolves to here (DNS rebinding) names itself in Host. */
function namesLoopback(host: string | undefined): boolean {
  const name = (host ?? '').replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
  return name === 'localhost' || isLoopback(name);
}

/** Lets in who may see the queue dashboard: by HTTP Basic when credentials are set, else only loopback. */
export function workbenchGuard({ workbenchUsername, workbenchPassword }: Credentials) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    if (workbenchUsername === null || workbenchPassword === null) {
      if (isLoopback(request.ip) && namesLoopback(request.headers.host)) return;
      throw new ServiceError(
        'workbench_forbidden',
        'Without credentials the workbench answers this machine only.',
      );
    }
    const [user, password] = readBasic(request.headers.authorization);
    // Both are compared whatever the first says, so that time does not tell which was wrong.
    const userFits = sameText(user, workbenchUsername);
    const passwordFits = sameText(password, workbenchPassword);
    if (userFits && passwordFits) return;
    reply.header('www-authenticate', 'Basic realm="workbench", charset="UTF-8"');
    throw new ServiceError(
      'workbench_unauthorized',
      'The workbench needs a user name and password.',
    );
  };
}
