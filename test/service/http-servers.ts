import t, { type Test } from 'tap';
import { loadUws } from '../../server/http/uws-library.ts';

const uws = loadUws();

/** The HTTP servers that work on this machine. */
export const httpServers: readonly ('uws' | 'node')[] =
  typeof uws === 'string' ? ['node'] : ['uws', 'node'];

export type HttpServerName = (typeof httpServers)[number];

type Body = (
  t: Test,
  server: {
    readonly name: HttpServerName;
    readonly environment: Readonly<Record<string, string>>;
  },
) => Promise<unknown>;

/** Runs a test with each HTTP server. */
export function eachHttpServer(name: string, body: Body): void {
  for (const server of httpServers) {
    const environment = { SERVICE_HTTP_ENGINE: server };
    t.test(`${name} (${server})`, (t) => body(t, { name: server, environment }));
  }
}
