import { createServer, type RequestListener } from 'node:http';
import t, { type Test } from 'tap';
import { runPlan } from '../../../bench/load/generator.ts';
import { Latencies } from '../../../bench/load/latencies.ts';
import { resultOf } from '../../../bench/load/load.ts';
import type { LoadClass } from '../../../bench/load/plan.ts';
import { seeded, zipf } from '../../../bench/load/random.ts';
import { outcomeOf, Recorder } from '../../../bench/load/recorder.ts';
import { requestsOf } from '../../../bench/load/requests.ts';
import { parseOutput } from '../../../bench/load/wrk.ts';
import { listen } from '../../listen.ts';

/** Starts a server; returns the template of its URLs. */
const serve = async (t: Test, listener: RequestListener): Promise<string> =>
  `http://127.0.0.1:${await listen(t, createServer(listener))}/{n}`;

t.test('latencies count from the due time, also during a stall', async (t) => {
  const stallMs = 400;
  let requests = 0;
  const url = await serve(t, (_request, response) => {
    requests += 1;
    // The server is in this process, so that neither requests nor responses leave during the stall.
    if (requests === 10) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, stallMs);
    response.end('body');
  });
  const planned = { name: 'open', url, first: 0, rate: 100 };
  const result = resultOf(await runPlan({ seconds: 1, classes: [planned] }), 'open');
  t.equal(result.counts.miss, 100);
  t.match(result.statuses, { 200: 100 });
  t.equal(result.meanBytes, 4);
  // 40 of 100 were due during the stall.
  const latency = Latencies.merged([result.latency.miss]);
  t.ok(latency.percentile(0.8) >= stallMs / 4, `${latency.percentile(0.8)} ms`);
  t.ok(latency.percentile(1) >= stallMs - 20, `${latency.percentile(1)} ms`);
});

t.test('an open loop does not wait for responses, and open requests count as failed', async (t) => {
  let requests = 0;
  const url = await serve(t, (_request, response) => {
    requests += 1;
    if (requests > 20) response.end();
  });
  const planned = { name: 'open', url, first: 0, rate: 200 };
  const plan = { seconds: 0.2, drainS: 0.5, classes: [planned] };
  const { counts, statuses } = resultOf(await runPlan(plan), 'open');
  t.match(counts, { miss: 20, failed: 20 });
  t.match(statuses, { open: 20 });
});

t.test(
  'clients of a closed loop wait for their responses, and it ends after its requests',
  async (t) => {
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
    const planned = { name: 'closed', url, first: 0, count: 5, clients: 2, requests: 10 };
    const { counts } = resultOf(await runPlan({ seconds: 60, classes: [planned] }), 'closed');
    t.match(counts, { hit: 8, refused: 2, miss: 0, failed: 0 });
    t.equal(most, 2);
    t.same(
      paths.sort(),
      [0, 0, 1, 1, 2, 2, 3, 3, 4, 4].map((n) => `/${n}`),
    );
  },
);

t.test('a closed loop continues until it has its minimum number of images', async (t) => {
  const url = await serve(t, (_request, response) => {
    setTimeout(() => response.end(), 30);
  });
  const run = async (seconds: number, atLeast: number) => {
    const planned = { name: 'closed', url, first: 0, clients: 1, atLeast };
    return resultOf(await runPlan({ seconds, classes: [planned] }), 'closed').counts.miss;
  };
  t.ok((await run(0.1, 6)) >= 6);
  t.ok((await run(0.01, 1e6)) < 1e6, 'for a limited time');
});

t.test('the rate of a closed loop is counted from image to image', async (t) => {
  const recorder = new Recorder({ warmupMs: 1_000, endMs: 10_000, keepSamples: false });
  for (const endMs of [400, 900, 1_400, 1_900, 2_400]) {
    const dueMs = endMs - 500;
    recorder.add({ dueMs, endMs, status: 200, cache: 'miss', bytes: 1 });
  }
  const { goodput, counts, all } = recorder.result(true);
  t.equal(goodput, 2, 'three in the 1.5 s since the last of the warm-up');
  t.equal(recorder.result(false).goodput, 3 / 9);
  t.same([all, counts.miss], [5, 2], 'latencies of requests due after the warm-up');
});

t.test('the outcome of a response', async (t) => {
  const cases: readonly [string, number, string | undefined][] = [
    ['hit', 200, 'memory'],
    ['hit', 200, 'disk'],
    ['hit', 200, 'shared'],
    ['hit', 200, 'HIT'],
    ['miss', 304, 'miss'],
    ['miss', 200, 'MISS'],
    ['miss', 200, undefined],
    ['refused', 503, 'memory'],
    ['refused', 429, 'memory'],
    ['failed', 0, undefined],
    ['failed', 404, undefined],
    ['failed', 500, undefined],
  ];
  for (const [expected, status, cache] of cases) t.equal(outcomeOf({ status, cache }), expected);
});

t.test('histograms of several rounds merge without loss', async (t) => {
  const [fast, slow] = [new Latencies(), new Latencies()];
  for (let ms = 1; ms <= 990; ms++) fast.record(1 + ms / 10_000);
  for (let ms = 1; ms <= 10; ms++) slow.record(1_000);
  const merged = Latencies.merged([fast.encoded(), slow.encoded()]);
  t.equal(merged.count, 1_000);
  t.ok(Math.abs(merged.percentile(0.5) - 1.05) < 0.01);
  t.ok(merged.percentile(0.99) < 1.2);
  t.ok(Math.abs(merged.percentile(0.995) - 1_000) < 2);
  t.ok(Number.isNaN(new Latencies().percentile(0.5)));
});

t.test('Zipf: the weight of a rank is its power', async (t) => {
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
    // Five standard deviations; the seed is fixed.
    t.ok(Math.abs((seen[rank] ?? 0) - expected) < 5 * Math.sqrt(expected), `rank ${rank + 1}`);
  }
  const equal = zipf(2, 0, seeded(7));
  const ones = Array.from({ length: 10_000 }, equal).reduce((a, b) => a + b, 0);
  t.ok(Math.abs(ones - 5_000) < 250);
});

t.test('requests have the URL as written, with numbers, words and headers in turn', async (t) => {
  const planned: LoadClass = {
    name: 'class',
    url: 'http://host:1/img/http%3A%2F%2Fa//{n}?{n}',
    first: 5,
    clients: 1,
    headers: [{ accept: 'a' }, { accept: 'b' }],
  };
  const next = requestsOf(planned, seeded(1));
  t.same(
    [next(), next(), next()].map(({ origin, path, headers }) => [origin, path, headers]),
    [5, 6, 7].map((n, index) => [
      'http://host:1',
      `/img/http%3A%2F%2Fa//${n}?${n}`,
      { accept: index === 1 ? 'b' : 'a' },
    ]),
  );
  const words = { ...planned, first: 0, count: 2, words: ['x', 'y'], url: 'http://h/{n}' };
  const named = requestsOf(words, seeded(1));
  t.same([named().path, named().path, named().path], ['/x', '/y', '/x']);
});

t.test('the rate of wrk is valid only when all requests have succeeded', async (t) => {
  const printed = '  2502 requests in 1.00s, 1MB read\nRequests/sec:  12345.67\n';
  t.same(parseOutput(printed), { perSecond: 12_345.67, requests: 2_502 });
  t.throws(() => parseOutput(`${printed}  Non-2xx or 3xx responses: 3`), /responses: 3/);
  t.throws(() => parseOutput(`  Socket errors: connect 0, read 1\n${printed}`), /read 1/);
  t.throws(() => parseOutput('unable to connect'), /unable to connect/);
});
