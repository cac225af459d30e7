import t from 'tap';
import { App, type Route } from '../../../server/http/app.ts';
import { errorResponse } from '../../../server/http/error-response.ts';
import { pathOf } from '../../../server/http/node-request.ts';
import type { HttpRequest, HttpResponse } from '../../../server/http/request.ts';
import type { HttpServer } from '../../../server/http/server.ts';

const ok = (name: string): HttpResponse => ({ status: 200, headers: [], body: name });
const route = (path: string, ...methods: string[]): Route => ({
  path,
  methods: (asked) => (asked.endsWith('/none') ? [] : methods),
  handler: (request) => request.respond(ok(path)),
});

function appWith(routes: readonly Route[]) {
  const errors: unknown[] = [];
  const onError = (_: HttpRequest, error: unknown) => void errors.push(error);
  const app = new App(routes, { onEnd: null, onError, errorResponse }, 'x-');
  /** The response to a request of only a method and a path. */
  const ask = (method: string, path: string): HttpResponse | undefined => {
    let response: HttpResponse | undefined;
    app.handle({
      route: 'other',
      tier: 'none',
      trace: null,
      id: app.begin(),
      method,
      path,
      query: '',
      signal: new AbortController().signal,
      header: () => '',
      accept: '',
      headerList: () => '',
      isWellFormed: () => true,
      peerAddress: '',
      readBody: async () => null,
      respond: (given) => {
        response = given;
      },
    });
    return response;
  };
  return { app, ask, errors };
}

t.test('the first route that matches a path is used', async (t) => {
  const { ask } = appWith([route('/a/b', 'GET'), route('/a/*', 'GET', 'POST')]);
  t.equal(ask('GET', '/a/b')?.body, '/a/b');
  t.equal(ask('GET', '/a/bc')?.body, '/a/*');
  t.equal(ask('POST', '/a/')?.body, '/a/*');
  t.equal(ask('POST', '/a/b')?.status, 405, 'even if a later route has the method');
  t.equal(ask('GET', '/a')?.status, 404);
  t.equal(ask('GET', '/b/a/b')?.status, 404);
});

t.test('405 names the methods of the path, 404 none', async (t) => {
  const { ask } = appWith([route('/a/*', 'GET', 'POST')]);
  const refused = ask('get', '/a/x');
  t.equal(refused?.status, 405, 'methods are case-sensitive');
  t.match(new Map(refused?.headers).get('allow'), 'GET, POST');
  const missing = ask('GET', '/a/none');
  t.equal(missing?.status, 404, 'a path without methods does not exist');
  t.notOk(new Map(missing?.headers).has('allow'));
});

t.test('an error of a handler becomes a response and is reported', async (t) => {
  const fail = (): never => {
    throw new Error('of the test');
  };
  const { ask, errors } = appWith([
    { path: '/now', methods: () => ['GET'], handler: fail },
    { path: '/later', methods: () => ['GET'], handler: async () => fail() },
  ]);
  t.equal(ask('GET', '/now')?.status, 500);
  ask('GET', '/later');
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(errors.length, 2);
});

t.test('the app counts requests and stops its server once', async (t) => {
  const { app } = appWith([]);
  const calls: string[] = [];
  const engine: HttpServer = {
    listen: async (host, port) => calls.push(`${host}:${port}`) > 0,
    stopListening: () => void calls.push('stop'),
  };
  t.equal(await app.listen(() => engine, 'h', 1), true);
  t.not(app.begin(), app.begin());
  t.same([app.open, app.count, app.closing], [2, 2, false]);
  app.stopListening();
  app.stopListening();
  t.equal(app.closing, true);
  t.same(calls, ['h:1', 'stop']);
});

t.test('the path and the query of every form of a target', async (t) => {
  const cases = [
    ['/img/http://a/b.jpg?w=1', '/img/http://a/b.jpg', 'w=1'],
    ['http://host/img/x?y', '/img/x', 'y'],
    ['HTTPS://host:8443/img/http://a/b', '/img/http://a/b', ''],
    ['http://host', '/', ''],
    ['http://host?x=1', '/', 'x=1'],
    ['/?', '/', ''],
    ['//a/b', '//a/b', ''],
    ['/a?b?c', '/a', 'b?c'],
    ['*', '*', ''],
    ['/caf\xc3\xa9?\xe2\x82\xac', '/café', '€'],
  ] as const;
  for (const [target, path, query] of cases) t.same(pathOf(target), { path, query }, target);
});
