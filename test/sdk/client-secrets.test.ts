import { createServer } from 'node:http';
import { inspect } from 'node:util';
import t from 'tap';
import { createClientWith } from '../../sdk/src/client/client.ts';
import { type ClientOptions, createClient } from '../../sdk/src/client/index.ts';
import { systemClock } from '../../sdk/src/client/send.ts';
import { listen } from '../listen.ts';
import { freePort } from '../service/service.ts';

const apiKey = 'sk_secret-of-the-client';

/** Returns all texts that a log could contain for a value. */
const printed = (value: unknown): string =>
  [
    inspect(value, { depth: 20, showHidden: true, getters: true }),
    JSON.stringify(value),
    JSON.stringify(value, Object.getOwnPropertyNames(value)),
    String(value),
    value instanceof Error ? value.stack : '',
  ].join('\n');

t.test('never prints the key', async (t) => {
  const echo = `You sent Bearer ${apiKey}`;
  const server = createServer((request, response) => {
    const [, kind, code = '200'] = (request.url ?? '').split('/');
    const headers = { 'x-request-id': echo, 'retry-after': echo, location: `http://${apiKey}/` };
    if (kind === 'json') {
      response.writeHead(Number(code), { ...headers, 'content-type': 'application/json' });
      response.end(JSON.stringify({ code: echo, message: echo, resolution_hint: echo }));
    } else response.writeHead(Number(code), { ...headers, 'content-type': echo }).end(echo);
  });
  const url = `http://127.0.0.1:${await listen(t, server)}`;
  const noWait = { ...systemClock, sleep: async () => {} };
  const failing: Record<string, Partial<ClientOptions>> = {
    'an error of the service': { baseUrl: `${url}/json/400` },
    'a page': { baseUrl: `${url}/page/200` },
    'an error page': { baseUrl: `${url}/page/502` },
    'a redirect': { baseUrl: `${url}/page/302` },
    'a long response': { maxResponseBytes: 5 },
    'no connection': { baseUrl: `http://127.0.0.1:${await freePort()}` },
    'a timeout': { fetch: () => new Promise(() => {}), timeoutMs: 1 },
    'a fetch that throws its request': {
      fetch: async (input, init) => {
        const cause = new Error(JSON.stringify(init));
        throw Object.assign(new Error('failed', { cause }), { input, init });
      },
    },
    'a fetch that throws a long message': {
      fetch: async () => {
        throw new Error(`${'x'.repeat(290)}${apiKey}`);
      },
    },
    'a fetch that throws a value other than an error': {
      fetch: async (_, init) => {
        throw init;
      },
    },
  };
  for (const [name, options] of Object.entries(failing)) {
    const client = createClientWith({ baseUrl: `${url}/page/200`, apiKey, ...options }, noWait);
    const error = await client.listProjects().catch((error) => error);
    t.ok(error instanceof Error, name);
    t.notMatch(printed(error), /sk_s/, name);
    t.notMatch(printed(client), /sk_s/, name);
  }

  const options: Record<string, Partial<ClientOptions>> = {
    'a key with a line break': { apiKey: `${apiKey}\n` },
    'a key with other letters': { apiKey: `${apiKey}ü` },
    'a key in the URL': { baseUrl: `http://user:${apiKey}@127.0.0.1/` },
    'a key instead of the URL': { baseUrl: apiKey },
    'a query': { baseUrl: `http://127.0.0.1/?key=${apiKey}` },
    'another scheme': { baseUrl: 'ftp://127.0.0.1/' },
    'no time': { timeoutMs: Number.NaN },
    'endless retries': { retries: { withinMs: Number.POSITIVE_INFINITY } },
  };
  for (const [name, wrong] of Object.entries(options)) {
    try {
      createClient({ baseUrl: url, apiKey, ...wrong });
      t.fail(name);
    } catch (error) {
      t.ok(error instanceof TypeError, name);
      t.notMatch(printed(error), /sk_s/, name);
    }
  }
});
