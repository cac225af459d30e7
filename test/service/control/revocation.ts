import { isDeepStrictEqual } from 'node:util';
import type { Test } from 'tap';
import { until } from '../../until.ts';
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

/** A key that ends, ends in every process. */
export async function revocation(t: Test, control: Control): Promise<void> {
  const { service, store } = control;
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
  const ends = [
    [401, 401],
    [402, 402],
    [200, 200],
  ];
  // Asked all the time, which must not keep what a process remembers from going out of date.
  await until('they end', async () => isDeepStrictEqual(await everywhere(), ends));
  t.same(await everywhere(), ends, 'and stay so');

  await off(true);
  await until('access that is given back works again', async () =>
    isDeepStrictEqual(await everywhere(), [[401, 401], ...Array(2).fill([200, 200])]),
  );

  t.match(await service.admin('keys', 'revoke', other.key._id), /is revoked/);
  await t.rejects(service.admin('keys', 'revoke', 'key_0000000000000000'));
}
