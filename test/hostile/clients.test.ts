import { connect } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { Pool } from 'undici';
import type { Operation } from '../../server/control/operation.ts';
import { controlPrefix, operations } from '../../server/control/operations.ts';
import { concurrently } from '../concurrently.ts';
import { earlierRequestsReceived } from '../service/held-reply.ts';
import { eachHttpServer } from '../service/http-servers.ts';
import { picture } from '../service/origin.ts';
import { until } from '../until.ts';
import { latin1 } from './inputs/bytes.ts';
import { hostileHead } from './inputs/heads.ts';
import { hostileJson } from './inputs/json.ts';
import { count, createRateReport, from, isRepetition, maxMs, only, progress, seed } from './run.ts';
import { HostileTarget } from './target.ts';

/**
 * Sends hostile bytes, heads, and control-plane bodies to a running service with each HTTP server.
 */

const rootKey = 'sk_root-key-of-the-tests';

interface Outcome {
  readonly what: string;
  /** Null for an allowed response. */
  readonly finding: string | null;
  /** Limit on the time of an expected response. */
  readonly ms: number;
}

/** Sends numbered inputs, several at once, and slow ones again one by one. */
async function findings(
  what: string,
  atOnce: number,
  send: (number: number) => Promise<Outcome>,
): Promise<string[]> {
  const found: string[] = [];
  const slow: number[] = [];
  const add = (number: number, { what }: Outcome, finding: string) => {
    const command = `npm run test:hostile -- clients --seed ${seed} --from ${number} --count 1`;
    found.push(`${command}: ${finding} (${what})`);
    progress(found.at(-1) ?? '');
  };
  const done = createRateReport(what);
  const numbers = Array.from({ length: count }, (_, index) => from + index);
  await concurrently(atOnce, numbers, async (number) => {
    const outcome = await send(number);
    if (outcome.finding !== null) add(number, outcome, outcome.finding);
    else if (outcome.ms > maxMs) slow.push(number);
    done(number - from + 1);
  });
  for (const number of slow) {
    const outcome = await send(number);
    if (outcome.ms > maxMs) add(number, outcome, `${Math.round(outcome.ms)} ms`);
  }
  return found;
}

interface Exchange {
  readonly answer: string;
  readonly ms: number;
}

/**
 * Sends pieces. Resolves when the response is complete, or the server closes the connection or
 * pauses.
 */
function exchange(
  port: number,
  pieces: readonly Buffer[],
  isComplete: (answer: string) => boolean = () => false,
  pauseMs = 300,
): Promise<Exchange> {
  return new Promise((resolve) => {
    const startedAt = performance.now();
    let answer = '';
    const socket = connect(port, '127.0.0.1', async () => {
      for (const piece of pieces) {
        if (!socket.writable) return;
        socket.write(piece);
        await turn();
      }
    });
    socket.setNoDelay();
    socket.setTimeout(pauseMs, () => socket.destroy());
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1');
      if (isComplete(answer)) socket.destroy();
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve({ answer, ms: performance.now() - startedAt }));
  });
}

const get = (target: string, fields = '') => `GET ${target} HTTP/1.1\r\nHost: x\r\n${fields}\r\n`;
const readStatuses = (answer: string) =>
  [...answer.matchAll(/HTTP\/1\.[01] (\d{3}) /g)].map(([, status]) => Number(status));

const hidden = get('/openapi.json');
const { length } = hidden;
const chunked = 'Transfer-Encoding: chunked';

/** Returns malformed requests. */
const malformed = (target: string): string[] => {
  const post = (fields: string, body: string) =>
    `POST /api/sdk/v1/projects HTTP/1.1\r\nHost: x\r\n${fields}\r\n\r\n${body}`;
  const websocket = 'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: a\r\n';
  return [
    '\r\n\r\n\r\n',
    'GET\r\n\r\n',
    `GET ${target} HTTP/1.0\r\n\r\n`,
    `GET ${target}\r\n\r\n`,
    `GET ${target} HTTP/1.1\r\nHost x\r\n\r\n`,
    get(target, 'Content-Length: -1\r\n'),
    get(target, 'Content-Length: 99999999999999999999\r\n'),
    post(chunked, 'FFFFFFFFFFFFFFFF\r\n'),
    post(`${chunked}\r\nContent-Length: 5`, '0\r\n\r\n'),
    get(target, `${'A'.repeat(10)}: ${'b'.repeat(500_000)}\r\n`),
    get(target, 'X: y\r\n'.repeat(20_000)),
    get(`/img/${'a'.repeat(200_000)}`),
    get('/img/\0\0?project=\0'),
    get('/img/%00?project=%00'),
    get('//img//..//..'),
    get('http://127.0.0.1/img/'),
    get('*'),
    'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n',
    'CONNECT a:1 HTTP/1.1\r\nHost: x\r\n\r\n',
    `TRACE ${target} HTTP/1.1\r\nHost: x\r\n\r\n`,
    get(target, websocket),
    `\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03${'\xff'.repeat(500)}`,
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  ];
};

/** Malformed lengths of POST requests. Each body contains a second request. */
const smuggling: readonly (readonly [what: string, fields: string, body: string])[] = [
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
  ['a coding and a space before the colon', 'Transfer-Encoding : chunked', `0\r\n\r\n${hidden}`],
  ['a coding and a vertical tab', 'Transfer-Encoding:\x0bchunked', `0\r\n\r\n${hidden}`],
  ['another coding', 'Transfer-Encoding: xchunked', `0\r\n\r\n${hidden}`],
  ['a quoted coding', 'Transfer-Encoding: "chunked"', `0\r\n\r\n${hidden}`],
  ['no coding', 'Transfer-Encoding: identity', hidden],
  ['chunked in another case', 'Transfer-Encoding: ChUnKeD', `${length.toString(16)}\r\n${hidden}`],
  ['a chunk with a sign', chunked, `+5\r\nabcde\r\n0\r\n\r\n${hidden}`],
  ['a chunk with 0x', chunked, `0x5\r\nabcde\r\n0\r\n\r\n${hidden}`],
  ['a chunk beyond 64 bits', chunked, `10000000000000000\r\n${hidden}`],
  ['a negative chunk', chunked, `-1\r\n${hidden}`],
  ['a chunk after a line feed', chunked, `2\n${hidden}`],
  ['an open quote in an extension', chunked, `5;a="\r\n${hidden}`],
  ['chunks that end with other bytes', chunked, `2\r\n{}xx0\r\nxx${hidden}`],
  ['chunks with line feeds only', chunked, `2\n{}xx0\nxx${hidden}`],
  ['chunks of line feeds', chunked, `2\n{}\n0\n\nx${hidden}`],
  ['a chunk that is longer', chunked, `2\r\nabc\r\n0\r\n\r\n${hidden}`],
];

/** Describes more responses than request lines, or an error of the service. */
function toFinding(sent: Buffer, answer: string): string | null {
  const lines = sent.toString('latin1').match(/HTTP\/1\./gi)?.length ?? 0;
  const final = readStatuses(answer).filter((status) => status >= 200);
  // The service can reject bytes after a valid request once. It then closes the connection.
  if (final.length > lines + 1)
    return `${final.length} answers to ${lines} requests: ${final.join()}`;
  const isError = (status: number) => status === 500 || status === 504;
  return final.some(isError) ? `${final.join()}: ${answer.slice(-600)}` : null;
}

const inputs = Object.values<Operation>(operations).flatMap((operation) =>
  operation.input === undefined ? [] : [{ ...operation, input: operation.input }],
);

eachHttpServer('survives hostile clients', async (t, { environment }) => {
  const target = await HostileTarget.start(t, {
    ...environment,
    SERVICE_ROOT_API_KEY: rootKey,
    SERVICE_API_RATE_LIMIT: '1000000',
    // Resolves no names outside.
    SERVICE_DNS_SERVERS: '127.0.0.1:9',
  });
  const { service, project, origin } = target;
  const image = (path: string) => `/img/${origin.url}${path}?project=${project}&w=9`;
  const missing = image('/missing.png');

  const isChosen = isRepetition || only !== '';

  t.test('survives malformed requests and random bytes', { skip: isChosen }, async (t) => {
    const bytes = fc.sample(fc.uint8Array({ maxLength: 400 }), 300);
    const random = bytes.map((sequence) => Buffer.concat([latin1('GET /img/'), sequence]));
    const sent = [...malformed(missing).map(latin1), ...random];
    await Promise.all(sent.map((request) => exchange(service.port, [request])));
    await earlierRequestsReceived(service);
    t.same(await target.problems(), []);
  });

  t.test(
    'rejects malformed lengths that could smuggle a request',
    { skip: isChosen },
    async (t) => {
      await Promise.all(
        smuggling.map(async ([what, fields, body]) => {
          const head = `POST /api/sdk/v1/projects HTTP/1.1\r\nHost: x\r\n${fields}\r\n\r\n`;
          const { answer } = await exchange(service.port, [latin1(head + body)], undefined, 1_000);
          // Newer releases of uWebSockets.js return 505 for unreadable requests.
          t.notMatch(answer, /HTTP\/1\.1 (2|50[0-4])/, what);
        }),
      );
      t.same(await target.problems(), []);
    },
  );

  t.test('responds in order to requests in one packet', { skip: isChosen }, async (t) => {
    origin.serve('/a.jpg', await picture(200, 100));
    const good = image('/a.jpg');
    const answers = async (text: string, count: number) => {
      const isComplete = (answer: string) => answer.split('HTTP/1.1 ').length > count;
      return readStatuses(
        (await exchange(service.port, [latin1(text)], isComplete, 20_000)).answer,
      );
    };
    t.same(await answers(get(good), 1), [200]);
    // Not the image: uWebSockets.js closes a connection that sends more before a response, and on a
    // busy machine a cached image can wait for its project.
    const [document, nothing] = [get('/openapi.json'), get('/nothing')];
    t.same(await answers(document + nothing + document, 3), [200, 404, 200]);
  });

  t.test(`survives heads of seed ${seed}`, { skip: only !== '' }, async (t) => {
    const targets = [
      missing,
      missing,
      '/',
      '/api/health',
      '/openapi.json',
      `${controlPrefix}/projects`,
    ];
    const found = await findings('heads', 24, async (number) => {
      const { what, pieces, isValid } = hostileHead(targets, seed, number);
      const { answer, ms } = isValid
        ? await exchange(service.port, pieces, (answer) => /\r\n\r\n/.test(answer), 5 * maxMs)
        : await exchange(service.port, pieces);
      const isMissing = isValid && answer === '';
      const finding = isMissing ? 'no response' : toFinding(Buffer.concat(pieces), answer);
      return { what, finding, ms: isValid ? ms : 0 };
    });
    t.same(found, []);
    t.same(await target.problems(), []);
  });

  t.test(`survives bodies of seed ${seed}`, { skip: only !== '' }, async (t) => {
    const pool = new Pool(service.url, { connections: 8 });
    t.teardown(() => pool.destroy());
    const statuses = new Map<number, number>();
    const found = await findings('bodies', 8, async (number) => {
      const operation = inputs[number % inputs.length];
      if (operation === undefined) throw new Error('no operation has a body');
      const { method, path, input } = operation;
      const { what, bytes } = hostileJson(input.example, seed, number);
      const target =
        controlPrefix + path.replace('{projectId}', project).replace('{presetName}', 'card');
      const headers = { authorization: `Bearer ${rootKey}`, 'content-type': 'application/json' };
      const startedAt = performance.now();
      const response = await pool.request({ path: target, method, headers, body: bytes });
      const answer = await response.body.text();
      const { statusCode: status } = response;
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      const isError = status >= 500 && status !== 503;
      const finding = isError ? `${status}: ${answer.slice(0, 400)}` : null;
      return {
        what: `${method} ${input.name}: ${what}`,
        finding,
        ms: performance.now() - startedAt,
      };
    });
    t.comment([...statuses].map(([status, times]) => `${times} x ${status}`).join(', '));
    t.same(found, []);
    t.same(await target.problems(), []);
  });

  t.test('leaves no request in progress', async (t) => {
    await until('all requests have ended', async () => (await target.openRequests()) === 0);
    t.equal((await fetch(`${service.url}/api/health`)).status, 200);
  });
});
