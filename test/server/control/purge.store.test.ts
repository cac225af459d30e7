import t, { type Test } from 'tap';
import { AddressGuard } from '../../../pool/source/guard.ts';
import { purgeImages } from '../../../server/control/resources/purges.ts';
import { cdnProjectTag } from '../../../server/image/cache-tags.ts';
import { StoreUnavailable } from '../../../store/outage.ts';
import { Projects } from '../../../store/projects.ts';
import { PurgeHooks } from '../../../store/purge-hooks.ts';
import { PurgeRecords } from '../../../store/purge-records.ts';
import { testDatabase } from '../../store/connection.ts';

const away = async (): Promise<never> => {
  throw new StoreUnavailable('away');
};

/** A project, and its purge by parts of which some may be unavailable. */
async function startPurging(t: Test) {
  const { db } = await testDatabase(t);
  const projects = new Projects(db);
  const { _id: id } = await projects.create({
    orgId: 'org_1',
    name: 'Shop',
    origin: 'https://a.example/',
    allowedOrigins: ['a.example'],
  });
  const hooks = new PurgeHooks(db);
  const records = new PurgeRecords(db);
  const services = {
    projects,
    guard: new AddressGuard({
      privateSources: [],
      sourcePorts: null,
      own: { urls: [], ports: [] },
    }),
    onChange: () => {},
    callbacks: null,
  };
  return {
    id,
    hooks,
    records,
    purge: (
      purgeHooks: Pick<PurgeHooks, 'hold' | 'confirm'>,
      purges: Pick<PurgeRecords, 'add' | 'find'>,
    ) => purgeImages({ ...services, purgeHooks, purges }, id, { all: true }),
    purges: async () => (await projects.find(id))?.generations,
    revision: async () => (await projects.find(id))?.revision,
    jobs: () => db.collection('jobs').find().toArray(),
  };
}

t.test('a purge whose hook cannot be queued has no effect', async (t) => {
  const { hooks, records, purge, purges } = await startPurging(t);
  const confirm = hooks.confirm.bind(hooks);
  await t.rejects(purge({ hold: away, confirm }, records), { name: 'StoreUnavailable' });
  t.equal(await purges(), undefined);
});

t.test('after it has taken effect a purge does not fail', async (t) => {
  const { id, hooks, records, purge, purges, revision, jobs } = await startPurging(t);
  const hold = hooks.hold.bind(hooks);
  const purged = await purge({ hold, confirm: away }, { add: away, find: away });
  t.match(purged, { id: null, receipt: { accepted: true } });
  t.ok((await purges())?.last);
  const [job] = await jobs();
  t.match(job, { data: { projectId: id, tags: [cdnProjectTag(id)] } }, 'its hook is called');
  const waitMs = Number(job?.['nextRunAt']) - Date.now();
  t.ok(waitMs > 30_000 && waitMs <= 60_000, `in ${waitMs} ms`);

  const { id: second } = await purge(hooks, records);
  t.equal(second, String(await revision()));
  const soon = (await jobs()).filter(({ nextRunAt }) => Number(nextRunAt) - Date.now() <= 3_000);
  t.equal(soon.length, 1);
});
