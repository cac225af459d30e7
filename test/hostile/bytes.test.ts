import { connect } from 'node:net';
import fc from 'fast-check';
import { heard } from '../service/held.ts';
import { eachHttpServer } from '../service/http-servers.ts';
import { picture } from '../service/origin.ts';
import { startDelivery } from '../service/service.ts';

/**
 * Sends bytes; resolves with the answer when the server closes the connection, pauses, or has sent the
 * given number of responses.
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

eachHttpServer('hostile bytes get no content and end no process', async (t, { environment }) => {
  const { service, origin, image } = await startDelivery(t, { environment });
  origin.serve('/a.jpg', await picture(200, 100));
  const good = image('/a.jpg', 'w=50');
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
  t.same(service.frontEnds(), [pid], 'the process still runs');
  const levels = service.log.map((line) => Number(line['level']));
  t.ok(Math.max(...levels) < 50, 'without a logged error');

  t.test('malformed lengths do not smuggle a request in a body', async (t) => {
    const hidden = get('/openapi.json');
    const { length } = hidden;
    const chunked = 'Transfer-Encoding: chunked';
    const cases = [
      ['a sign', `Content-Length: +${length}`, hidden],
      ['a negative length', `Content-Length: -${length}`, hidden],
      ['hexadecimal', `Content-Length: 0x${length.toString(16)}`, hidden],
      ['an exponent', 'Content-Length: 4e1', hidden],
      ['leading zeros', `Content-Length: 000${length}`, hidden],
      ['a space before the colon', `Content-Length : ${length}`, hidden],
      ['a vertical tab', `Content-Length:\x0b${length}`, hidden],
      ['a NUL', `Content-Length: ${length}\0`, hidden],
      ['a NUL in a name', `X\0Y: 1\r\nContent-Length: ${length}`, hidden],
      ['a folded line', `X: y\r\n Content-Length: ${length}`, hidden],
      ['a bare line feed', `X: y\nContent-Length: ${length}`, hidden],
      ['a bare carriage return', `X: y\rContent-Length: ${length}`, hidden],
      [
        'a coding and a space before the colon',
        'Transfer-Encoding : chunked',
        `0\r\n\r\n${hidden}`,
      ],
      ['a coding and a vertical tab', 'Transfer-Encoding:\x0bchunked', `0\r\n\r\n${hidden}`],
      ['another coding', 'Transfer-Encoding: xchunked', `0\r\n\r\n${hidden}`],
      ['a quoted coding', 'Transfer-Encoding: "chunked"', `0\r\n\r\n${hidden}`],
      ['no coding', 'Transfer-Encoding: identity', hidden],
      [
        'chunked in another case',
        'Transfer-Encoding: ChUnKeD',
        `${length.toString(16)}\r\n${hidden}`,
      ],
      ['a chunk with a sign', chunked, `+5\r\nabcde\r\n0\r\n\r\n${hidden}`],
      ['a chunk with 0x', chunked, `0x5\r\nabcde\r\n0\r\n\r\n${hidden}`],
      ['a chunk beyond 64 bits', chunked, `10000000000000000\r\n${hidden}`],
      ['a negative chunk', chunked, `-1\r\n${hidden}`],
      ['a chunk after a line feed', chunked, `2\n${hidden}`],
      ['an open quote in an extension', chunked, `5;a="\r\n${hidden}`],
      ['a chunk that is longer', chunked, `2\r\nabc\r\n0\r\n\r\n${hidden}`],
    ] as const;
    const answers = await Promise.all(
      cases.map(async ([what, fields, body]) => {
        const head = `POST /api/sdk/v1/projects HTTP/1.1\r\nHost: x\r\n${fields}\r\n\r\n`;
        const answer = await request(service.port, Buffer.from(head + body, 'latin1'), 1_000);
        return [what, answer] as const;
      }),
    );
    for (const [what, answer] of answers) {
      // Newer releases of uWebSockets.js answer unreadable requests with 505.
      t.notMatch(answer, /HTTP\/1\.1 (2|50[0-4])/, what);
    }
    t.same(service.frontEnds(), [pid], 'the process still runs');
  });

  t.test('requests in one packet are answered in order', async (t) => {
    // uWebSockets.js closes a connection that sends more before a response.
    t.match(await request(service.port, get(good), 20_000, 1), /^HTTP\/1\.1 200/);
    const answer = await request(service.port, get(good) + get('/nothing') + get(good), 20_000, 3);
    t.same(
      [...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1]),
      ['200', '404', '200'],
    );
  });
});
