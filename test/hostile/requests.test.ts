import t, { type Test } from 'tap';
import { errorCatalogue } from '../../contract/errors.ts';
import { openContainer } from '../../pool/formats/container/container.ts';
import { ultraHdr } from '../pool/rendering/ultra-hdr.ts';
import { startDnsServer } from '../pool/source/dns-server.ts';
import { startTestOrigin } from '../service/origin.ts';
import { type RawResponse, StrictConnection } from '../service/raw-http.ts';
import { json } from '../service/service.ts';
import { bombs } from './inputs/bombs.ts';
import { mutant } from './inputs/mutations.ts';
import { pictures } from './inputs/pictures.ts';
import { addresses, allowedHosts, hostileUrls, hostileValues } from './inputs/urls.ts';
import { count, from, isLong, isRepetition, mostMs, only, progress, seed } from './options.ts';
import { findingOf, type HostileRequest, HostileTarget } from './target.ts';

/** Hostile URLs and pictures against one running service, which must stay what it is. */

const atOnce = 4;
/** For an answer to one input, and for the memory that it takes of the front end. */
const most = { ms: mostMs, mebibytes: 300 };
/** Of those that are meant to cost much: the timeout of a transform, and some more. */
const mostMsOfBomb = 25_000;

const origin = await startTestOrigin(t);
const originals = new Map<string, Buffer>(await pictures());
const png = originals.get('png') ?? Buffer.alloc(0);
originals.set('ultra hdr jpeg', await ultraHdr(originals.get('jpeg') ?? png));
origin.serve('/a.png', png);
const dns = await startDnsServer(t, (name, family) => {
  const found = addresses[name];
  if (found === undefined) return 'no such name';
  return { addresses: family === 4 ? found : [] };
});
const attacked = await HostileTarget.start(
  t,
  {
    SERVICE_PRIVATE_SOURCES: `127.0.0.1:${origin.port},loopback.test:${origin.port},own.test:*`,
    SERVICE_DNS_SERVERS: dns.address,
    SERVICE_MEMORY_CACHE_BYTES: '16000000',
    SERVICE_TRANSFORM_TIMEOUT_MS: '20000',
    SERVICE_POOL_THREADS: '2',
  },
  allowedHosts,
  origin,
);
const { service, project } = attacked;

/** The paths of the sources that lead to the origin. */
const askedOfOrigin =
  /^\/(a\.png(%00\.jpg)?|b(Host|%0d%0aHost)[!-~]*|%E2%80%AEgnp\.exe|\{\{7\*7\}\}[!-~]*|%7B%7B[!-~]*|%3Cscript[!-~]*)$/;

/** The code of an error body, which must be what the catalogue has for it; null for no error. */
function codeOf(t: Test, { status, body }: { status: number; body: Buffer }, what: string) {
  if (status < 400) return null;
  const { code, ...rest } = JSON.parse(body.toString());
  // Passed assertions by the thousand take longer than the requests.
  if (errorCatalogue[code as keyof typeof errorCatalogue]?.status !== status) {
    t.fail(`${what}: ${code} with ${status}`);
  }
  const fields = Object.keys(rest).sort().join();
  if (fields !== 'error,message,resolution_hint') t.fail(`${what}: ${fields}`);
  return code as string;
}

async function unharmed(t: Test): Promise<void> {
  t.same(await attacked.problems(), [], 'nothing has become of it');
  t.equal((await json(await fetch(`${service.url}/api/health`))).ok, true, 'health');
}

const isChosen = isRepetition || only !== '';

t.test('hostile URLs have the answer that each must have', { skip: isChosen }, async (t) => {
  const scene = { port: origin.port, ownPort: service.port, project };
  // The values all have one reader in the end: some of them for each parameter do for a short run.
  const values = hostileValues(scene).filter((_, index) => isLong || index % 5 === 0);
  const urls = [...hostileUrls(scene), ...values];
  t.ok(urls.length >= 120, `${urls.length} of them`);
  let connection = await StrictConnection.open(service.port);
  for (const [what, target, status, code] of urls) {
    // One connection for all: an answer that is too long or too short breaks the next one.
    const answer: RawResponse | Error = await connection
      .request('GET', target)
      .catch((error: Error) => error);
    if (answer instanceof Error) {
      t.fail(`${what}: ${answer.message}`);
      connection = await StrictConnection.open(service.port);
      continue;
    }
    const got = [answer.status, codeOf(t, answer, what)];
    t.same(got, [status, code], `${what}: ${target.slice(0, 200)}`);
    const cacheControl = answer.headers.get('cache-control') ?? '';
    if ((cacheControl === 'no-store') !== (code !== null)) t.fail(`${what}: ${cacheControl}`);
  }
  connection.close();
  const unasked = [...origin.requests.keys()].filter((path) => !askedOfOrigin.test(path));
  t.same(unasked, [], 'the origin gets the requests that were meant, and no others');
  await unharmed(t);
});

/** The frames of an animation cost time on purpose: up to `separateFrame` of cost.ts each. */
function mostMsOf({ bytes }: HostileRequest): number {
  try {
    return most.ms + 10 * openContainer(bytes).frames;
  } catch {
    return most.ms;
  }
}

/**
 * Sends what is to come, several at once. Those that were in progress while something took too long or
 * too much memory are sent again one by one, because another one may be the cause.
 */
async function findings(
  t: Test,
  attacks: Iterator<HostileRequest>,
  done: (number: number) => void,
): Promise<string[]> {
  const found: string[] = [];
  const answers = new Map<string, number>();
  const suspects = new Set<HostileRequest>();
  const suspect = (attack: HostileRequest) => {
    suspects.add(attack);
    progress(`to be sent again: ${attack.what}`);
  };
  const inProgress = new Set<HostileRequest>();
  let number = 0;
  let { now } = attacked.memory();
  const attack = async () => {
    for (let next = attacks.next(); !next.done; next = attacks.next()) {
      const one = next.value;
      inProgress.add(one);
      const answer = await attacked.ask(one);
      const before = now;
      const memory = attacked.memory();
      ({ now } = memory);
      if (memory.peak - before > most.mebibytes) for (const each of inProgress) suspect(each);
      inProgress.delete(one);
      const kind = `${answer.status} ${answer.code ?? ''}`;
      answers.set(kind, (answers.get(kind) ?? 0) + 1);
      const mostMs = mostMsOf(one);
      const fault = findingOf(answer, mostMs);
      if (fault !== null && answer.ms > mostMs) suspect(one);
      else if (fault !== null) found.push(said(`${one.what}: ${fault}`));
      number += 1;
      done(number);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, attack));
  t.comment([...answers].map(([kind, times]) => `${times} x ${kind}`).join(', '));
  for (const one of suspects) found.push(...(await alone(one, mostMsOf(one))).map(said));
  return found;
}

/** Shown when it is found, because a run takes long. */
function said(finding: string): string {
  progress(finding);
  return finding;
}

async function alone(attack: HostileRequest, mostMs: number): Promise<string[]> {
  const { now } = attacked.memory();
  const answer = await attacked.askAlone(attack);
  const grown = Math.round(attacked.memory().peak - now);
  const { what } = attack;
  progress(
    `${what}: ${answer.status} ${answer.code ?? ''} ${Math.round(answer.ms)} ms, ${grown} MiB`,
  );
  const fault = findingOf(answer, mostMs);
  return [
    ...(fault === null ? [] : [`${what}: ${fault}`]),
    ...(grown > most.mebibytes ? [`${what}: ${grown} MiB`] : []),
  ];
}

t.test(`inputs of seed ${seed}`, { skip: only !== '' }, async (t) => {
  const repeat = (number: number) =>
    `npm run test:hostile -- requests --seed ${seed} --from ${number} --count 1`;
  t.comment(`one is repeated with: ${repeat(from)}`);
  function* inputs() {
    for (let number = from; number < from + count; number++) {
      const { what, ...input } = mutant(originals, seed, number);
      yield { ...input, what: `${repeat(number)} (${what} ${input.query})` };
    }
  }
  const begun = performance.now();
  const found = await findings(t, inputs(), (number) => {
    if (number % 1_000 !== 0) return;
    const rate = Math.round((1_000 * number) / (performance.now() - begun));
    progress(
      `${number} of ${count} inputs, ${rate} per second, ${Math.round(attacked.memory().now)} MiB`,
    );
  });
  t.same(found, [], 'all are answered as they may be');
  await unharmed(t);
  const whole = await fetch(`${service.url}/img/${origin.url}/a.png?project=${project}&w=33`);
  t.equal(whole.status, 200, 'others are served');
});

t.test('pictures that are small and meant to cost much', { skip: isRepetition }, async (t) => {
  const all = await bombs(isLong ? 10 : 1);
  for (const bomb of all.filter(({ what }) => what.includes(only))) {
    const found = await alone({ ...bomb, bytes: bomb.bytes() }, mostMsOfBomb);
    t.same([...found, ...(await attacked.problems())], [], bomb.what);
  }
  await unharmed(t);
});
