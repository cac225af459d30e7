import { connect } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { Pool } from 'undici';
import { type Endpoint, endpoints, prefix } from '../../server/control/endpoints.ts';
import { examples } from '../../server/control/examples.ts';
import { eachHttpServer } from '../service/http-servers.ts';
import { until } from '../until.ts';
import { hostileHead } from './inputs/heads.ts';
import { hostileJson } from './inputs/json.ts';
import { concurrently, count, from, maxMs, only, progress, rateOf, seed } from './run.ts';
import { HostileTarget } from './target.ts';

/** Sends hostile heads, and bodies of the control plane, to a running service with each engine. */

const quietMs = 300;
const rootKey = 'sk_root-key-of-the-tests';

interface Outcome {
  readonly what: string;
  /** Null for an allowed response. */
  readonly finding: string | null;
  /** Time of the response to a request that must have one. */
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
  const done = rateOf(what);
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

/** Sends pieces, and resolves when the response is complete, or the server closes or stays silent. */
function exchange(
  port: number,
  pieces: readonly Buffer[],
  isDone: RegExp | null,
): Promise<Exchange> {
  return new Promise((resolve) => {
    const begun = performance.now();
    let answer = '';
    const socket = connect(port, '127.0.0.1', async () => {
      for (const piece of pieces) {
        if (!socket.writable) return;
        socket.write(piece);
        await turn();
      }
    });
    socket.setNoDelay();
    socket.setTimeout(isDone === null ? quietMs : 5 * maxMs, () => socket.destroy());
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1');
      if (isDone?.test(answer)) socket.destroy();
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve({ answer, ms: performance.now() - begun }));
  });
}

/** Describes more responses than request lines, or an error of the service. */
function findingOf(sent: Buffer, answer: string): string | null {
  const statuses = [...answer.matchAll(/HTTP\/1\.[01] (\d{3}) /g)].map(([, status]) =>
    Number(status),
  );
  const lines = sent.toString('latin1').match(/HTTP\/1\./gi)?.length ?? 0;
  const final = statuses.filter((status) => status >= 200);
  // Bytes after a valid request may be refused once, and then the connection ends.
  if (final.length > lines + 1)
    return `${final.length} answers to ${lines} requests: ${final.join()}`;
  const isError = (status: number) => status === 500 || status === 504;
  return final.some(isError) ? `${final.join()}: ${answer.slice(-600)}` : null;
}

const inputs = (Object.values(endpoints) as Endpoint[]).flatMap((operation) =>
  operation.input === undefined ? [] : [{ ...operation, input: operation.input }],
);

eachHttpServer('hostile clients', async (t, { environment }) => {
  const target = await HostileTarget.start(t, {
    ...environment,
    SERVICE_ROOT_API_KEY: rootKey,
    SERVICE_API_RATE_LIMIT: '1000000',
    // Resolves no names outside.
    SERVICE_DNS_SERVERS: '127.0.0.1:9',
  });
  const { service, project, origin } = target;
  const image = `/img/${origin.url}/missing.png?project=${project}&w=9`;

  t.test(`heads of seed ${seed}`, { skip: only !== '' }, async (t) => {
    const targets = [image, image, '/', '/api/health', '/openapi.json', `${prefix}/projects`];
    const found = await findings('heads', 24, async (number) => {
      const { what, pieces, isValid } = hostileHead(targets, seed, number);
      const { answer, ms } = await exchange(service.port, pieces, isValid ? /\r\n\r\n/ : null);
      const isMissing = isValid && answer === '';
      const finding = isMissing ? 'no response' : findingOf(Buffer.concat(pieces), answer);
      return { what, finding, ms: isValid ? ms : 0 };
    });
    t.same(found, []);
    t.same(await target.problems(), []);
  });

  t.test(`bodies of seed ${seed}`, { skip: only !== '' }, async (t) => {
    const pool = new Pool(service.url, { connections: 8 });
    t.teardown(() => pool.destroy());
    const statuses = new Map<number, number>();
    const found = await findings('bodies', 8, async (number) => {
      const operation = inputs[number % inputs.length];
      if (operation === undefined) throw new Error('no operation has a body');
      const { method, path, input } = operation;
      const { what, bytes } = hostileJson(examples[input], seed, number);
      const target = prefix + path.replace('{projectId}', project).replace('{presetName}', 'card');
      const headers = { authorization: `Bearer ${rootKey}`, 'content-type': 'application/json' };
      const begun = performance.now();
      const response = await pool.request({ path: target, method, headers, body: bytes });
      const answer = await response.body.text();
      const { statusCode: status } = response;
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      const isError = status >= 500 && status !== 503;
      const finding = isError ? `${status}: ${answer.slice(0, 400)}` : null;
      return { what: `${method} ${input}: ${what}`, finding, ms: performance.now() - begun };
    });
    t.comment([...statuses].map(([status, times]) => `${times} x ${status}`).join(', '));
    t.same(found, []);
    t.same(await target.problems(), []);
  });

  t.test('no request remains in progress', async (t) => {
    await until('all requests have ended', async () => (await target.openRequests()) === 0);
    t.equal((await fetch(`${service.url}/api/health`)).status, 200);
  });
});
