// Separate file: takes two minutes and keeps both processes busy.
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { storeLink } from '../server/store-link.ts';
import { until } from '../until.ts';
import { prefix, rootKey, startControl } from './control/control.ts';
import { solid, startTestOrigin } from './origin.ts';
import { json } from './service.ts';

/** Purges must take effect within this time in ms. */
const effectiveWithinMs = 2_000;

/** A source with bytes that change at each purge. */
interface Source {
  readonly project: string;
  readonly path: string;
  version: number;
  /** The accepted purges, in order: the version that they have made valid, and when. */
  readonly purges: { readonly version: number; readonly at: number }[];
}

/** Counts of a storm. */
interface Seen {
  purges: number;
  images: number;
  /** Images purged two seconds before their response started. */
  old: number;
  /** Failed image requests and rejected purges, by status and code. */
  readonly errors: Map<string, number>;
}

async function startStorm(t: Test) {
  const link = await storeLink(t);
  const control = await startControl(t, {
    SERVICE_MONGODB_URL: link.url,
    SERVICE_PROCESSES: '2',
    SERVICE_POOL_THREADS: '1',
  });
  const { service } = control;
  const origin = await startTestOrigin(t);
  const sources: Source[] = [];
  for (let index = 0; index < 10; index += 1) {
    const project = await control.project();
    for (const name of ['a', 'b']) {
      sources.push({ project, path: `/${index}/${name}.png`, version: 0, purges: [] });
    }
  }
  /** Publishes the next version, which is the image width. */
  const publish = async (source: Source) => {
    source.version += 1;
    origin.serve(source.path, await solid(source.version, 1, 'red'));
  };
  await Promise.all(sources.map(publish));
  const purge = ({ project, path }: Source) =>
    fetch(`${service.url}${prefix}/projects/${project}/purge`, {
      method: 'POST',
      headers: { authorization: `Bearer ${rootKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ sources: [origin.url + path] }),
    });
  const image = ({ project, path }: Source) =>
    fetch(`${service.url}/img/${origin.url}${path}?project=${project}&fmt=png`);
  return { link, sources, publish, purge, image };
}

type Storm = Awaited<ReturnType<typeof startStorm>>;

const readVersion = (png: ArrayBuffer): number => Buffer.from(png).readUInt32BE(16);

/** Returns the version that the service must deliver at a time. */
const validAt = ({ purges }: Source, at: number): number =>
  purges.findLast((purge) => purge.at + effectiveWithinMs <= at)?.version ?? 1;

async function countError({ errors }: Seen, response: Response): Promise<void> {
  const { code } = await json(response);
  const name = `${response.status} ${code}`;
  errors.set(name, (errors.get(name) ?? 0) + 1);
}

/** Changes and purges a source again and again. */
async function purgeOften(storm: Storm, source: Source, seen: Seen, goesOn: () => boolean) {
  while (goesOn()) {
    await storm.publish(source);
    const { version } = source;
    const response = await storm.purge(source);
    if (response.status !== 202) await countError(seen, response);
    else {
      source.purges.push({ version, at: performance.now() });
      seen.purges += 1;
    }
  }
}

async function requestOften(storm: Storm, source: Source, seen: Seen, goesOn: () => boolean) {
  while (goesOn()) {
    const response = await storm.image(source);
    const startedAt = performance.now();
    if (response.status !== 200) await countError(seen, response);
    else {
      const version = readVersion(await response.arrayBuffer());
      seen.images += 1;
      if (version < validAt(source, startedAt)) seen.old += 1;
    }
    await sleep(5);
  }
}

/** Purges and requests all sources at once, and continues requests until all purges take effect. */
async function storms(storm: Storm, purges: number, withinMs: number): Promise<Seen> {
  const seen: Seen = { purges: 0, images: 0, old: 0, errors: new Map() };
  const endsAt = performance.now() + withinMs;
  const isPurging = () => seen.purges < purges && performance.now() < endsAt;
  let ended = false;
  const purging = storm.sources.map((source) => purgeOften(storm, source, seen, isPurging));
  const requesting = storm.sources.map((source) => requestOften(storm, source, seen, () => !ended));
  await Promise.all(purging);
  await sleep(effectiveWithinMs + 500);
  ended = true;
  await Promise.all(requesting);
  return seen;
}

t.test('delivers no old image two seconds after a purge, with any store', async (t) => {
  const storm = await startStorm(t);
  for (const { answerMs, purges, withinMs } of [
    { answerMs: 0, purges: 1_000, withinMs: 120_000 },
    { answerMs: 500, purges: 100, withinMs: 15_000 },
    { answerMs: 1_000, purges: 100, withinMs: 15_000 },
    // Every store operation times out, so the service accepts no purge.
    { answerMs: 3_000, purges: 100, withinMs: 10_000 },
  ]) {
    storm.link.slow(answerMs / 2);
    const seen = await storms(storm, purges, withinMs);
    const errors = Object.fromEntries(seen.errors);
    t.comment(`store ${answerMs} ms`, { ...seen, errors });
    t.equal(seen.old, 0, `${seen.images} images after ${seen.purges} purges`);
    t.equal(seen.purges > 0, answerMs < 1_500);
    t.ok(seen.images > 100);
    const known = ['503 overloaded', '503 store_unavailable', '429 rate_limited'];
    t.strictSame(
      Object.keys(errors).filter((error) => !known.includes(error)),
      [],
    );
  }
  storm.link.slow(0);
  for (const source of storm.sources) {
    const last = source.purges.at(-1)?.version ?? 1;
    await until('the last version', async () => {
      const response = await storm.image(source);
      const body = await response.arrayBuffer();
      return response.status === 200 && readVersion(body) >= last;
    });
  }
});
