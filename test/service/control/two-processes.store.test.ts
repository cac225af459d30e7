import t from 'tap';
import { concurrency } from './concurrency.ts';
import { startControl } from './control.ts';
import { live } from './live.ts';
import { revocation } from './revocation.ts';

/** What two processes have to agree on, in one service that they share, as its start is dear. */
const behaviours = {
  'changes at the same time lose nothing': concurrency,
  'changes apply to images, at once where they were made, soon everywhere': live,
  'a key that ends, ends in every process': revocation,
};

t.test('the control plane in two processes', async (t) => {
  const control = await startControl(t, { SERVICE_PROCESSES: '2' });
  for (const [name, behaviour] of Object.entries(behaviours)) {
    await t.test(name, (t) => behaviour(t, control));
  }
});
