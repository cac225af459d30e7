import t from 'tap';
import { concurrency } from './concurrency.ts';
import { startControl } from './control.ts';
import { idempotency } from './idempotency.ts';
import { live } from './live.ts';
import { parallel } from './parallel.ts';
import { revocation } from './revocation.ts';

/** Behaviour of two processes; all share one service, because starting a service takes time. */
const behaviours = {
  'concurrent changes are all stored': concurrency,
  'changes apply to images at once in their process, soon in others': live,
  'revocation takes effect in every process': revocation,
  'calls with an Idempotency-Key take effect once': idempotency,
  'calls that are sent at once keep limits, secrets and neighbours': parallel,
};

t.test('runs the control plane in two processes', async (t) => {
  const control = await startControl(t, { SERVICE_PROCESSES: '2' });
  for (const [name, behaviour] of Object.entries(behaviours)) {
    await t.test(name, (t) => behaviour(t, control));
  }
});
