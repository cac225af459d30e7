import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import t from 'tap';
import { loadSettings } from '../../contract/settings/load.ts';
import { joinStore } from '../../store/open.ts';
import { picture, startTestOrigin } from './origin.ts';
import { startService } from './service.ts';

t.test('a changed project takes effect in every process within two seconds', async (t) => {
  const origin = await startTestOrigin(t);
  origin.serve('/a.jpg', await picture(400, 300));
  const service = await startService(t, { environment: { SERVICE_PROCESSES: '2' } });
  const project = await service.project();
  const store = await joinStore(loadSettings(service.environment));
  t.teardown(() => store.close());
  const url = `${service.url}/img/${origin.url}/a.jpg?project=${project}`;
  const get = () => fetch(url, { headers: { accept: '*/*', connection: 'close' } });
  // Both processes know the project and have the answer at hand.
  for (let i = 0; i < 30; i++) t.equal((await get()).status, 200);
  t.equal((await get()).headers.get('x-cache'), 'memory');

  await store.projects.updateSettings(project, { maxWidth: 100 });
  await sleep(2_000);
  for (let i = 0; i < 10; i++) {
    t.equal((await sharp(await (await get()).arrayBuffer()).metadata()).width, 100);
  }

  await store.projects.removeHost(project, '127.0.0.1');
  await sleep(2_000);
  for (let i = 0; i < 10; i++) {
    const response = await get();
    t.equal(response.status, 403, 'cached images stop, too');
    t.match(await response.json(), { code: 'source_not_allowed' });
  }

  await store.projects.addHost(project, '127.0.0.1');
  await sleep(2_000);
  const again = await get();
  t.equal(again.status, 200);
  t.not(again.headers.get('x-cache'), 'miss', 'the variant is still warm');
});

t.test('a signed URL works until it expires, also from the caches', async (t) => {
  const origin = await startTestOrigin(t);
  origin.serve('/a.jpg', await picture(400, 300));
  const service = await startService(t);
  const project = await service.project();
  await service.admin('projects', 'sign', project, '--ttl', '60');
  const target = `/img/${encodeURIComponent(`${origin.url}/a.jpg`)}?project=${project}&w=40`;
  const signed = await service.admin('projects', 'sign', project, '--url', service.url + target);
  t.equal((await fetch(signed)).status, 200);
  t.equal((await fetch(signed)).headers.get('x-cache'), 'memory');
  for (const forged of [
    service.url + target,
    signed.replace('w=40', 'w=41'),
    signed.replace(/exp=(\d+)/, (_, exp) => `exp=${Number(exp) + 1}`),
    signed.replace(/sig=./, 'sig=_'),
    signed.replace(/&sig=.*/, ''),
  ]) {
    const response = await fetch(forged);
    t.equal(response.status, 403, forged.slice(-80));
    t.match(await response.json(), { code: 'signature_invalid' });
  }
  await t.rejects(service.admin('projects', 'sign', project, '--ttl', '59'));
  const tooFar = await service.admin(
    ...['projects', 'sign', project, '--ttl', '3600', '--url', service.url + target],
  );
  t.equal((await fetch(tooFar)).status, 403, 'further ahead than the project lets it');
});
