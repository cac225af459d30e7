import { connect } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { Pool } from 'undici';
import { type Endpoint, endpoints, prefix } from '../../server/control/endpoints.ts';
import { examples } from '../../server/control/examples.ts';
import { eachHttpServer } from '../service/http-servers.ts';
import { until } from '../until.ts';
import { hostileHead } from './inputs/heads.ts';
import { hostileJson } from './inputs/json.ts';
import { count, from, mostMs, only, progress, seed } from './options.ts';
import { HostileTarget } from './target.ts';

/** Hostile heads, and bodies of the control plane, against one running service with each engine. */

const quietMs = 300;
const rootKey = 'sk_root-key-of-the-tests';

/** What one input led to. */
interface Outcome {
  readonly what: string;
  /** Null for an answer as it may be. */
  readonly fault: string | null;
  /** Until the answer to a request that must have one. */
  readonly ms: number;
}

/** Runs what is numbered, several at once, and what took too long again alone; the findings. */
async function findings(
  what: string,
  atOnce: number,
  one: (number: number) => Promise<Outcome>,
): Promise<string[]> {
  const found: string[] = [];
  const slow: number[] = [];
  const add = (number: number, outcome: Outcome, fault: string) => {
    const repeated = `npm run test:hostile -- clients --seed ${seed} --from ${number} --count 1`;
    found.push(`${repeated}: ${fault} (${outcome.what})`);
    progress(found.at(-1) ?? '');
  };
  let next = from;
  const begun = performance.now();
  const run = async () => {
    for (let number = next++; number < from + count; number = next++) {
      const outcome = await one(number);
      if (outcome.fault !== null) add(number, outcome, outcome.fault);
      else if (outcome.ms > mostMs) slow.push(number);
      const done = number - from + 1;
      if (done % 1_000 !== 0) continue;
      const rate = Math.round((1_000 * done) / (performance.now() - begun));
      progress(`${done} of ${count} ${what}, ${rate} per second`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, run));
  for (const number of slow) {
    const outcome = await one(number);
    if (outcome.ms > mostMs) add(number, outcome, `${Math.round(outcome.ms)} ms`);
  }
  return found;
}

interface Exchange {
  readonly answer: string;
  readonly ms: number;
}

/** Sends pieces, and gives what came back when the server ended or went quiet, or has answered. */
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
    socket.setTimeout(isDone === null ? quietMs : 5 * mostMs, () => socket.destroy());
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1');
      if (isDone?.test(answer)) socket.destroy();
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve({ answer, ms: performance.now() - begun }));
  });
}

/** More answers than there are lines that can be the first of a request, or one that is a fault. */
function faultOf(sent: Buffer, answer: string): string | null {
  const statuses = [...answer.matchAll(/HTTP\/1\.[01] (\d{3}) /g)].map(([, status]) =>
    Number(status),
  );
  const lines = sent.toString('latin1').match(/HTTP\/1\./gi)?.length ?? 0;
  const final = statuses.filter((status) => status >= 200);
  // What follows a request that is right may be refused once, and then the connection ends.
  if (final.length > lines + 1)
    return `${final.length} answers to ${lines} requests: ${final.join()}`;
  const isFault = (status: number) => status === 500 || status === 504;
  return final.some(isFault) ? `${final.join()}: ${answer.slice(-600)}` : null;
}

const inputs = (Object.values(endpoints) as Endpoint[]).flatMap((operation) =>
  operation.input === undefined ? [] : [{ ...operation, input: operation.input }],
);

eachHttpServer('hostile clients', async (t, { environment }) => {
  const attacked = await HostileTarget.start(t, {
    ...environment,
    SERVICE_ROOT_API_KEY: rootKey,
    SERVICE_API_RATE_LIMIT: '1000000',
    // No name is looked up outside.
    SERVICE_DNS_SERVERS: '127.0.0.1:9',
  });
  const { service, project, origin } = attacked;
  const image = `/img/${origin.url}/missing.png?project=${project}&w=9`;

  t.test(`heads of seed ${seed}`, { skip: only !== '' }, async (t) => {
    const targets = [image, image, '/', '/api/health', '/openapi.json', `${prefix}/projects`];
    const found = await findings('heads', 24, async (number) => {
      const { what, pieces, isValid } = hostileHead(targets, seed, number);
      const { answer, ms } = await exchange(service.port, pieces, isValid ? /\r\n\r\n/ : null);
      const isMissing = isValid && answer === '';
      const fault = isMissing ? 'no answer' : faultOf(Buffer.concat(pieces), answer);
      return { what, fault, ms: isValid ? ms : 0 };
    });
    t.same(found, []);
    t.same(await attacked.problems(), []);
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
      const isFault = status >= 500 && status !== 503;
      const fault = isFault ? `${status}: ${answer.slice(0, 400)}` : null;
      return { what: `${method} ${input}: ${what}`, fault, ms: performance.now() - begun };
    });
    t.comment([...statuses].map(([status, times]) => `${times} x ${status}`).join(', '));
    t.same(found, []);
    t.same(await attacked.problems(), []);
  });

  t.test('nothing of them is left', async (t) => {
    await until('no request is in progress', async () => (await attacked.openRequests()) === 0);
    t.equal((await fetch(`${service.url}/api/health`)).status, 200);
  });
});
