import t from 'tap';
import { CircuitBreaker } from '../../pool/circuit-breaker.ts';

function createBreaker() {
  const changes: (string | null)[] = [];
  let at = 0;
  const breaker = new CircuitBreaker(
    (error) => changes.push(error?.message ?? null),
    () => at,
  );
  const fail = (times = 1) => {
    for (let i = 0; i < times; i += 1) breaker.take()?.failed(new Error(`${i}`));
  };
  const forward = (ms: number) => {
    at += ms;
  };
  return { breaker, changes, fail, forward };
}

t.test('opens after five consecutive failures', async (t) => {
  const { breaker, changes, fail } = createBreaker();
  fail(4);
  breaker.take()?.succeeded();
  fail(4);
  t.ok(breaker.take());
  t.notOk(breaker.isOpen);
  fail(1);
  t.ok(breaker.isOpen);
  t.notOk(breaker.take());
  t.same(changes, ['0']);
});

t.test('allows one probe after each pause, and doubles the pause up to a limit', async (t) => {
  const { breaker, changes, fail, forward } = createBreaker();
  fail(5);
  for (const pause of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
    forward(pause - 1);
    t.notOk(breaker.take(), `before ${pause} ms`);
    forward(1);
    const probe = breaker.take();
    t.ok(probe, `after ${pause} ms`);
    t.notOk(breaker.take(), 'one at a time');
    probe?.failed(new Error('again'));
  }
  t.equal(changes.length, 1, 'failed probes are not reported');
  forward(30_000);
  breaker.take()?.abandoned();
  const probe = breaker.take();
  t.ok(probe, 'a probe without an outcome is repeated');
  probe?.succeeded();
  t.same(changes, ['4', null]);
  t.ok(breaker.take() && breaker.take());
  fail(5);
  forward(1_000);
  t.ok(breaker.take(), 'the pause begins again');
});

t.test('keeps a probe whatever becomes of earlier uses', async (t) => {
  const { breaker, changes, fail, forward } = createBreaker();
  const older = [breaker.take(), breaker.take(), breaker.take()];
  fail(5);
  forward(1_000);
  const probe = breaker.take();
  t.ok(probe);
  older[0]?.abandoned();
  older[1]?.failed(new Error('late'));
  older[2]?.succeeded();
  t.notOk(breaker.take(), 'the probe is still the only use');
  t.ok(breaker.isOpen);
  probe?.succeeded();
  t.notOk(breaker.isOpen);
  t.same(changes, ['4', null]);
});
