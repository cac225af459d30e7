import { once } from 'node:events';
import { Agent } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { until } from '../../until.ts';
import { heard } from '../held.ts';
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

/** A connection and everything it receives. */
async function connection(port: number) {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  let ended = false;
  socket.on('data', (chunk) => {
    received += chunk;
  });
  socket.on('close', () => {
    ended = true;
  });
  socket.on('error', () => {});
  await once(socket, 'connect');
  const statuses = () => [...received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, code]) => code);
  return {
    socket,
    received: () => received,
    statuses,
    /** Resolves with the statuses after `count` responses, or when the connection closes. */
    async responses(count: number): Promise<(string | undefined)[]> {
      await until(`${count} responses`, () => statuses().length >= count || ended);
      return statuses();
    },
  };
}

const projectCount = async ({ call }: Control) =>
  (await call('GET', '/projects')).body.projects.length;

/** Unread bodies do not affect later requests. */
export async function unwantedBodies(t: Test, control: Control): Promise<void> {
  const before = await projectCount(control);
  const { service, call } = control;
  // The body is a valid request.
  const evil = `${head('/projects', rootKey, `content-length: ${input.length}`)}${input}`;
  const piece = evil.repeat(Math.ceil(16_384 / evil.length));

  t.test('each response on a kept connection belongs to its request', async (t) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    t.teardown(() => agent.destroy());
    for (let round = 0; round < 5; round++) {
      const ask = (method: string, path: string, options = {}) =>
        call(method, path, { agent, ...options }).then(({ status }) => status);
      t.equal(await ask('POST', '/projects', { body: evil.repeat(2), key: 'sk_wrong' }), 401);
      t.equal(await ask('GET', '/projects/prj_1', { body: evil }), 404);
      t.equal(await ask('PUT', '/projects', { body: evil }), 405);
      t.equal(await ask('POST', '/projects', { body: piece.repeat(5) }), 400);
      t.equal(await ask('POST', '/projects', { body: '' }), 400);
      t.equal(await ask('GET', '/projects'), 200);
    }
    t.equal(await projectCount(control), before, 'no body was handled as a request');
  });

  for (const [name, chunked] of [
    ['with its length', false],
    ['in chunks', true],
  ] as const) {
    for (const [key, status] of [
      ['sk_wrong', '401'],
      [rootKey, '400'],
    ] as const) {
      t.test(`${status} is sent while a large body is still being received ${name}`, async (t) => {
        const { socket, responses, received } = await connection(service.port);
        const pieces = 64;
        socket.write(
          chunked
            ? head('/projects', key, 'transfer-encoding: chunked')
            : head('/projects', key, `content-length: ${pieces * piece.length}`),
        );
        for (let i = 0; i < pieces; i++) {
          if (chunked) socket.write(`${piece.length.toString(16)}\r\n`);
          socket.write(piece);
          if (chunked) socket.write('\r\n');
          // Sends the body slowly.
          await sleep(1);
        }
        if (chunked) socket.write('0\r\n\r\n');
        t.same(await responses(1), [status]);
        // The connection stays usable.
        socket.write(evil);
        t.same(await responses(2), [status, '201']);
        t.match(received(), /"project":\{"id":"prj_/);
        socket.destroy();
      });
    }
  }

  t.test('100-continue is supported, and a body may arrive in pieces', async (t) => {
    const { socket, responses } = await connection(service.port);
    const expect = 'expect: 100-continue';
    socket.write(head('/projects', rootKey, `content-length: ${input.length}`, expect));
    t.same(await responses(1), ['100']);
    for (const byte of input) {
      socket.write(byte);
      await sleep(1);
    }
    t.same(await responses(2), ['100', '201']);
    socket.destroy();
  });
}

/** Aborted uploads have no effect. */
export async function brokenUploads(t: Test, control: Control): Promise<void> {
  const before = await projectCount(control);
  const { service } = control;
  for (const cut of [0, 1, 20, input.length - 1]) {
    for (const transfer of [`content-length: ${input.length}`, 'transfer-encoding: chunked']) {
      const { socket, statuses } = await connection(service.port);
      socket.write(head('/projects', rootKey, transfer));
      const part = input.slice(0, cut);
      socket.write(transfer.startsWith('t') ? `${input.length.toString(16)}\r\n${part}` : part);
      await heard(service);
      socket.destroy();
      t.same(statuses(), [], `${cut} bytes, ${transfer}`);
    }
  }
  await heard(service);
  t.equal(await projectCount(control), before);
  const health = await fetch(`${service.url}/api/health`);
  t.equal(health.status, 200);
}
