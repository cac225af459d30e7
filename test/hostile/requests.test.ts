import { existsSync, readFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import { bombs } from '../../bench/hostile/bombs.ts';
import { mutant } from '../../bench/hostile/mutations.ts';
import { pictures } from '../../bench/hostile/pictures.ts';
import { errorCatalogue } from '../../contract/errors.ts';
import { startDnsServer } from '../pool/source/dns-server.ts';
import { get } from '../service/held.ts';
import { startTestOrigin } from '../service/origin.ts';
import { type RawResponse, StrictConnection } from '../service/raw-http.ts';
import { json, startService } from '../service/service.ts';
import { count, from, isLong, progress, seed } from './length.ts';
import { addresses, allowedHosts, hostileUrls, hostileValues } from './urls.ts';

/** Hostile URLs and pictures against one running service, which must stay what it is. */

/** Much more than what the service itself and its caches need. */
const mostMebibytes = isLong ? 1_400 : 700;
const atOnce = 4;
/** What a hostile picture may be answered with. */
const pictureCodes = new Set([
  'source_corrupt',
  'source_unsupported',
  'source_too_large',
  'transform_timeout',
]);

const origin = await startTestOrigin(t);
const originals = await pictures();
const png = originals.get('png') ?? Buffer.alloc(0);
origin.serve('/a.png', png);
const dns = await startDnsServer(t, (name, family) => {
  const found = addresses[name];
  if (found === undefined) return 'no such name';
  return { addresses: family === 4 ? found : [] };
});
const service = await startService(t, {
  environment: {
    SERVICE_PRIVATE_SOURCES: `127.0.0.1:${origin.port},loopback.test:${origin.port},own.test:*`,
    SERVICE_DNS_SERVERS: dns.address,
    SERVICE_MEMORY_CACHE_BYTES: '16000000',
    SERVICE_TRANSFORM_TIMEOUT_MS: '20000',
    SERVICE_POOL_THREADS: '2',
  },
});
const project = await service.project(...allowedHosts);
const [frontEnd = 0] = service.frontEnds();

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

function peakMebibytes(pid: number): number {
  const status = `/proc/${pid}/status`;
  if (!existsSync(status)) return 0;
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(status, 'utf8'))?.[1]) / 1024;
}

async function unharmed(t: Test): Promise<void> {
  const health = await json(await fetch(`${service.url}/api/health`));
  t.equal(health.ok, true, 'health');
  t.same(service.frontEnds(), [frontEnd], 'the process lives');
  const errors = service.log.filter((line) => Number(line['level']) >= 50);
  t.same(errors, [], 'and had nothing to complain of');
  const peak = peakMebibytes(frontEnd);
  progress(`at most ${Math.round(peak)} MiB`);
  t.ok(peak < mostMebibytes, `with at most ${Math.round(peak)} MiB`);
}

t.test('hostile URLs have the answer that each must have', async (t) => {
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

/** Requests a picture that may be refused. */
async function send(t: Test, path: string, bytes: Buffer, what: string): Promise<number> {
  origin.serve(path, bytes);
  const url = `${service.url}/img/${origin.url}${path}?project=${project}&w=40&fmt=webp`;
  const answer = await get(url).answer.catch((error: Error) => error);
  origin.serve(path, Buffer.alloc(0));
  if (answer instanceof Error) {
    t.fail(`${what}: ${answer.message}`);
    return 0;
  }
  const code = codeOf(t, answer, what);
  if (answer.status !== 200 && !pictureCodes.has(code ?? '')) {
    t.fail(`${what}: ${answer.status} ${code ?? ''}`);
  }
  return answer.status;
}

t.test(`mutations of seed ${seed}`, async (t) => {
  t.comment(
    `repeat with: npm run test:hostile -- requests --seed ${seed} --count ${count} --from ${from}`,
  );
  const statuses = new Map<number, number>();
  let next = from;
  const attack = async () => {
    while (next < from + count) {
      const number = next;
      next += 1;
      const { what, bytes } = mutant(originals, seed, number);
      const status = await send(t, `/mutant-${number}`, bytes, `seed ${seed}, ${number}: ${what}`);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if ((number - from + 1) % 100 === 0) {
        progress(`${number - from + 1} of ${count} mutations, seed ${seed}`);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, attack));
  t.comment(
    `answers: ${[...statuses].map(([status, times]) => `${times} x ${status}`).join(', ')}`,
  );
  await unharmed(t);
  const whole = await get(`${service.url}/img/${origin.url}/a.png?project=${project}&w=33`).answer;
  t.equal(whole.status, 200, 'others are served');
});

t.test('pictures that are small and meant to cost much', async (t) => {
  const all = await bombs(originals, isLong ? 10 : 1);
  const chosen = all.filter(({ what }) => what.includes(only));
  for (const [index, { what, bytes: make }] of chosen.entries()) {
    const bytes = make();
    const begun = performance.now();
    const status = await send(t, `/bomb-${index}`, bytes, what);
    const ms = Math.round(performance.now() - begun);
    const peak = Math.round(peakMebibytes(frontEnd));
    progress(
      `${what} (${bytes.length} bytes): ${status} after ${ms} ms, at most ${peak} MiB so far`,
    );
    t.comment(`${what}: ${status} after ${ms} ms`);
    t.ok(ms < 25_000, what);
  }
  await unharmed(t);
});
