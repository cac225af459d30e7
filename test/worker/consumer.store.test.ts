import { pino } from 'pino';
import t from 'tap';
import { backOff } from '../../worker/consumer.ts';
import { PrewarmFailed } from '../../worker/prewarm.ts';
import { until } from '../until.ts';
import { apiErrorText } from './listener.ts';
import { startQueue } from './queue.ts';

const source = 'https://a.example/1.jpg';
const agoMs = (ms: number): Date => new Date(Date.now() - ms);

t.test('retries a retryable error after a pause', async (t) => {
  const { add, consume, ended, jobs, listener, queue } = await startQueue(t);
  listener.answer((_, count) =>
    count === 1 ? [503, apiErrorText('overloaded', 'Too many.')] : [200],
  );
  const logged: string[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => void logged.push(line) });
  await add([`${source}?token=hidden`], [100, 200]);
  await consume({ log });
  const failed = await until('a failure', async () =>
    (await jobs()).find((job) => job['failedAt'] !== null && job['lockedAt'] === null),
  );
  t.match(failed, { failCount: 1, failReason: /w=100 webp: 503 overloaded: Too many\./ });
  t.match(failed, { data: { counts: { done: 0, failed: 2, total: 2 } } });
  const pauseMs = Number(failed['nextRunAt']) - Number(failed['lastFinishedAt']);
  t.ok(pauseMs >= 2_000 && pauseMs < 4_000, `a pause of ${pauseMs} ms`);
  t.match(await queue.stats(), { active: 0, waiting: 0, delayed: 1, failed: 0 });

  const [done] = await ended();
  t.equal(listener.received.length, 3, 'the first attempt ended with the first refusal');
  t.match(done, { failCount: 0, progress: 100, data: { counts: { done: 2, failed: 0 } } });
  t.ok(Number(done?.['lastRunAt']) >= Number(failed['nextRunAt']));
  for (const message of ['prewarming source failed', 'source prewarmed']) {
    const line = logged.find((entry) => entry.includes(message)) ?? '{}';
    t.match(JSON.parse(line), { source }, message);
  }
  t.notMatch(logged.join(''), /hidden/, 'the query of a source may have a secret');
  t.match(await queue.stats(), { active: 0, waiting: 0, delayed: 0, failed: 0 });
});

t.test('does not retry another error, and stores the reason in the job', async (t) => {
  const { add, consume, ended, listener, queue } = await startQueue(t);
  listener.answer(() => [404, apiErrorText('source_not_found', 'It is not there.')]);
  await add([source], [100, 200]);
  await consume();
  const [job] = await ended();
  t.match(job, { failCount: 1, failReason: /404 source_not_found: It is not/ });
  t.match(await queue.stats(), { active: 0, waiting: 0, delayed: 0, failed: 1 });
  t.equal(listener.received.length, 1);
});

t.test('doubles pauses up to a minute, for eight retries', async (t) => {
  const pause = (attempt: number, error: Error = new PrewarmFailed('later', true)) =>
    backOff({ attempt, error, jobName: 'prewarm', jobData: {} });
  const pauses = Array.from({ length: 9 }, (_, index) => pause(index + 1));
  t.same(pauses, [2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000, null]);
  t.equal(pause(1, new PrewarmFailed('never', false)), null);
  t.equal(pause(1, new Error('the store was away')), 2_000, 'an unexpected error is retried');
});

t.test('releases its jobs on a stop and uses no attempt', async (t) => {
  const { add, consume, ended, jobs, listener, queue } = await startQueue(t);
  listener.answer((target) => (target.includes('w=100') ? [200] : () => {}));
  await add([source, 'https://a.example/2.jpg', 'https://a.example/3.jpg'], [100, 200]);
  const first = await consume();
  await until('two jobs in their second variant', () => listener.received.length === 4);
  t.match(await queue.stats(), { active: 2, waiting: 1 });
  t.equal(first.accepting, true);
  await first.stop(5_000);
  t.equal(first.accepting, false);
  t.match(await queue.stats(), { active: 0, waiting: 3, delayed: 0, failed: 0 });
  for (const job of await jobs()) t.notOk(job['failCount'], 'a stop is not a failure');

  listener.answer(() => [200]);
  await consume();
  await ended();
});

t.test('removes ended jobs after a day', async (t) => {
  const { add, consume, jobs, db } = await startQueue(t);
  const hour = 3_600_000;
  const ended = { nextRunAt: null, lastFinishedAt: agoMs(25 * hour) };
  const states: Readonly<Record<string, object>> = {
    'https://a.example/done-long-ago': ended,
    'https://a.example/failed-long-ago': { ...ended, failCount: 3 },
    'https://a.example/done': { ...ended, lastFinishedAt: agoMs(23 * hour) },
    'https://a.example/delayed': { ...ended, nextRunAt: agoMs(-hour), failCount: 1 },
    'https://a.example/running': { ...ended, lockedAt: new Date() },
  };
  const sources = Object.keys(states);
  await add(sources);
  // No job waits, so the consumer must not take any.
  const $unset = { waitingKey: '', turn: '' };
  for (const [source, state] of Object.entries(states)) {
    await db.collection('jobs').updateOne({ 'data.source': source }, { $set: state, $unset });
  }
  await consume();
  // A server can remove one job after the other.
  await until('two are removed', async () => (await jobs()).length <= sources.length - 2);
  const left = (await jobs()).map(({ data }) => (data as { source: string }).source);
  t.same(left, sources.slice(2).sort());
});
