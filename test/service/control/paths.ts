import type { Test } from 'tap';
import { type Control, prefix, send } from './control.ts';

/** Checks that unknown paths return 404 and unsupported methods 405, with a body. */
export async function paths(t: Test, control: Control): Promise<void> {
  const { call, service } = control;
  const on = `/projects/${await control.project()}`;

  t.test("supports exactly the path's methods", async (t) => {
    const allowed: ReadonlyArray<readonly [path: string, ...methods: string[]]> = [
      ['/projects', 'GET', 'POST'],
      [on, 'GET', 'PATCH', 'DELETE'],
      [`${on}/configuration`, 'GET'],
      [`${on}/settings`, 'PATCH'],
      [`${on}/prewarm`, 'POST'],
      [`${on}/domains`, 'POST', 'DELETE'],
      [`${on}/origins`, 'GET'],
      [`${on}/origins/a.example`, 'PUT', 'DELETE'],
      [`${on}/presets`, 'GET'],
      [`${on}/presets/card`, 'GET', 'PUT', 'DELETE'],
      [`${on}/layers`, 'GET'],
      [`${on}/layers/badge`, 'GET', 'PUT', 'DELETE'],
    ];
    const all = 'GET HEAD OPTIONS POST PUT PATCH DELETE TRACE'.split(' ');
    for (const [path, ...methods] of allowed) {
      for (const method of all.filter((candidate) => !methods.includes(candidate))) {
        const { status, headers, body } = await call(method, path);
        t.equal(status, 405, `${method} ${path}`);
        t.same(headers['allow'], methods.join(', '), `${method} ${path}`);
        if (method !== 'HEAD') t.match(body, { code: 'method_not_allowed' });
        t.match(headers['x-request-id'], /./);
      }
    }
  });

  t.test('returns 404 for malformed ids', async (t) => {
    const encoded = ['a%2Fb', '..%2F..%2Fetc', '%00', 'prj%00', '%zz', '%', '%ff', '%ed%a0%80'];
    const others = ['%c0%af', '$where', '%7B%22$ne%22:1%7D', 'null', '__proto__', '%f0%9f%98%80'];
    const blanks = ['[object%20Object]', '%20', 'prj_0000000000000000%20'];
    const long = ['x'.repeat(1_000), 'x'.repeat(12_000)];
    for (const id of [...encoded, ...others, ...blanks, ...long, 'configuration']) {
      for (const [method, tail, options] of [
        ['GET', '', {}],
        ['GET', '/configuration', {}],
        ['PATCH', '', { json: { name: 'x' } }],
        ['DELETE', '', {}],
        ['PATCH', '/settings', { json: { maxWidth: 5 } }],
        ['POST', '/prewarm', { json: { src: 'https://a.example/' } }],
        ['POST', '/domains', { json: { host: 'a.example' } }],
        ['DELETE', '/domains?host=a.example', {}],
        ['GET', '/origins', {}],
        ['PUT', '/origins/a.example', { json: { headers: { a: 'b' } } }],
        ['DELETE', '/origins/a.example', {}],
        ['GET', '/presets', {}],
        ['GET', '/presets/card', {}],
        ['PUT', '/presets/card', { json: { parameters: { w: 5 } } }],
        ['DELETE', '/presets/card', {}],
        ['GET', '/layers', {}],
        ['GET', '/layers/badge', {}],
        ['PUT', '/layers/badge', { json: { text: {} } }],
        ['DELETE', '/layers/badge', {}],
      ] as const) {
        const { status, body } = await call(method, `/projects/${id}${tail}`, options);
        t.same([status, body.code], [404, 'project_not_found'], `${method} ${id.slice(0, 40)}`);
        t.ok(body.message.length < 300);
      }
    }
  });

  t.test('returns 404 for similar paths', async (t) => {
    const id = on.slice('/projects/'.length);
    const paths = [
      '',
      '/',
      '/projects/',
      '/projects//',
      `/projects//${id}`,
      `${on}/`,
      `${on}//settings`,
      `${on}/configuration/`,
      `${on}/configuration/x`,
      `/projects//configuration`,
      `${on}/presets/`,
      `${on}/presets/a/b`,
      `${on}/layers/a/b`,
      `${on}%2Fconfiguration`,
      `/projects%2F${id}`,
      '/PROJECTS',
      `/projects/./${id}`,
      `/projects/../projects`,
      `/projects;${id}`,
      `${on}/../${id}/x`,
    ];
    for (const path of paths) {
      const { status, body } = await send(service.port, 'GET', prefix + path, {});
      t.equal(status, 404, path);
      t.same(Object.keys(body).sort(), ['code', 'error', 'message', 'resolution_hint'], path);
    }
    const outside = ['/api/sdk/v2/projects', '/api/sdk/v1.projects', `/x${prefix}/projects`];
    for (const path of [...outside, '/api/sdk', '/api', '/api/health/x', '/x']) {
      const { status, body, headers } = await send(service.port, 'GET', path, { key: null });
      t.same([status, body.code], [404, 'endpoint_not_found'], path);
      t.match(headers['x-request-id'], /./);
    }
  });

  t.test('accepts a percent-encoded id', async (t) => {
    t.equal((await call('GET', on.replace('prj', '%70rj'))).status, 200);
    t.equal((await call('GET', `${on}?a=%zz&b`)).status, 200, 'the query is ignored');
  });
}
