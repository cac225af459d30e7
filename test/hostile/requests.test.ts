import t, { type Test } from 'tap';
import { openContainer } from '../../pool/formats/source-formats.ts';
import { concurrently } from '../concurrently.ts';
import { ultraHdr } from '../pool/rendering/ultra-hdr.ts';
import { startDnsServer } from '../pool/source/dns-server.ts';
import { startTestOrigin } from '../service/origin.ts';
import { StrictConnection } from '../service/raw-http.ts';
import { json } from '../service/service.ts';
import { bombs } from './inputs/bombs.ts';
import { mutant } from './inputs/mutations.ts';
import { pictures } from './inputs/pictures.ts';
import { addresses, allowedHosts, hostileUrls } from './inputs/urls.ts';
import {
  count,
  createRateReport,
  from,
  isLong,
  isRepetition,
  maxMs,
  only,
  progress,
  seed,
} from './run.ts';
import { type HostileRequest, HostileTarget, readError, toFinding } from './target.ts';

/** Sends hostile URLs and images to a running service, which must remain intact. */

const atOnce = 4;
/** Memory of the front end for one response. */
const maxMebibytes = 300;
/** More than the timeout of a transform. */
const maxMsOfBomb = 25_000;

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
const target = await HostileTarget.start(
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
const { service, project } = target;

/** Paths that the service is allowed to request from the origin. */
const allowedPaths =
  /^\/(a\.png(%00\.jpg)?|b(Host|%0d%0aHost)[!-~]*|%E2%80%AEgnp\.exe|\{\{7\*7\}\}[!-~]*|%7B%7B[!-~]*|%3Cscript[!-~]*)$/;

async function requireIntact(t: Test): Promise<void> {
  t.same(await target.problems(), [], 'processes, threads and log');
  t.equal((await json(await fetch(`${service.url}/api/health`))).ok, true, 'health');
}

const isChosen = isRepetition || only !== '';

t.test('returns the expected status and code for hostile URLs', { skip: isChosen }, async (t) => {
  const urls = hostileUrls({ port: origin.port, ownPort: service.port, project });
  // Use one connection for all requests: a response of a wrong length breaks the next response.
  let connection = await StrictConnection.open(service.port);
  for (const { what, target, status, code } of urls) {
    try {
      const { body, headers, ...answer } = await connection.request('GET', target);
      const got = [answer.status, readError(answer.status, body).code];
      t.same(got, [status, code], `${what}: ${target.slice(0, 200)}`);
      const isMissing = code === 'source_not_found';
      const cacheControl = headers.get('cache-control') ?? '';
      if (isMissing) t.equal(cacheControl, 'public, max-age=10', what);
      else if ((cacheControl === 'no-store') !== (code !== null))
        t.fail(`${what}: ${cacheControl}`);
    } catch (error) {
      t.fail(`${what}: ${error}`);
      connection = await StrictConnection.open(service.port);
    }
  }
  connection.close();
  const unexpected = [...origin.requests.keys()].filter((path) => !allowedPaths.test(path));
  t.same(unexpected, [], 'the origin gets no unexpected requests');
  await requireIntact(t);
});

/** Returns the time limit. Each frame of an animation can take `separateFrame` of cost.ts. */
function maxDuration({ bytes }: HostileRequest): number {
  try {
    return maxMs + 10 * openContainer(bytes).frames;
  } catch {
    return maxMs;
  }
}

/**
 * Sends several requests at once. If a response takes too much time or memory, repeats all
 * concurrent requests one by one, because any of them can be the cause.
 */
async function findings(
  t: Test,
  requests: Iterable<HostileRequest>,
  done: (number: number) => void,
): Promise<string[]> {
  const found: string[] = [];
  const outcomes = new Map<string, number>();
  const suspects = new Set<HostileRequest>();
  const suspect = (request: HostileRequest) => {
    suspects.add(request);
    progress(`to be repeated: ${request.what}`);
  };
  const inProgress = new Set<HostileRequest>();
  let number = 0;
  let { now } = target.memory();
  await concurrently(atOnce, requests, async (request) => {
    inProgress.add(request);
    const outcome = await target.request(request);
    const before = now;
    const memory = target.memory();
    ({ now } = memory);
    if (memory.peak - before > maxMebibytes) for (const each of inProgress) suspect(each);
    inProgress.delete(request);
    const kind = `${outcome.status} ${outcome.code ?? ''}`;
    outcomes.set(kind, (outcomes.get(kind) ?? 0) + 1);
    const limit = maxDuration(request);
    const finding = toFinding(outcome, limit);
    if (finding !== null && outcome.ms > limit) suspect(request);
    else if (finding !== null) found.push(shown(`${request.what}: ${finding}`));
    number += 1;
    done(number);
  });
  t.comment([...outcomes].map(([kind, times]) => `${times} x ${kind}`).join(', '));
  for (const suspiciousRequest of suspects)
    found.push(
      ...(await findingsAlone(suspiciousRequest, maxDuration(suspiciousRequest))).map(shown),
    );
  return found;
}

/** Shows a finding immediately, because a run takes long. */
function shown(finding: string): string {
  progress(finding);
  return finding;
}

async function findingsAlone(request: HostileRequest, limitMs: number): Promise<string[]> {
  const { now } = target.memory();
  const outcome = await target.requestAlone(request);
  const grown = Math.round(target.memory().peak - now);
  const { what } = request;
  const { status, code, ms } = outcome;
  progress(`${what}: ${status} ${code ?? ''} ${Math.round(ms)} ms, ${grown} MiB`);
  const finding = toFinding(outcome, limitMs);
  return [
    ...(finding === null ? [] : [`${what}: ${finding}`]),
    ...(grown > maxMebibytes ? [`${what}: ${grown} MiB`] : []),
  ];
}

t.test(`survives inputs of seed ${seed}`, { skip: only !== '' }, async (t) => {
  const command = (number: number) =>
    `npm run test:hostile -- requests --seed ${seed} --from ${number} --count 1`;
  t.comment(`to repeat one: ${command(from)}`);
  function* inputs() {
    for (let number = from; number < from + count; number++) {
      const { what, ...input } = mutant(originals, seed, number);
      yield { ...input, what: `${command(number)} (${what} ${input.query})` };
    }
  }
  const memory = () => `, ${Math.round(target.memory().now)} MiB`;
  const found = await findings(t, inputs(), createRateReport('inputs', memory));
  t.same(found, [], 'all outcomes are allowed');
  await requireIntact(t);
  const intact = await fetch(`${service.url}/img/${origin.url}/a.png?project=${project}&w=33`);
  t.equal(intact.status, 200, 'other images are delivered');
});

t.test('limits small images that are expensive to process', { skip: isRepetition }, async (t) => {
  const all = await bombs(isLong ? 10 : 1);
  for (const bomb of all.filter(({ what }) => what.includes(only))) {
    const found = await findingsAlone({ ...bomb, bytes: bomb.bytes() }, maxMsOfBomb);
    t.same([...found, ...(await target.problems())], [], bomb.what);
  }
  await requireIntact(t);
});
