import t from 'tap';
import { backgroundHeader, backgroundToken } from '../../../contract/secrets.ts';
import { signature, signedText } from '../../../server/image/access.ts';
import { findDeployment } from '../../../store/deployment.ts';
import { until } from '../../until.ts';
import { locatedPath, startControl } from '../control/control.ts';
import { answeredBy } from '../held-reply.ts';
import { picture, startTestOrigin } from '../origin.ts';
import { json } from '../service.ts';
import { fetchCache, startWorker } from './worker.ts';

/** Accept headers of browsers that support AVIF and WebP, only WebP, and neither format. */
const browsers = [
  'image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8',
  'image/webp,image/apng,image/*,*/*;q=0.8',
  'image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5',
];

t.test('hits on the first live request after prewarming', async (t) => {
  const origin = await startTestOrigin(t);
  for (const name of ['/a.jpg', '/b.jpg', '/c.jpg', '/d.jpg']) {
    origin.serve(name, await picture(400, 300));
  }
  const control = await startControl(t, {
    SERVICE_POOL_THREADS: '1',
    SERVICE_POOL_QUEUE: '1',
    SERVICE_PROCESSES: '2',
  });
  const { service, store } = control;
  const worker = await startWorker(t, service);
  /** Location of the last prewarm request. */
  let location = '';
  const prewarm = async (project: string, json: object) => {
    const path = `/projects/${project}/prewarm`;
    const answer = await control.call('POST', path, { json });
    location = locatedPath(answer);
    t.match(location.replace(`/projects/${project}/prewarms/`, ''), /^pre_\w{16}$/);
    return answer.body.prewarm;
  };
  const target = (project: string, path: string, more: string) =>
    `/img/${encodeURIComponent(origin.url + path)}?project=${project}${more}`;
  const checkCached = async (target: string, accept?: string) =>
    t.match(
      await fetchCache(service.url + target, accept),
      /^(memory|disk)$/,
      `${target} ${accept}`,
    );

  await t.test('warms all auto formats, with one fetch per source', async (t) => {
    const project = await control.project();
    const sources = [`${origin.url}/a.jpg`, `${origin.url}/b.jpg`];
    const accepted = await prewarm(project, { sources, widths: [60, 120], formats: ['auto'] });
    t.same(accepted, { accepted: true, sourceCount: 2, variantCount: 4 });
    const key = await control.issue(project, 'read');
    const ended = await until('the end', async () => {
      const { body } = await control.call('GET', location, { key });
      return body.prewarm.status !== 'accepted' && body.prewarm;
    });
    t.match(ended, {
      status: 'done',
      progress: 100,
      sourceCount: 2,
      variantCount: 4,
      failures: [],
    });
    const stranger = await control.issue(await control.project(), 'read');
    t.equal((await control.call('GET', location, { key: stranger })).status, 403);
    await worker.untilLogged('source prewarmed', 2);
    for (const path of ['/a.jpg', '/b.jpg']) {
      for (const width of [60, 120]) {
        for (const accept of browsers) {
          await checkCached(target(project, path, `&w=${width}`), accept);
        }
      }
      t.equal(origin.requests.get(path), 1, `${path} was fetched once`);
    }
  });

  await t.test("warms a mere source in the project's width", async (t) => {
    const project = await control.project();
    await control.call('PATCH', `/projects/${project}/settings`, { json: { maxWidth: 90 } });
    const informed = new Set<number>();
    await until('both processes have the width', async () => {
      const url = service.url + target(project, '/d.jpg', '&fmt=json');
      const response = await fetch(url, { headers: { connection: 'close' } });
      if ((await json(response)).output.width === 90) informed.add(answeredBy(response.headers));
      return informed.size === 2;
    });
    const src = `${origin.url}/c.jpg`;
    t.same(await prewarm(project, { src }), { accepted: true, sourceCount: 1, variantCount: 1 });
    await worker.untilLogged('source prewarmed', 3);
    for (const accept of browsers) await checkCached(target(project, '/c.jpg', ''), accept);
  });

  await t.test('warms a project with signed URLs and keeps it protected', async (t) => {
    const project = await control.project();
    await service.admin('projects', 'sign', project);
    const { signingSecret } = (await store.projects.find(project)) ?? {};
    const src = `${origin.url}/d.jpg`;
    await prewarm(project, { src, widths: [70], formats: ['webp'] });
    await worker.untilLogged('source prewarmed', 4);

    const plain = target(project, '/d.jpg', '&w=70&fmt=webp');
    const { backgroundSecret } = await findDeployment(store.db);
    const now = Date.now();
    const status = async (target: string, token: string) => {
      const headers = { [backgroundHeader]: token };
      return (await fetch(service.url + target, { headers })).status;
    };
    const forged: Record<string, string> = {
      'any value': '1',
      'a wrong secret': backgroundToken('a guess', plain, now),
      'another URL': backgroundToken(backgroundSecret, `${plain}&q=9`, now),
      'long ago': backgroundToken(backgroundSecret, plain, now - 3_600_000),
    };
    for (const [name, token] of Object.entries(forged)) {
      t.equal(await status(plain, token), 403, `a mark with ${name} is ignored`);
      t.equal(await status(`${plain}&w=71`.replace('w=70&', ''), token), 403, name);
    }
    t.equal(await status(plain, ''), 403);
    const marked = { [backgroundHeader]: backgroundToken(backgroundSecret, plain, now) };
    for (const time of ['once', 'again']) {
      const response = await fetch(service.url + plain, { headers: marked });
      const { headers } = response;
      t.equal(response.status, 204);
      t.equal((await response.arrayBuffer()).byteLength, 0, 'without the image');
      t.match(headers.get('x-cache'), /^(memory|disk)$/, 'which is in the cache');
      t.equal(headers.get('cache-control'), 'private, no-store', `not cacheable, ${time}`);
    }

    const unsigned = `${plain}&exp=${Math.floor(now / 1_000) + 600}`;
    const [path = '', query = ''] = unsigned.split('?');
    const sig = signature(String(signingSecret), signedText(path, query));
    const signed = `${unsigned}&sig=${sig}`;
    await checkCached(signed);
    for (const time of ['by the full path', 'by the response cache']) {
      const control = (await fetch(service.url + signed)).headers.get('cache-control');
      t.match(control, /^public, max-age=(5\d\d|600)$/, `cacheable until exp, ${time}`);
    }
  });

  await t.test('delays a job while live requests fill the queue', async (t) => {
    const project = await control.project();
    let live = true;
    let rejected = 0;
    const clients = Array.from({ length: 6 }, async (_, client) => {
      for (let i = 0; live; i++) {
        const url = service.url + target(project, '/a.jpg', `&q=${client + 1}&w=${100 + i}`);
        const { status } = await fetch(`${url}&fmt=avif`);
        if (status === 503) rejected += 1;
      }
    });
    await until('live requests are rejected', () => rejected > 0);
    const src = `${origin.url}/b.jpg`;
    await prewarm(project, { src, widths: [31, 32, 33], formats: ['webp'] });
    const taken = { 'data.projectId': project, lockedAt: { $ne: null } };
    const jobs = store.db.collection('jobs');
    await until('the job is taken', async () => (await jobs.countDocuments(taken)) > 0);
    const before = rejected;
    await until('more live requests are rejected', () => rejected > before + 20);
    live = false;
    await Promise.all(clients);
    await worker.untilLogged('source prewarmed', 5);
    t.equal(worker.logged('prewarming source failed').length, 0);
  });

  await t.test("reports the worker's metrics", async (t) => {
    const { text } = await worker.get('/metrics');
    t.match(text, 'prewarm_job_duration_seconds_count{outcome="done"} 5\n');
    t.match(text, 'prewarm_job_failures_total 0\n');
    t.match(text, /^prewarm_queue_jobs\{state="waiting"\} 0$/m);
    t.match(text, /^process_cpu_seconds_total /m);
    const { body } = await worker.get('/health/details');
    t.match(body.queue, { active: 0, waiting: 0, delayed: 0, failed: 0, oldestWaitingMs: 0 });
    t.ok(body.queue.averageRunMs > 0);
  });
});
