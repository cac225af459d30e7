import { connect } from 'node:net';
import fc from 'fast-check';
import { eachEngine } from './engines.ts';
import { heard } from './held.ts';
import { picture, startTestOrigin } from './origin.ts';
import { startService } from './service.ts';

/**
 * Sends bytes, and gives what came back when the server ended or went quiet for a moment, or when it
 * has answered so often.
 */
function request(
  port: number,
  bytes: string | Buffer,
  quietMs = 300,
  answers = Number.POSITIVE_INFINITY,
): Promise<string> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    socket.setTimeout(quietMs, () => socket.destroy());
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1');
      if (answer.split('HTTP/1.1 ').length > answers) socket.destroy();
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(answer));
  });
}

eachEngine('hostile bytes neither end a process nor get anything', async (t, { environment }) => {
  const origin = await startTestOrigin(t);
  origin.serve('/a.jpg', await picture(200, 100));
  const service = await startService(t, { environment });
  const project = await service.project();
  const good = `/img/${origin.url}/a.jpg?project=${project}&w=50`;
  const [pid] = service.frontEnds();
  const get = (target: string, more = '') => `GET ${target} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;

  await Promise.all(
    [
      '\r\n\r\n\r\n',
      'GET\r\n\r\n',
      `GET ${good} HTTP/1.0\r\n\r\n`,
      `GET ${good}\r\n\r\n`,
      `GET ${good} HTTP/1.1\r\nHost x\r\n\r\n`,
      `GET ${good} HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n`,
      `GET ${good} HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n`,
      `POST /api/sdk/v1/projects HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\n`,
      `POST /api/sdk/v1/projects HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n`,
      get(good, `${'A'.repeat(10)}: ${'b'.repeat(500_000)}\r\n`),
      get(good, 'X: y\r\n'.repeat(20_000)),
      get(`/img/${'a'.repeat(200_000)}`),
      get('/img/\0\0?project=\0'),
      get('/img/%00?project=%00'),
      get('//img//..//..'),
      get('http://127.0.0.1/img/'),
      get('*'),
      `OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n`,
      `CONNECT a:1 HTTP/1.1\r\nHost: x\r\n\r\n`,
      `TRACE ${good} HTTP/1.1\r\nHost: x\r\n\r\n`,
      `GET ${good} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: a\r\n\r\n`,
      `\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03${'\xff'.repeat(500)}`,
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    ].map((bytes) => request(service.port, Buffer.from(bytes, 'latin1'))),
  );
  const garbage = fc.sample(fc.uint8Array({ maxLength: 400 }), 300);
  await Promise.all(
    garbage.map((bytes) => request(service.port, Buffer.concat([Buffer.from('GET /img/'), bytes]))),
  );

  await heard(service);
  t.same(service.frontEnds(), [pid], 'the process lives');
  const levels = service.log.map((line) => Number(line['level']));
  t.ok(Math.max(...levels) < 50, 'and had nothing to complain of');

  t.test('requests in one packet are answered one after the other', async (t) => {
    // uWebSockets.js ends a connection that sends on while an answer is still in the making.
    t.match(await request(service.port, get(good), 20_000, 1), /^HTTP\/1\.1 200/);
    const answer = await request(service.port, get(good) + get('/nothing') + get(good), 20_000, 3);
    t.same(
      [...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1]),
      ['200', '404', '200'],
    );
  });
});
