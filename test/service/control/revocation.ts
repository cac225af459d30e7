import { isDeepStrictEqual } from 'node:util';
import type { Test } from 'tap';
import { until } from '../../until.ts';
import { type Control, findProcess } from './control.ts';

/** Returns the key's status in both processes. */
async function statuses({ call }: Control, key: string): Promise<Map<number, number>> {
  const seen = new Map<number, number>();
  for (let i = 0; i < 60 && seen.size < 2; i++) {
    const answer = await call('GET', '/projects', { key });
    seen.set(findProcess(answer), answer.status);
  }
  return seen;
}

/** Checks that a revocation takes effect in every process. */
export async function revocation(t: Test, control: Control): Promise<void> {
  const { service, store } = control;
  const issue = async () => {
    const { _id: orgId } = await store.organisations.create('Shop');
    return store.keys.issue({ name: 'x', orgId, projectId: null, access: 'read' });
  };
  const [ended, unpaid, other] = [await issue(), await issue(), await issue()];
  const secrets = [ended, unpaid, other].map(({ secret }) => secret);
  const allStatuses = async () => {
    const all = await Promise.all(secrets.map((key) => statuses(control, key)));
    return all.map((seen) => [...seen.values()]);
  };
  const setAccess = (on: boolean) => store.organisations.setProductAccess(unpaid.key.orgId, on);
  t.same(await allStatuses(), Array(3).fill([200, 200]), 'valid in both processes');
  await Promise.all([store.keys.revoke(ended.key._id), setAccess(false)]);
  const ends = [
    [401, 401],
    [402, 402],
    [200, 200],
  ];
  // Continuous requests must not extend the validity of cached look-ups.
  await until('revocation', async () => isDeepStrictEqual(await allStatuses(), ends));
  t.same(await allStatuses(), ends, 'permanently');

  await setAccess(true);
  await until('restored access', async () =>
    isDeepStrictEqual(await allStatuses(), [[401, 401], ...Array(2).fill([200, 200])]),
  );

  t.match(await service.admin('keys', 'revoke', other.key._id), /is revoked/);
  await t.rejects(service.admin('keys', 'revoke', 'key_0000000000000000'));
}
