import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { earlierRequestsReceived } from '../held-reply.ts';
import { StrictConnection } from '../raw-http.ts';
import { type Control, prefix, rootKey } from './control.ts';

const input = JSON.stringify({ name: 'x', origin: 'https://a.example/' });
const head = (path: string, key: string, ...headers: string[]) =>
  [
    `POST ${prefix}${path} HTTP/1.1`,
    'host: service.example',
    `authorization: Bearer ${key}`,
    'content-type: application/json',
    ...headers,
    '',
    '',
  ].join('\r\n');

const projectCount = async ({ call }: Control) =>
  (await call('GET', '/projects')).body.projects.length;

/** Checks that unread bodies do not affect later requests. */
export async function unwantedBodies(t: Test, control: Control): Promise<void> {
  const before = await projectCount(control);
  const { service, call } = control;
  // The body is a valid request.
  const hidden = `${head('/projects', rootKey, `content-length: ${input.length}`)}${input}`;
  const piece = hidden.repeat(Math.ceil(16_384 / hidden.length));

  t.test('matches each response on a kept connection to its request', async (t) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    t.teardown(() => agent.destroy());
    for (let round = 0; round < 5; round++) {
      const callStatus = (method: string, path: string, options = {}) =>
        call(method, path, { agent, ...options }).then(({ status }) => status);
      t.equal(
        await callStatus('POST', '/projects', { body: hidden.repeat(2), key: 'sk_wrong' }),
        401,
      );
      t.equal(await callStatus('GET', '/projects/prj_1', { body: hidden }), 404);
      t.equal(await callStatus('PUT', '/projects', { body: hidden }), 405);
      t.equal(await callStatus('POST', '/projects', { body: piece.repeat(5) }), 400);
      t.equal(await callStatus('POST', '/projects', { body: '' }), 400);
      t.equal(await callStatus('GET', '/projects'), 200);
    }
    t.equal(await projectCount(control), before, 'no body was handled as a request');
  });

  for (const [name, chunked] of [
    ['with its length', false],
    ['in chunks', true],
  ] as const) {
    for (const [key, status] of [
      ['sk_wrong', 401],
      [rootKey, 400],
    ] as const) {
      t.test(`sends ${status} while it receives a large body ${name}`, async (t) => {
        const connection = await StrictConnection.open(service.port);
        const pieces = 64;
        const transfer = `content-length: ${pieces * piece.length}`;
        connection.send(head('/projects', key, chunked ? 'transfer-encoding: chunked' : transfer));
        for (let i = 0; i < pieces; i++) {
          connection.send(chunked ? `${piece.length.toString(16)}\r\n${piece}\r\n` : piece);
          // Sends the body slowly.
          await sleep(1);
        }
        if (chunked) connection.send('0\r\n\r\n');
        t.equal((await connection.response()).status, status);
        if (chunked && service.environment['SERVICE_HTTP_ENGINE'] === 'uws') {
          return void t.ok(await connection.end(), 'closes the connection');
        }
        // The connection stays usable.
        connection.send(hidden);
        const created = await connection.response();
        t.equal(created.status, 201);
        t.match(created.body.toString(), /"project":\{"id":"prj_/);
        connection.close();
      });
    }
  }

  t.test('supports 100-continue, and accepts a body in pieces', async (t) => {
    const connection = await StrictConnection.open(service.port);
    const expect = 'expect: 100-continue';
    connection.send(head('/projects', rootKey, `content-length: ${input.length}`, expect));
    t.equal((await connection.response()).status, 100);
    for (const byte of input) {
      connection.send(byte);
      await sleep(1);
    }
    t.equal((await connection.response()).status, 201);
    connection.close();
  });
}

/** Sends aborted uploads, which must not change any data. */
export async function brokenUploads(t: Test, control: Control): Promise<void> {
  const before = await projectCount(control);
  const { service } = control;
  for (const cut of [0, 1, 20, input.length - 1]) {
    for (const transfer of [`content-length: ${input.length}`, 'transfer-encoding: chunked']) {
      const connection = await StrictConnection.open(service.port);
      connection.send(head('/projects', rootKey, transfer));
      const part = input.slice(0, cut);
      const chunk = `${input.length.toString(16)}\r\n${part}`;
      connection.send(transfer.startsWith('t') ? chunk : part);
      await earlierRequestsReceived(service);
      t.ok(connection.clean, `no response to ${cut} bytes, ${transfer}`);
      connection.close();
    }
  }
  await earlierRequestsReceived(service);
  t.equal(await projectCount(control), before);
  const health = await fetch(`${service.url}/api/health`);
  t.equal(health.status, 200);
}
