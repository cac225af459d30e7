import sharp from 'sharp';
import t from 'tap';
import { loadSettings } from '../../contract/settings/load.ts';
import { signature, signedText } from '../../server/image/access.ts';
import { joinStore } from '../../store/open.ts';
import { until } from '../until.ts';
import { startFrontEnd } from './front-end.ts';
import { answeredBy } from './held-reply.ts';
import { picture } from './origin.ts';
import { type Service, startDelivery } from './service.ts';

/**
 * Resolves once the predicate is true for a response of every process. Rejects if it later becomes
 * false for a process.
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
    else if (changed.has(pid)) throw new Error(`process ${pid} used the old project again`);
    return service.frontEnds().every((frontEnd) => changed.has(frontEnd));
  });
}

t.test('applies a project change in every process', async (t) => {
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

t.test('accepts a signed URL until it expires, even from the caches', async (t) => {
  const { url, origin, store, project } = await startFrontEnd(t);
  origin.serve('/a.jpg', await picture(400, 300));
  const { signingSecret } = (await store.projects.requireSignatures(project, 60)) ?? {};
  const path = `/img/${encodeURIComponent(`${origin.url}/a.jpg`)}`;
  const signedUntil = (exp: number) => {
    const query = `project=${project}&w=40&exp=${exp}`;
    const sig = signature(String(signingSecret), signedText(path, query));
    return `${url}${path}?${query}&sig=${sig}`;
  };
  const load = async (url: string) => {
    const response = await fetch(url);
    await response.arrayBuffer();
    return { status: response.status, cache: response.headers.get('x-cache') };
  };
  const seconds = () => Math.floor(Date.now() / 1_000);
  t.match(await load(signedUntil(seconds() + 30)), { status: 200 });
  t.match(await load(signedUntil(seconds() + 30).replace('w=40', 'w=41')), { status: 403 });
  t.match(await load(signedUntil(seconds() + 1_000)), { status: 403 }, 'beyond the limit');

  // A longer one follows when a busy machine takes too long for two requests.
  const { exp, signed } = await until('a URL that was requested twice', async () => {
    const exp = seconds() + 4;
    const signed = signedUntil(exp);
    const responses = [await load(signed), await load(signed)];
    if (Date.now() >= exp * 1_000) return false;
    t.same(responses, Array(2).fill({ status: 200, cache: 'memory' }));
    return { exp, signed };
  });
  const last = await until('its expiry', async () => {
    const before = Date.now();
    const { status } = await load(signed);
    const isOver = before >= exp * 1_000;
    return (isOver || status !== 200) && { status, after: Date.now() };
  });
  t.equal(last.status, 403, 'it does not work after its expiry');
  t.ok(last.after >= exp * 1_000, 'it works until its expiry');
});
