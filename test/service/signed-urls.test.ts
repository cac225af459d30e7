import t from 'tap';
import { signature, signedText } from '../../server/image/access.ts';
import { until } from '../until.ts';
import { startFrontEnd } from './front-end.ts';
import { picture } from './origin.ts';

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
