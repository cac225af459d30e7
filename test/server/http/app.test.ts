import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { App, type HttpServer, type Route } from '../../../server/http/app.ts';
import { ClientConnections } from '../../../server/http/connection-limit.ts';
import { splitTarget } from '../../../server/http/node-server.ts';
import type { HttpRequest } from '../../../server/http/request.ts';
import type { HttpResponse } from '../../../server/http/responses.ts';
import { respond } from '../request.ts';

const ok = (name: string): HttpResponse => ({ status: 200, headers: [], body: name });
const route = (path: string, ...methods: string[]): Route => ({
  path,
  methods: (path) => (path.endsWith('/none') ? [] : methods),
  handler: (request) => request.respond(ok(path)),
});

function appWith(routes: readonly Route[]) {
  const errors: unknown[] = [];
  const onError = (_: HttpRequest, error: unknown) => void errors.push(error);
  const app = new App(routes, { onEnd: null, onError }, 'x-');
  const responseTo = (method: string, path: string) =>
    respond((request) => app.handle(request), method, path);
  return { app, responseTo, errors };
}

t.test('uses the first route that matches a path, with case-sensitive methods', async (t) => {
  const { responseTo } = appWith([route('/a/b', 'GET'), route('/a/*', 'GET', 'POST')]);
  for (const [method, path, status, body, allow] of [
    ['GET', '/a/b', 200, '/a/b'],
    ['GET', '/a/bc', 200, '/a/*'],
    ['POST', '/a/', 200, '/a/*'],
    ['POST', '/a/b', 405, /method_not_allowed/, 'GET'],
    ['get', '/a/x', 405, /method_not_allowed/, 'GET, POST'],
    ['GET', '/a', 404, /endpoint_not_found/],
    ['GET', '/b/a/b', 404, /endpoint_not_found/],
    ['GET', '/a/none', 404, /endpoint_not_found/],
  ] as const) {
    const response = await responseTo(method, path);
    t.match(response, { status, body }, `${method} ${path}`);
    t.equal(new Map(response?.headers).get('allow'), allow);
  }
});

t.test("turns a handler's error into a response and reports it", async (t) => {
  const fail = (): never => {
    throw new Error('of the test');
  };
  const { responseTo, errors } = appWith([
    { path: '/now', methods: () => ['GET'], handler: fail },
    { path: '/later', methods: () => ['GET'], handler: async () => fail() },
  ]);
  t.equal((await responseTo('GET', '/now'))?.status, 500);
  await responseTo('GET', '/later');
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(errors.length, 2);
});

t.test('counts requests and stops its server once', async (t) => {
  const { app } = appWith([]);
  const calls: string[] = [];
  const engine: HttpServer = {
    listen: async (host, port) => calls.push(`${host}:${port}`) > 0,
    stopListening: () => void calls.push('stop'),
    connections: new ClientConnections(1),
  };
  t.equal(await app.listen(() => engine, 'h', 1), true);
  t.not(app.begin(), app.begin());
  t.same([app.open, app.closing], [2, false]);
  await app.drain(0, 0);
  await app.drain(0, 0);
  t.equal(app.closing, true);
  t.same(calls, ['h:1', 'stop']);
});

t.test('ends a drain sooner if a later call shortens its grace', async (t) => {
  const { app } = appWith([]);
  const drained = app.drain(60_000, 60_000);
  t.equal(await Promise.race([drained, sleep(200, 'waits')]), 'waits');
  await app.drain(0, 60_000);
  await drained;
});

t.test('reads the path, the query and the authority from every form of target', async (t) => {
  const cases = [
    ['/img/http://a/b.jpg?w=1', '/img/http://a/b.jpg', 'w=1'],
    ['http://host/img/x?y', '/img/x', 'y', 'host'],
    ['HTTPS://host:8443/img/http://a/b', '/img/http://a/b', '', 'host:8443'],
    ['http://host', '/', '', 'host'],
    ['http://host?x=1', '/', 'x=1', 'host'],
    ['/?', '/', ''],
    ['//a/b', '//a/b', ''],
    ['/a?b?c', '/a', 'b?c'],
    ['*', '*', ''],
    ['/caf\xc3\xa9?\xe2\x82\xac', '/café', '€'],
  ] as const;
  for (const [target, path, query, authority = null] of cases) {
    t.same(splitTarget(target), { path, query, authority }, target);
  }
});
