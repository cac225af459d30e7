import t from 'tap';
import { together } from '../../store/servers.ts';
import { findProcess, rootKey, send, startControl } from './control.ts';

t.test('enforces the rate limit exactly across processes', async (t) => {
  const control = await startControl(t, { SERVICE_PROCESSES: '2', SERVICE_API_RATE_LIMIT: '20' });
  const { call } = control;
  const key = await control.issue(null, 'read');
  const all = await together(
    Array.from({ length: 30 }, () => () => call('GET', '/projects', { key })),
  );
  t.equal(new Set(all.map(findProcess)).size, 2, 'both processes responded');
  const passed = all.filter(({ status }) => status === 200);
  const refused = all.filter(({ status }) => status === 429);
  // On a busy machine a call misses the store's deadline, whether the store has counted it or not.
  const missed = all.filter(({ body }) => body?.code === 'store_unavailable');
  t.equal(passed.length + refused.length + missed.length, 30);
  t.ok(passed.length <= 20, `${passed.length} passed`);
  t.ok(passed.length >= 20 - missed.length, `${passed.length} passed, ${missed.length} missed`);

  for (const { headers, status } of [...passed, ...refused]) {
    t.equal(headers['ratelimit-limit'], '20');
    const reset = Number(headers['ratelimit-reset']);
    t.ok(reset > 0 && reset <= 60, `reset in ${reset} s`);
    t.equal(headers['retry-after'], status === 429 ? headers['ratelimit-reset'] : undefined);
  }
  const left = new Set(passed.map(({ headers }) => headers['ratelimit-remaining']));
  t.equal(left.size, passed.length, 'every call that passed was counted once');
  t.ok([...left].every((calls) => Number(calls) >= 0 && Number(calls) < 20));
  // Count until the limit, because calls that missed the deadline may not have been counted.
  for (const _ of missed) await call('GET', '/projects', { key });
  t.ok(refused.every(({ headers }) => headers['ratelimit-remaining'] === '0'));
  const above = await call('GET', '/projects', { key });
  t.match(above.body, { code: 'rate_limited', message: /20 calls within a minute/ });

  t.test(
    'checks the limit after the key and the route, but before the scope, the body and the project',
    async (t) => {
      const callStatus = (method: string, path: string, more = {}) =>
        call(method, path, { key, ...more }).then(({ status }) => status);
      t.equal(await callStatus('POST', '/projects', { body: '{' }), 429);
      t.equal(await callStatus('GET', '/projects/prj_0'), 429);
      t.equal(await callStatus('GET', '/nothing'), 404);
      t.equal(await callStatus('GET', '/projects', { key: 'sk_wrong' }), 401);
    },
  );

  t.test('limits each key separately, and states the limit in every response', async (t) => {
    const answers = [
      await call('GET', '/projects'),
      await call('GET', '/projects/prj_0'),
      await call('POST', '/projects', { body: '{' }),
    ];
    t.same(
      answers.map(({ status, headers }) => [status, headers['ratelimit-remaining']]),
      [
        [200, '19'],
        [404, '18'],
        [400, '17'],
      ],
    );
    const unknown = await call('GET', '/projects', { key: 'sk_wrong' });
    t.equal(unknown.headers['ratelimit-limit'], undefined);
    // Send the same key in the other header.
    const headers = { 'x-service-api-key': rootKey };
    const other = await call('GET', '/projects', { key: null, headers });
    t.equal(other.headers['ratelimit-remaining'], '16');
  });

  t.test('does not count requests for health and the OpenAPI document', async (t) => {
    for (const path of ['/api/health', '/openapi.json']) {
      const { status } = await send(control.service.port, 'GET', path, { key });
      t.equal(status, 200, path);
    }
  });
});
