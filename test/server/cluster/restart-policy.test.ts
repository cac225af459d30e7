import t from 'tap';
import { RestartPolicy } from '../../../server/cluster/restart-policy.ts';

const limits = { immediate: 1, firstMs: 200, mostMs: 1_000, failedStarts: 12 };

t.test('delays a restart longer after each early exit', async (t) => {
  for (const wasReady of [true, false]) {
    const restarts = new RestartPolicy(limits);
    const delays = Array.from({ length: 6 }, () => restarts.ended(29_999, wasReady));
    t.same(delays, [0, 200, 400, 800, 1_000, 1_000]);
    t.equal(restarts.ended(30_000, wasReady), 0, 'it ran well');
    t.equal(restarts.ended(1, wasReady), 0, 'so the count starts again');
    t.equal(restarts.ended(1, wasReady), 200);
  }
});

t.test('stops restarts after twelve early exits in a row', async (t) => {
  const restarts = new RestartPolicy(limits);
  for (let end = 1; end < 12; end += 1) restarts.ended(0, false);
  t.equal(restarts.giveUpReason, null);
  for (let end = 1; end < 100; end += 1) restarts.ended(0, true);
  t.equal(restarts.giveUpReason, null, 'a process that was ready is always restarted');
  for (let end = 1; end < 12; end += 1) restarts.ended(0, false);
  t.equal(restarts.giveUpReason, null);
  restarts.ended(0, false);
  t.equal(restarts.giveUpReason, 'it ended 12 times in a row before it was ready');
});
