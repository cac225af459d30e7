import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { concurrently } from '../concurrently.ts';
import { openPool, patient } from '../pool/execution/pools.ts';
import { shared } from '../pool/rendering/pictures.ts';
import { scriptArguments, scriptUrl } from '../scripts.ts';
import { temporaryFolder } from '../temporary-root.ts';
import { renders } from './inputs/renders.ts';
import { count, from, seed } from './run.ts';

/**
 * The bytes of an image depend only on the request. The test renders each request twice on threads,
 * next to different requests, and in two processes with different contents in freed and unwritten
 * memory. Pixels or metadata read from such memory would differ.
 */

const threads = 4;

const program = fileURLToPath(scriptUrl('determinism-program', import.meta.url));

/**
 * Returns the outcomes in a process with an allocator that fills memory with a byte (glibc only).
 */
async function inProcess(fill: number, fontFolder: string): Promise<readonly string[]> {
  const numbers = [seed, from, count].map(String);
  const child = spawn(process.execPath, [...scriptArguments, program, fontFolder, ...numbers], {
    env: {
      ...process.env,
      MALLOC_PERTURB_: String(fill),
      // Fills small freed blocks too.
      GLIBC_TUNABLES: 'glibc.malloc.tcache_count=0',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return JSON.parse(await text(child.stdout));
}

t.test('returns equal bytes for equal requests', { timeout: 3_600_000 }, async (t) => {
  const requests = await renders(seed, from, count);
  const sources = new Map(requests.map(({ source }) => [source, shared(source)]));
  const pool = openPool(t, { poolThreads: threads, poolQueue: 2 * threads });
  const onThread = async (index: number): Promise<string> => {
    const { source, layers, variant } = requests[index] as (typeof requests)[number];
    const bytes = sources.get(source) ?? source;
    const options = { ...patient, layers: layers.map(shared) };
    return pool.transform(bytes, variant, options).then(
      ({ etag }) => etag,
      ({ message }) => message,
    );
  };
  const order = [...requests.keys()];
  // Run next to different requests than the first time.
  const again = [0, 1, 2].flatMap((rest) => order.filter((index) => index % 3 === rest));
  const [first, two, rendered] = await Promise.all([
    inProcess(0x5a, await temporaryFolder(t)),
    inProcess(0xa5, await temporaryFolder(t)),
    concurrently(threads + 1, [...order, ...again], onThread),
  ]);
  const outcomes = requests.map((_, index) => new Set([first[index], two[index]]));
  for (const [at, index] of [...order, ...again].entries()) outcomes[index]?.add(rendered[at]);
  for (const [index, { what, known }] of requests.entries()) {
    const seen = [...(outcomes[index] ?? [])];
    const number = index - (requests.length - count) + from;
    t.equal(seen.length, 1, `${what} (seed ${seed}, number ${number}): ${seen}`);
    if (known) t.match(seen[0], /^"/, `${what} is rendered: ${seen}`);
  }
});
