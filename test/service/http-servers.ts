import t, { type Test } from 'tap';
import { loadUws } from '../../server/http/uws-library.ts';

const uws = loadUws();

/** The HTTP servers that work on this machine. */
export const httpServers: readonly ('uws' | 'node')[] =
  typeof uws === 'string' ? ['node'] : ['uws', 'node'];

/** Server that a service uses on this machine. */
export const defaultHttpServer = httpServers.slice(0, 1);

export type HttpServerName = (typeof httpServers)[number];

type Body = (
  t: Test,
  server: {
    readonly name: HttpServerName;
    readonly environment: Readonly<Record<string, string>>;
  },
) => Promise<unknown>;

/** Runs a test with each HTTP server, or with those given. */
export function eachHttpServer(name: string, body: Body, servers = httpServers): void {
  for (const server of servers) {
    const environment = { SERVICE_HTTP_ENGINE: server };
    t.test(`${name} (${server})`, (t) => body(t, { name: server, environment }));
  }
}
