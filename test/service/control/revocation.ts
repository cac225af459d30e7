import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { answeredBy, type Control } from './control.ts';

/** The status that each of the two processes gives a key, asked on new connections. */
async function statuses({ call }: Control, key: string): Promise<Map<number, number>> {
  const seen = new Map<number, number>();
  for (let i = 0; i < 60 && seen.size < 2; i++) {
    const answer = await call('GET', '/projects', { key });
    seen.set(answeredBy(answer), answer.status);
  }
  return seen;
}

/** A key that ends, ends in every process within two seconds. */
export async function revocation(t: Test, control: Control): Promise<void> {
  const { call, service, store } = control;
  const issue = async () => {
    const { _id: orgId } = await store.organisations.create('Shop');
    return store.keys.issue({ name: 'x', orgId, projectId: null, access: 'read' });
  };
  const [ended, unpaid, other] = [await issue(), await issue(), await issue()];
  const secrets = [ended, unpaid, other].map(({ secret }) => secret);
  const everywhere = async () => {
    const all = await Promise.all(secrets.map((key) => statuses(control, key)));
    return all.map((seen) => [...seen.values()]);
  };
  const off = (on: boolean) => store.organisations.setProductAccess(unpaid.key.orgId, on);
  t.same(await everywhere(), Array(3).fill([200, 200]), 'both processes know the keys');
  await Promise.all([store.keys.revoke(ended.key._id), off(false)]);
  const done = Date.now();
  // Asked all the time, so that what a process remembers is as fresh as it can be.
  while (Date.now() - done < 2_000) {
    await Promise.all(secrets.map((key) => call('GET', '/projects', { key })));
    await sleep(40);
  }
  t.same(await everywhere(), [
    [401, 401],
    [402, 402],
    [200, 200],
  ]);

  await off(true);
  const deadline = Date.now() + 2_000;
  while ((await everywhere()).flat().includes(402) && Date.now() < deadline);
  t.same((await everywhere())[1], [200, 200], 'access that is given back works again');

  t.match(await service.admin('keys', 'revoke', other.key._id), /is revoked/);
  await t.rejects(service.admin('keys', 'revoke', 'key_0000000000000000'));
}
