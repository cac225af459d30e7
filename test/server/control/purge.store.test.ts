import t, { type Test } from 'tap';
import { purgeImages } from '../../../server/control/resources/purges.ts';
import { cdnProjectTag } from '../../../server/image/caching.ts';
import { StoreUnavailable } from '../../../store/outage.ts';
import { Projects } from '../../../store/projects.ts';
import { PurgeRepository } from '../../../store/purges.ts';
import { createGuard } from '../../pool/source/origin.ts';
import { testDatabase } from '../../store/connection.ts';

const away = async (): Promise<never> => {
  throw new StoreUnavailable('away');
};

/** Starts a project and its purge, with parts that can be unavailable. */
async function startPurging(t: Test) {
  const { db } = await testDatabase(t);
  const projects = new Projects(db);
  const { _id: id } = await projects.create({
    orgId: 'org_1',
    name: 'Shop',
    origin: 'https://a.example/',
    allowedOrigins: ['a.example'],
  });
  const purges = new PurgeRepository(db);
  const services = {
    projects,
    callsPurgeHook: true,
    guard: createGuard(),
    onChange: () => {},
    callbacks: null,
  };
  return {
    id,
    hold: purges.hold.bind(purges),
    confirm: purges.confirm.bind(purges),
    purge: (parts: Pick<PurgeRepository, 'hold' | 'confirm'>) =>
      purgeImages({ ...services, purges: { find: away, ...parts } }, id, { all: true }),
    generations: async () => (await projects.find(id))?.generations,
    revision: async () => (await projects.find(id))?.revision,
    jobs: () => db.collection('jobs').find().toArray(),
  };
}

t.test('does not apply a purge if it cannot queue the hook', async (t) => {
  const { purge, confirm, generations } = await startPurging(t);
  await t.rejects(purge({ hold: away, confirm }), { name: 'StoreUnavailable' });
  t.equal(await generations(), undefined);
});

t.test('never fails a purge that took effect', async (t) => {
  const { id, purge, hold, confirm, generations, revision, jobs } = await startPurging(t);
  const purged = await purge({ hold, confirm: away });
  t.match(purged, { id: String(await revision()), sourceCount: 0 });
  t.ok((await generations())?.last);
  const [job] = await jobs();
  t.match(job, { data: { projectId: id, tags: [cdnProjectTag(id)] } }, 'its hook is called');
  const waitMs = Number(job?.['nextRunAt']) - Date.now();
  t.ok(waitMs > 30_000 && waitMs <= 60_000, `in ${waitMs} ms`);

  const { id: second } = await purge({ hold, confirm });
  t.equal(second, String(await revision()));
  const soon = (await jobs()).filter(({ nextRunAt }) => Number(nextRunAt) - Date.now() <= 3_000);
  t.equal(soon.length, 1);
});
