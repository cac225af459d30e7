import sharp from 'sharp';
import t from 'tap';
import { loadSettings } from '../../contract/settings/load.ts';
import { signature, signedText } from '../../server/image/access.ts';
import { joinStore } from '../../store/open.ts';
import { until } from '../until.ts';
import { answeredBy } from './held.ts';
import { picture } from './origin.ts';
import { type Service, startDelivery } from './service.ts';

/**
 * Resolves when the predicate holds for a response of every process. Rejects when it ceases to hold for
 * one.
 */
async function everywhere(
  service: Service,
  get: () => Promise<Response>,
  wanted: (response: Response) => boolean | Promise<boolean>,
): Promise<void> {
  const changed = new Set<number>();
  await until('every process', async () => {
    const response = await get();
    const pid = answeredBy(response.headers);
    const yes = await wanted(response.clone());
    if (yes) changed.add(pid);
    else if (changed.has(pid)) throw new Error(`process ${pid} went back`);
    return service.frontEnds().every((one) => changed.has(one));
  });
}

t.test('a changed project takes effect in every process', async (t) => {
  const { service, origin, project, image } = await startDelivery(t, {
    environment: { SERVICE_PROCESSES: '2' },
  });
  origin.serve('/a.jpg', await picture(400, 300));
  const store = await joinStore(loadSettings(service.environment));
  t.teardown(() => store.close());
  const url = service.url + image('/a.jpg');
  const get = () => fetch(url, { headers: { accept: '*/*', connection: 'close' } });
  const fromMemory = ({ headers }: Response) => headers.get('x-cache') === 'memory';
  await everywhere(service, get, fromMemory);

  await store.projects.updateSettings(project, { maxWidth: 100 });
  await everywhere(service, get, async (response) => {
    const { width } = await sharp(await response.arrayBuffer()).metadata();
    return width === 100;
  });
  await everywhere(service, get, fromMemory);

  await store.projects.removeHost(project, '127.0.0.1');
  await everywhere(service, get, ({ status }) => status === 403);
  t.match(await (await get()).json(), { code: 'source_not_allowed' }, 'cached images stop, too');

  await store.projects.addHost(project, '127.0.0.1');
  await everywhere(service, get, (response) => {
    if (response.status === 200)
      t.not(response.headers.get('x-cache'), 'miss', 'it is still cached');
    return response.status === 200;
  });
});

t.test('a URL that was not signed with the project’s secret is refused', async (t) => {
  const { service, origin, project } = await startDelivery(t);
  origin.serve('/a.jpg', await picture(400, 300));
  await service.admin('projects', 'sign', project, '--ttl', '60');
  const target = `/img/${encodeURIComponent(`${origin.url}/a.jpg`)}?project=${project}&w=40`;
  const signed = await service.admin('projects', 'sign', project, '--url', service.url + target);
  t.equal((await fetch(signed)).status, 200);
  t.equal((await fetch(signed)).headers.get('x-cache'), 'memory');
  for (const forged of [
    service.url + target,
    signed.replace('w=40', 'w=41'),
    signed.replace(/exp=(\d+)/, (_, exp) => `exp=${Number(exp) + 1}`),
    signed.replace(/sig=(.)/, (_, one) => `sig=${one === '_' ? '-' : '_'}`),
    signed.replace(/&sig=.*/, ''),
  ]) {
    const response = await fetch(forged);
    t.equal(response.status, 403, forged.slice(-80));
    t.match(await response.json(), { code: 'signature_invalid' });
  }
  await t.rejects(service.admin('projects', 'sign', project, '--ttl', '59'));
  const tooFar = await service.admin(
    'projects',
    'sign',
    project,
    '--ttl',
    '3600',
    '--url',
    service.url + target,
  );
  t.equal((await fetch(tooFar)).status, 403, 'the expiry is beyond the limit of the project');

  await t.test('a signed URL works until it expires, also from the caches', async (t) => {
    const store = await joinStore(loadSettings(service.environment));
    t.teardown(() => store.close());
    const { signingSecret } = (await store.projects.find(project)) ?? {};
    const ask = async (url: string) => {
      const response = await fetch(url);
      await response.arrayBuffer();
      return { status: response.status, cache: response.headers.get('x-cache') };
    };
    // A longer one follows when a busy machine takes too long for two requests.
    const { exp, url } = await until('a URL that was asked for twice', async () => {
      const exp = Math.floor(Date.now() / 1_000) + 4;
      const [path = '', query = ''] = `${target}&exp=${exp}`.split('?');
      const sig = signature(String(signingSecret), signedText(path, query));
      const url = `${service.url}${path}?${query}&sig=${sig}`;
      const answers = [await ask(url), await ask(url)];
      if (Date.now() >= exp * 1_000) return false;
      t.same(answers, Array(2).fill({ status: 200, cache: 'memory' }));
      return { exp, url };
    });
    const last = await until('its end', async () => {
      const before = Date.now();
      const { status } = await ask(url);
      const isOver = before >= exp * 1_000;
      return (isOver || status !== 200) && { status, after: Date.now() };
    });
    t.equal(last.status, 403, 'it does not work after its expiry');
    t.ok(last.after >= exp * 1_000, 'it works until its expiry');
  });
});
