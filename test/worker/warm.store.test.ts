import t, { type Test } from 'tap';
import { backgroundHeader, isBackgroundToken } from '../../contract/secrets.ts';
import type { JobCounts } from '../../store/jobs.ts';
import { PrewarmFailed, warm } from '../../worker/prewarm.ts';
import { until } from '../until.ts';
import { type Answer, apiErrorText, startListener } from './listener.ts';

const secret = 'a secret of the tests';
const requests = Array.from({ length: 5 }, (_, i) => ({
  target: `/img/a?w=${i}`,
  accept: `image/x-${i}`,
  label: `w=${i}`,
}));

async function startWarming(t: Test, basePath = '') {
  const listener = await startListener(t);
  const progress: JobCounts[] = [];
  const stop = new AbortController();
  return {
    listener,
    progress,
    stop,
    run: () =>
      warm(requests, {
        serviceUrl: listener.url + basePath,
        secret,
        signal: stop.signal,
        onProgress: async (counts) => void progress.push(counts),
      }),
    async failure(): Promise<PrewarmFailed> {
      progress.length = 0;
      const error = await this.run().then(
        () => null,
        (reason: unknown) => reason,
      );
      if (error instanceof PrewarmFailed) return error;
      throw new Error(`not a PrewarmFailed: ${error}`);
    },
  };
}

t.test('requests variants like clients, with a token, over one connection', async (t) => {
  const { listener, run, progress } = await startWarming(t, '/images/');
  await run();
  t.same(
    listener.received.map(({ target, headers }) => [target, headers.accept]),
    requests.map(({ target, accept }) => [`/images${target}`, accept]),
    'in order, below the path of the base URL',
  );
  t.equal(listener.connections(), 1, 'for one front end');
  for (const [index, { headers }] of listener.received.entries()) {
    const token = String(headers[backgroundHeader]);
    const { target = '' } = requests[index] ?? {};
    t.ok(isBackgroundToken(secret, target, token, Date.now()), 'without the base path');
  }
  t.same(
    progress.map(({ done }) => done),
    [1, 2, 3, 4, 5, 5],
  );
  t.same(progress.at(-1), { done: 5, failed: 0, total: 5 });
});

t.test('accepts an image from a cache before the service', async (t) => {
  const { listener, run } = await startWarming(t);
  listener.answer((target) => [target.endsWith('w=3') ? 200 : 204, 'x'.repeat(1_000_000)]);
  await run();
  t.equal(listener.connections(), 1);
});

t.test('classifies errors as retryable or final, and for one variant or all', async (t) => {
  const warming = await startWarming(t);
  const cases: ReadonlyArray<
    readonly [status: number, code: string, retryable: boolean, asked: 1 | 5]
  > = [
    [429, 'rate_limited', true, 1],
    [429, 'usage_limit_reached', false, 1],
    [500, 'internal_error', true, 5],
    [502, 'source_unreachable', true, 1],
    [503, 'overloaded', true, 1],
    [504, 'source_timeout', true, 1],
    [504, 'transform_timeout', true, 5],
    [400, 'parameter_invalid', false, 5],
    [403, 'source_not_allowed', false, 1],
    [404, 'source_not_found', false, 1],
    [413, 'source_too_large', false, 1],
    [415, 'source_unsupported', false, 1],
    [422, 'source_corrupt', false, 1],
  ];
  for (const [status, code, retryable, asked] of cases) {
    const before = warming.listener.received.length;
    warming.listener.answer(() => [status, apiErrorText(code, 'It is so.')]);
    const error = await warming.failure();
    t.equal(error.retryable, retryable, `${status} ${code}`);
    t.equal(warming.listener.received.length - before, asked, `${status} ${code} asked ${asked} x`);
    t.match(error.message, `5 of 5 variants are not warm. w=0: ${status} ${code}: It is so.`);
    t.same(warming.progress.at(-1), { done: 0, failed: 5, total: 5 });
  }
});

t.test('continues after an invalid variant', async (t) => {
  const warming = await startWarming(t);
  const bad = (target: string): Answer =>
    target.endsWith('w=2') ? [400, apiErrorText('parameter_invalid', 'No.')] : [200, 'x'];
  warming.listener.answer(bad);
  const error = await warming.failure();
  t.notOk(error.retryable);
  t.equal(error.message, '1 of 5 variants are not warm. w=2: 400 parameter_invalid: No.');
  t.same(warming.progress.at(-1), { done: 4, failed: 1, total: 5 });

  warming.listener.answer((target) => (target.endsWith('w=4') ? [500] : bad(target)));
  t.ok((await warming.failure()).retryable, 'retryable because of one variant');
});

t.test('handles responses of proxies', async (t) => {
  const warming = await startWarming(t);
  for (const body of ['<html>bad gateway</html>', 'null', '"bad gateway"', '[1]', '']) {
    warming.listener.answer(() => [502, body]);
    const error = await warming.failure();
    t.ok(error.retryable);
    t.equal(error.message, '5 of 5 variants are not warm. w=0: 502 not from the service');
  }
  let sent = 0;
  warming.listener.answer(() => (_, response) => {
    const piece = 'x'.repeat(65_536);
    const more = (): void => {
      while (!response.destroyed && sent < 1e9 && response.write(piece)) sent += piece.length;
      if (sent >= 1e9) response.end();
    };
    response.writeHead(502).on('drain', more);
    more();
  });
  t.ok((await warming.failure()).message.length < 1_000);
  t.ok(sent < 100_000_000, 'an endless body is not read to its end');

  warming.listener.answer(() => (request) => request.socket.destroy());
  t.match(await warming.failure(), { retryable: true, message: /w=0: / }, 'a broken connection');
  warming.listener.answer(() => [301]);
  t.notOk((await warming.failure()).retryable, 'the base URL is not the service’s address');
});

t.test('aborts the request in progress', async (t) => {
  const warming = await startWarming(t);
  let closed = false;
  warming.listener.answer((_, count) =>
    count < 3
      ? [200]
      : (_, response) => {
          response.on('close', () => {
            closed = true;
          });
          warming.stop.abort();
        },
  );
  t.ok((await warming.failure()).retryable);
  t.equal(warming.listener.received.length, 3);
  t.match(warming.progress.at(-1), { done: 2 });
  await until('the service sees the closed connection', () => closed);

  t.ok((await warming.failure()).retryable, 'an earlier abort sends no request');
  t.equal(warming.listener.received.length, 3);
});
