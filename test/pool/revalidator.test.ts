import t, { type Test } from 'tap';
import { ServiceError } from '../../contract/errors.ts';
import { type Coalescer, onlyProcess } from '../../pool/coalescer.ts';
import type { SourceState } from '../../pool/freshness.ts';
import { imageInputs } from '../../pool/inputs.ts';
import type { ImageRequest } from '../../pool/miss.ts';
import { Revalidator, type RevalidatorEnvironment } from '../../pool/revalidator.ts';
import type { SourceLease } from '../../pool/source/sources.ts';
import type { ImageLayer } from '../../pool/variant.ts';
import { until } from '../until.ts';
import { variant, watermark } from './rendering/pictures.ts';
import { imageRequest } from './requests.ts';

const freshness = { sourceAge: 'origin', stateKeys: ['a'] } as const;
const request = imageRequest({ freshness });

const lease = (fetchedAt: number, content = 'a'): SourceLease => ({
  bytes: Buffer.from(content),
  digest: () => content,
  contentType: null,
  validators: { resource: null, etag: '"1"', lastModified: null },
  freshness: { maxAge: 10, staleWhileRevalidate: 0, staleIfError: 100 },
  fetchedAt,
  fetchMs: 1,
  release() {},
  hold: () => () => {},
});

const { signal } = new AbortController();

/** Opens a revalidator with a clock, and with revalidations that the test ends. */
function open(t: Test, environment: Partial<RevalidatorEnvironment> = {}) {
  const clock = { at: 1_000_000 };
  const answers: ((answer: Awaited<ReturnType<RevalidatorEnvironment['revalidate']>>) => void)[] =
    [];
  const failures: ((error: unknown) => void)[] = [];
  const revalidator = new Revalidator({
    caches: { disk: null },
    coalescer: onlyProcess,
    bounds: { sourceMinAgeSeconds: 1, sourceMaxAgeSeconds: 1_000, staleIfErrorSeconds: 1_000 },
    revalidate: () =>
      new Promise((resolve, reject) => {
        answers.push(resolve);
        failures.push(reject);
      }),
    now: () => clock.at,
    ...environment,
  });
  t.teardown(() => revalidator.close());
  return { revalidator, clock, answers, failures };
}

t.test(
  "keeps the old image for stale-if-error after another process's origin failure",
  async (t) => {
    const failure = new ServiceError('source_timeout', 'The source did not arrive.');
    const coalescer: Coalescer = { join: () => Promise.reject(failure) };
    const { revalidator, clock, answers } = open(t, { coalescer });
    const changed = [clock.at];
    revalidator.fetched(request, [lease(clock.at)]);
    clock.at += 50_000;
    await revalidator.check(request, signal);
    t.match(revalidator.states(request), [{ changedAt: changed[0] }]);
    t.match(revalidator.report({ freshness }, { fetchedAt: changed }), {
      freshUntil: 1_010_000,
      error: 'source_timeout',
    });
    clock.at += 100_000;
    await t.rejects(revalidator.check(request, signal), { code: 'source_timeout' });
    t.equal(answers.length, 0, 'the other process sends the requests');
  },
);

t.test('revalidates an expired source before it uses the image', async (t) => {
  const { revalidator, clock, answers } = open(t);
  const changed = [clock.at];
  revalidator.fetched(request, [lease(clock.at)]);
  clock.at += 50_000;
  const check = revalidator.check(request, signal);
  await until('the revalidation', () => answers.length === 1);
  answers[0]?.({ ...lease(clock.at), bytes: null });
  await check;
  t.match(revalidator.states(request), [{ changedAt: changed[0] }], 'it has not changed');
  await revalidator.check(request, signal);
  t.equal(answers.length, 1);
  t.equal(revalidator.report({ freshness }, { fetchedAt: changed }).freshUntil, clock.at + 10_000);
});

/** Returns an image with a layer and the state keys `a` and `b`. */
const withLayer = (layer: ImageLayer): ImageRequest => {
  const layered = variant({ layers: [layer] });
  const inputs = imageInputs(new URL('https://a.example/a.jpg'), null, layered, () => true);
  const freshness = { sourceAge: 'origin', stateKeys: ['a', 'b'] } as const;
  return { ...request, inputs, variant: layered, freshness };
};

/** Returns a revalidator for a request. The request's last input expired 40 s ago. */
function expired(t: Test, checkedRequest = request) {
  const opened = open(t);
  const { revalidator, clock } = opened;
  const old = { ...lease(clock.at), freshness: strict };
  revalidator.fetched(
    checkedRequest,
    checkedRequest.inputs.map(() => old),
  );
  clock.at += 50_000;
  revalidator.fetched(
    checkedRequest,
    checkedRequest.inputs.slice(1).map(() => lease(clock.at)),
  );
  return { ...opened, request: checkedRequest };
}

const strict = { maxAge: 10, staleWhileRevalidate: 0, staleIfError: 0 };
const unchanged = (at: number) => ({ ...lease(at), freshness: strict, bytes: null });
t.test('names the layer in a layer failure', async (t) => {
  const [mark] = watermark();
  for (const [layer, message] of [
    [mark, /^The watermark cannot be used\. /],
    [{ ...mark, isWatermark: false }, /^A layer cannot be used\. /],
  ] as const) {
    const { revalidator, failures, request } = expired(t, withLayer(layer));
    const check = revalidator.check(request, signal);
    await until('the revalidation', () => failures.length === 1);
    failures[0]?.(new ServiceError('source_timeout', 'The source did not arrive.'));
    await t.rejects(check, { code: 'source_timeout', message, details: { layer: 0 } });
  }
});

t.test('uses a slow response, even if it has expired', async (t) => {
  const { revalidator, clock, answers, request } = expired(t);
  const check = revalidator.check(request, signal);
  await until('the revalidation', () => answers.length === 1);
  clock.at += 20_000;
  answers[0]?.(unchanged(clock.at));
  await check;
  t.match(revalidator.states(request), [{ changedAt: 1_000_000 }]);
});

t.test("keeps a fetch's state if a revalidation started earlier", async (t) => {
  const { revalidator, clock, answers, request } = expired(t);
  const check = revalidator.check(request, signal);
  await until('the revalidation', () => answers.length === 1);
  const revalidatedAt = clock.at;
  clock.at += 1;
  revalidator.fetched(request, [lease(clock.at, 'b')]);
  answers[0]?.(unchanged(revalidatedAt));
  await check;
  t.match(revalidator.states(request), [{ digest: 'b', checkedAt: clock.at }]);
});

t.test('keeps a later state than another process or a cache returns', async (t) => {
  const old = {
    changedAt: 1_000_000,
    checkedAt: 1_000_001,
    digest: 'a',
    ...lease(0).validators,
    origin: strict,
  };
  for (const source of ['leader', 'disk'] as const) {
    const reads: ((state: SourceState) => void)[] = [];
    const readState = () => new Promise<SourceState>((resolve) => reads.push(resolve));
    const join = async () => ({ role: 'follower', result: await readState() }) as const;
    const caches = { disk: { readState, write: async () => {} } };
    const environment = source === 'leader' ? { coalescer: { join } } : { caches };
    const { revalidator, clock, answers } = open(t, environment);
    revalidator.fetched(request, [lease(clock.at)]);
    clock.at += 50_000;
    const check = revalidator.check(request, signal);
    await until('a read', () => reads.length === 1);
    const known = [{ digest: 'b', checkedAt: clock.at }];
    revalidator.fetched(request, [lease(clock.at, 'b')]);
    reads[0]?.(old);
    if (source === 'disk') await until('the revalidation', () => answers.length === 1);
    else await check;
    t.match(revalidator.states(request), known, source);
    answers[0]?.({ ...lease(clock.at, 'b'), bytes: null });
    await check;
  }
});

t.test('does not revalidate again after a client disconnects', async (t) => {
  const { revalidator, clock, answers, request } = expired(t);
  for (let i = 0; i < 5; i += 1) {
    const client = new AbortController();
    const check = revalidator.check(request, client.signal);
    client.abort(new Error('left'));
    await t.rejects(check, { message: 'left' });
  }
  const check = revalidator.check(request, signal);
  t.equal(answers.length, 1);
  answers[0]?.(unchanged(clock.at));
  await check;
});

t.test('does not count its own refusal as an origin failure', async (t) => {
  const { revalidator, failures, request } = expired(t);
  const check = revalidator.check(request, signal);
  await until('the revalidation', () => failures.length === 1);
  failures[0]?.(new ServiceError('overloaded', 'Too many sources are being fetched.'));
  await t.rejects(check, { code: 'overloaded' });
  const times = [1_000_000];
  t.equal(revalidator.report({ freshness }, { fetchedAt: times }).error, null);
  const again = revalidator.check(request, signal);
  await until('another question', () => failures.length === 2);
  failures[1]?.(new ServiceError('overloaded', 'Too many sources are being fetched.'));
  await t.rejects(again, { code: 'overloaded' });
});

t.test("soon tries a source's other URL, whose signature can be right", async (t) => {
  const { revalidator, clock, answers, failures, request } = expired(t);
  const [source] = request.inputs;
  const other = { ...source, url: new URL(`${source.url.href}?signature=right`) };
  const ofOther = { ...request, inputs: [other] as const };
  const refused = revalidator.check(request, signal).catch(() => {});
  await until('the revalidation', () => failures.length === 1);
  failures[0]?.(new ServiceError('source_forbidden', 'The source server refuses access.'));
  await refused;
  await revalidator.check(ofOther, signal).catch(() => {});
  clock.at += 1_000;
  await revalidator.check(request, signal).catch(() => {});
  t.equal(answers.length, 1, 'not at once, and not the same URL');
  const check = revalidator.check(ofOther, signal);
  await until('another question', () => answers.length === 2);
  answers[1]?.(lease(clock.at, 'a'));
  await t.resolves(check);
});

t.test('reports an image of older bytes as stale', async (t) => {
  const { revalidator, clock, answers, request } = expired(t);
  const check = revalidator.check(request, signal);
  await until('the revalidation', () => answers.length === 1);
  answers[0]?.(lease(clock.at, 'b'));
  await check;
  const changed = [clock.at];
  t.match(revalidator.states(request), [{ changedAt: clock.at }]);
  t.ok(revalidator.report({ freshness }, { fetchedAt: changed }).freshUntil > clock.at);
  const older = [clock.at - 1];
  t.equal(revalidator.report({ freshness }, { fetchedAt: older }).freshUntil, clock.at);
});

t.test("still revalidates for other projects while one project's origin hangs", async (t) => {
  const projects: string[] = [];
  const { revalidator, clock } = open(t, {
    revalidate: ({ project }) => {
      projects.push(project);
      return new Promise(() => {});
    },
  });
  const refresh = (project: string, stateKey: string) => {
    const url = new URL(`https://${project}.example/a.jpg`);
    const inputs = imageInputs(url, null, request.variant, () => true);
    const freshness = { sourceAge: 10, stateKeys: [stateKey] };
    revalidator.refresh({ ...request, project, inputs, freshness });
  };
  for (let i = 0; i < 1_000; i += 1) refresh('a', `a${i}`);
  refresh('b', 'b');
  clock.at += 1;
  await until('the revalidations', () => projects.includes('b'));
  t.ok(projects.length < 512, `${projects.length}`);
});
