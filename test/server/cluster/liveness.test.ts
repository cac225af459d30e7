import t from 'tap';
import { Liveness } from '../../../server/cluster/supervisor.ts';

/**
 * Returns a Liveness, and a function that advances its clock second by second with a check after
 * each.
 */
function watched() {
  let now = 0;
  const unresponsive: number[] = [];
  const liveness = new Liveness(
    (id) => unresponsive.push(id),
    () => now,
  );
  const pass = (seconds: number, each = () => {}) => {
    for (let second = 0; second < seconds; second += 1) {
      now += 1_000;
      each();
      liveness.check();
    }
  };
  const suspend = (ms: number) => {
    now += ms;
  };
  return { liveness, unresponsive, pass, suspend };
}

t.test('reports a running front end once after 15 s with no messages', async (t) => {
  const { liveness, unresponsive, pass } = watched();
  for (const frontEnd of [1, 2, 3]) liveness.messageReceived(frontEnd);
  liveness.forget(3);
  pass(15, () => liveness.messageReceived(2));
  t.same(unresponsive, []);
  pass(1, () => liveness.messageReceived(2));
  t.same(unresponsive, [1]);
  pass(60, () => liveness.messageReceived(2));
  t.same(unresponsive, [1]);
});

t.test('reports no front end if this process did not run', async (t) => {
  const { liveness, unresponsive, pass, suspend } = watched();
  liveness.messageReceived(1);
  suspend(3_600_000);
  pass(10);
  t.same(unresponsive, []);
  pass(10);
  t.same(unresponsive, [1], 'a front end that stays unresponsive is still reported');
});
