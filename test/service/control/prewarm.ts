import type { Test } from 'tap';
import type { Control } from './control.ts';

/** An accepted prewarming is a job for each source, queued once while it waits. */
export async function prewarm(t: Test, control: Control): Promise<void> {
  const { call } = control;
  const id = await control.project(['a.example', '*.cdn.example']);
  const jobs = control.store.db.collection('jobs');
  const own = { 'data.projectId': id };
  const count = () => jobs.countDocuments(own);
  const warm = (json: object) => call('POST', `/projects/${id}/prewarm`, { json });
  const [first, second] = ['https://a.example/1.jpg', 'https://x.cdn.example/2.jpg?v=1'];
  const sources = [first, second];
  const request = { sources, widths: [400, 800], formats: ['webp'], quality: 55, fit: 'inside' };
  t.equal((await warm(request)).status, 202);

  const queued = await jobs.find(own).sort({ 'data.source': 1 }).toArray();
  t.equal(queued.length, 2);
  for (const [index, job] of queued.entries()) {
    t.match(job, {
      name: 'prewarm',
      type: 'normal',
      nextRunAt: Date,
      priority: 0,
      data: {
        projectId: id,
        source: sources[index],
        widths: [400, 800],
        formats: ['webp'],
        quality: 55,
        fit: 'inside',
        dpr: null,
      },
    });
    t.ok(Math.abs(Date.now() - job['nextRunAt'].getTime()) < 60_000, 'it may run now');
    t.notOk(job['lockedAt'] ?? job['lastFinishedAt']);
  }

  await Promise.all(Array.from({ length: 10 }, () => warm(request)));
  await warm({ ...request, sources: [second, first, second], widths: [800, 400] });
  t.equal(await count(), 2, 'the same work while it waits');
  await warm({ ...request, quality: 56 });
  t.equal(await count(), 4, 'other work');

  // As a worker leaves a job that it has taken, and one that it has done.
  const begun = { waitingKey: '', turn: '' } as const;
  await jobs.updateOne(
    { ...own, 'data.source': first, 'data.quality': 55 },
    { $set: { lockedAt: new Date() }, $unset: begun },
  );
  const done = { lastFinishedAt: new Date(), nextRunAt: null };
  await jobs.updateOne(
    { ...own, 'data.source': second, 'data.quality': 55 },
    { $set: done, $unset: begun },
  );
  await warm(request);
  t.equal(await count(), 6, 'work that does not wait any more');

  const refused = await warm({ sources: [...sources, 'https://b.example/'], widths: [7] });
  t.equal(refused.status, 400);
  t.match(refused.body.message, /sources\[2\].*b\.example/);
  t.equal(await count(), 6, 'one bad source, and nothing is queued');
}
