import { createServer, type RequestListener } from 'node:http';
import t, { type Test } from 'tap';
import { createRequests, runPlan, seeded, zipf } from '../../../bench/load/generator.ts';
import type { LoadClass, LoadPlan } from '../../../bench/load/load.ts';
import {
  computeResult,
  type Finished,
  latencyPercentile,
  toOutcome,
} from '../../../bench/load/results.ts';
import { listen } from '../../listen.ts';

/** Starts a server; returns the template of its URLs. */
const serve = async (t: Test, listener: RequestListener): Promise<string> =>
  `http://127.0.0.1:${await listen(t, createServer(listener))}/{n}`;

/** Returns the result of a single-class plan. */
async function run(planned: LoadClass, plan: Omit<LoadPlan, 'classes'>) {
  const [result] = await runPlan({ ...plan, classes: [planned] });
  if (result === undefined) throw new Error('no result');
  return result;
}

t.test('counts latencies from the due time, even during a stall', async (t) => {
  const stallMs = 400;
  let requests = 0;
  const url = await serve(t, (_request, response) => {
    requests += 1;
    // The server runs in this process, so neither requests nor responses leave during the stall.
    if (requests === 10) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, stallMs);
    response.end('body');
  });
  const result = await run({ url, first: 0, rate: 100 }, { seconds: 1 });
  t.equal(result.counts.miss, 100);
  t.match(result.statuses, { 200: 100 });
  t.equal(result.meanBytes, 4);
  // 40 of 100 were due during the stall.
  const percentile = (share: number) => latencyPercentile([result], 'miss', share);
  t.ok(percentile(0.8) >= stallMs / 4, `${percentile(0.8)} ms`);
  t.ok(percentile(1) >= stallMs - 20, `${percentile(1)} ms`);
  t.ok(Number.isNaN(latencyPercentile([result], 'hit', 1)));
  const sentLate = result.samples.filter(
    ({ latencyMs, serverMs }) => latencyMs - serverMs >= stallMs / 4,
  );
  t.ok(sentLate.length >= 20, `${sentLate.length} requests were sent after the stall`);
  t.ok(result.generatorCores > 0);
});

t.test('does not wait for responses in an open loop', async (t) => {
  let requests = 0;
  const url = await serve(t, (_request, response) => {
    requests += 1;
    if (requests > 20) response.end();
  });
  const plan = { seconds: 0.2, timeoutS: 0.5 };
  const { counts, statuses } = await run({ url, first: 0, rate: 200 }, plan);
  t.match(counts, { miss: 20, failed: 20 });
  t.match(statuses, { 200: 20, UND_ERR_HEADERS_TIMEOUT: 20 });
});

t.test('waits for responses in a closed loop, and ends after its requests', async (t) => {
  let [open, most] = [0, 0];
  const paths: (string | undefined)[] = [];
  const url = await serve(t, ({ url }, response) => {
    open += 1;
    most = Math.max(most, open);
    paths.push(url);
    setImmediate(() => {
      open -= 1;
      response.writeHead(url === '/3' ? 503 : 200, { 'x-cache': 'memory' }).end();
    });
  });
  const planned = { url, first: 0, count: 5, clients: 2, requests: 10 };
  const { counts } = await run(planned, { seconds: 60 });
  t.match(counts, { hit: 8, refused: 2, miss: 0, failed: 0 });
  t.equal(most, 2);
  t.same(
    paths.sort(),
    [0, 0, 1, 1, 2, 2, 3, 3, 4, 4].map((n) => `/${n}`),
  );
});

t.test('continues a closed loop until its minimum number of images', async (t) => {
  const url = await serve(t, (_request, response) => {
    setTimeout(() => response.end(), 30);
  });
  const countImages = async (seconds: number, atLeast: number) =>
    (await run({ url, first: 0, clients: 1, atLeast }, { seconds })).counts.miss;
  t.ok((await countImages(0.1, 6)) >= 6);
  t.ok((await countImages(0.01, 1e6)) < 1e6, 'for a limited time');
});

t.test('repeats a request once if its connection closes before a response', async (t) => {
  const requests: (string | undefined)[] = [];
  const url = await serve(t, ({ url }, response) => {
    requests.push(url);
    if (requests.length === 2) response.socket?.destroy();
    else response.end();
  });
  const planned = { url, first: 1, clients: 1, requests: 3 };
  t.match((await run(planned, { seconds: 60 })).counts, { miss: 3, failed: 0 });
  t.same(requests, ['/1', '/2', '/2', '/3']);
});

t.test('counts the rate of a closed loop from image to image', async (t) => {
  const finished = [400, 900, 1_400, 1_900, 2_400].map(
    (endAt): Finished => ({
      number: 0,
      dueAt: endAt - 500,
      endAt,
      ownMs: 400,
      status: 200,
      cache: 'miss',
      etag: '',
      machine: '',
      bytes: 1,
      failure: '',
    }),
  );
  const window = { beganAt: 0, fromAt: 1_000, untilAt: 10_000 };
  const { goodput, counts, all, samples, early } = computeResult(finished, {
    ...window,
    isClosedLoop: true,
  });
  t.match(samples, [{ latencyMs: 500, serverMs: 100 }, {}]);
  t.equal(early.length, 3);
  t.equal(goodput, 2, 'three in the 1.5 s since the last of the warm-up');
  t.equal(computeResult(finished, { ...window, isClosedLoop: false }).goodput, 3 / 9);
  t.same([all, counts.miss], [5, 2], 'latencies of requests due after the warm-up');
});

t.test('classifies a response', async (t) => {
  const cases: readonly [string, number, string][] = [
    ['hit', 200, 'memory'],
    ['hit', 200, 'disk'],
    ['hit', 200, 'shared'],
    ['hit', 200, 'HIT'],
    ['miss', 304, 'miss'],
    ['miss', 200, 'MISS'],
    ['miss', 200, ''],
    ['refused', 503, 'memory'],
    ['refused', 429, 'memory'],
    ['failed', 0, ''],
    ['failed', 404, ''],
    ['failed', 500, ''],
  ];
  for (const [expected, status, cache] of cases) t.equal(toOutcome({ status, cache }), expected);
});

t.test('weighs a Zipf rank by its power', async (t) => {
  const [count, draws, exponent] = [100, 200_000, 0.9];
  const draw = zipf(count, exponent, seeded(7));
  const seen = new Array<number>(count).fill(0);
  for (let i = 0; i < draws; i++) {
    const rank = draw();
    seen[rank] = (seen[rank] ?? 0) + 1;
  }
  const weights = seen.map((_, rank) => (rank + 1) ** -exponent);
  const sum = weights.reduce((a, b) => a + b, 0);
  for (const rank of [0, 1, 9, 49, 99]) {
    const expected = (draws * (weights[rank] ?? 0)) / sum;
    // Five standard deviations, with a fixed seed.
    t.ok(Math.abs((seen[rank] ?? 0) - expected) < 5 * Math.sqrt(expected), `rank ${rank + 1}`);
  }
  const equal = zipf(2, 0, seeded(7));
  const total = Array.from({ length: 10_000 }, equal).reduce((a, b) => a + b, 0);
  t.ok(Math.abs(total - 5_000) < 250);
});

t.test('requests the URL as written, with numbers in turn, and sends the headers', async (t) => {
  const planned = {
    url: 'http://host:1/img/http%3A%2F%2Fa//{n}?{n}',
    first: 5,
    headers: { accept: 'a' },
  };
  const next = createRequests(planned, seeded(1));
  t.same(
    [next(), next(), next()],
    [5, 6, 7].map((number) => ({
      number,
      origin: 'http://host:1',
      path: `/img/http%3A%2F%2Fa//${number}?${number}`,
      headers: { accept: 'a' },
    })),
  );
});
