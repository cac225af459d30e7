import t from 'tap';
import { version } from '../../contract/package.ts';
import { createClientWith } from '../../sdk/src/client/client.ts';
import { json, startDelivery } from '../service/service.ts';
import { type Fault, refusal, startFaultyProxy } from './faulty-proxy.ts';
import { stoppedClock } from './stopped-clock.ts';

const apiKey = 'sk_key-of-the-client';

/** Faults that each call meets before it reaches the service. The last three can take effect. */
const faults: readonly Fault[] = [
  refusal(429, 'rate_limited', { 'retry-after': '1' }),
  refusal(503, 'store_unavailable'),
  'half',
  'silence',
];

t.test('completes every operation, even through a failing proxy', async (t) => {
  const { service, origin } = await startDelivery(t, {
    environment: {
      SERVICE_ROOT_API_KEY: apiKey,
      SERVICE_API_RATE_LIMIT: '1000000',
      SERVICE_ENCRYPTION_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}`,
    },
  });
  const proxy = await startFaultyProxy(t, service.url);
  const called = new Set<string>();
  const creations = new Set(['createProject', 'createProjectKey', 'createSigningSecret']);
  const options = {
    baseUrl: `${proxy.url}/`,
    apiKey,
    timeoutMs: 300,
    // A busy machine can need more than one attempt after the faults.
    retries: { count: 200, withinMs: 1_000_000 },
  };
  const client = new Proxy(createClientWith(options, stoppedClock()), {
    get(target, name, receiver) {
      called.add(String(name));
      // The client repeats a creation only after a refusal before it took effect. A deletion that
      // took effect returns 404.
      const some = creations.has(String(name)) ? 1 : { deleteProject: 2 }[String(name)];
      proxy.faults.push(...faults.slice(0, some));
      return Reflect.get(target, name, receiver);
    },
  });

  const input = {
    name: 'My shop',
    origin: 'https://shop.example.com/',
    allowedOrigins: ['127.0.0.1'],
  };
  const created = await client.createProject(input, { timeoutMs: 60_000 });
  const { id: projectId } = created;
  t.match(created, { name: 'My shop', allowedOrigins: ['shop.example.com', '127.0.0.1'] });
  t.same(await client.getProject({ projectId }), created);
  t.same(
    (await client.listProjects()).filter(({ id }) => id === projectId),
    [created],
  );
  t.match(await client.getProjectConfiguration({ projectId }), { projectId });
  const name = 'My new shop';
  t.same(await client.updateProject({ projectId, name }), { ...created, name });
  const changed = await client.updateProjectSettings({ projectId, defaultQuality: 70 });
  t.equal(changed.defaultQuality, 70);

  const host = 'bücher.example';
  const added = await client.addProjectDomain({ projectId, host });
  t.same(added.allowedOrigins.slice(2), ['xn--bcher-kva.example']);
  const removed = await client.removeProjectDomain({ projectId, host });
  t.same(removed.allowedOrigins.slice(2), []);

  const source = `${origin.url}/a.jpg`;
  const { prewarmId, ...receipt } = await client.prewarmProjectImages({
    projectId,
    sources: [source],
    widths: [40, 80],
    formats: ['webp'],
  });
  t.same(receipt, { accepted: true, sourceCount: 1, variantCount: 2 });
  const prewarm = await client.getProjectPrewarm({ projectId, prewarmId });
  t.match(prewarm, { id: prewarmId, status: 'accepted', variantCount: 2 });
  const purged = await client.purgeProjectImages({ projectId, sources: [source] });
  t.match(purged, { accepted: true, sourceCount: 1 });
  const purgeId = String(purged.purgeId);
  t.match(await client.getProjectPurge({ projectId, purgeId }), { id: purgeId, sourceCount: 1 });

  const freshness = { sourceAge: 300, browserAge: 60 };
  t.match(await client.putProjectFreshness({ projectId, ...freshness }), freshness);
  t.match(await client.getProjectFreshness({ projectId }), freshness);
  const limits = { rendersPerDay: 1_000, bytesPerDay: null };
  t.match(await client.putProjectLimits({ projectId, ...limits }), limits);
  t.match(await client.getProjectLimits({ projectId }), limits);
  const days = { projectId, from: '2026-11-01', to: '2026-11-02' };
  t.equal((await client.getProjectUsage(days)).days.length, 2);
  t.equal((await client.getProjectTop({ projectId })).hour.misses, 0);
  t.same(await client.listProjectFailures({ projectId }), []);
  const meant = await client.getProjectUrlMeaning({
    projectId,
    url: '/img/?url=/a.jpg&w=40',
    urls: 'native',
  });
  t.match(meant, { native: /w=40/ });
  t.match(await client.getProjectUsage({ ...days, format: 'csv' }), /\n2026-11-02,0,/);

  const privateHost = 'private.example:8443';
  const headers = { 'X-Token': 'secret' };
  const put = await client.putProjectOrigin({ projectId, host: privateHost, headers });
  t.match(put, { host: privateHost, headers: ['x-token'], location: null });
  t.same(await client.listProjectOrigins({ projectId }), [put]);
  t.same(await client.deleteProjectOrigin({ projectId, host: privateHost }), []);
  const delivery = { projectId, host: 'img.shop.example' };
  const deliveryHost = await client.putProjectHost({ ...delivery, base: null });
  t.match(deliveryHost, { host: delivery.host, base: null });
  t.same(await client.getProjectHost(delivery), deliveryHost);
  t.same(await client.listProjectHosts({ projectId }), [deliveryHost]);
  t.same(await client.deleteProjectHost(delivery), []);
  const urlSecret = await client.putProjectUrlSecret({ projectId, kind: 'imgix', secret: 'token' });
  t.match(urlSecret, { kind: 'imgix', secretCount: 1 });
  t.same(await client.getProjectUrlSecret({ projectId, kind: 'imgix' }), urlSecret);
  t.same(await client.listProjectUrlSecrets({ projectId }), [urlSecret]);
  t.same(await client.deleteProjectUrlSecret({ projectId, kind: 'imgix' }), []);
  const { secret, ...key } = await client.createProjectKey(
    { projectId, name: 'shop' },
    { timeoutMs: 60_000 },
  );
  t.match(secret, /^sk_/);
  t.same(await client.listProjectKeys({ projectId }), [key]);
  t.match(await client.revokeProjectKey({ projectId, keyId: key.id }), [{ revokedAt: String }]);
  t.same(await client.listProjectCallbacks({ projectId }), []);
  const unsigned = await client.getProjectSigning({ projectId });
  const signing = await client.createSigningSecret({ projectId }, { timeoutMs: 60_000 });
  t.match(signing, { required: true, secretCount: 1 });
  const signable = `/img/https://shop.example.com/a.jpg?project=${projectId}`;
  const signedUrl = await client.signProjectUrl({ projectId, url: signable });
  t.match(signedUrl.url, /&exp=\d+&sig=/);
  t.match(await client.revokePreviousSigningSecret({ projectId }), { secretCount: 1 });
  t.same(await client.stopRequiringSignatures({ projectId }), unsigned);

  const card = { presetName: 'card', parameters: { w: 40, fit: 'cover', flip: true } } as const;
  const preset = await client.putProjectPreset({ projectId, ...card });
  t.same(preset, { name: 'card', parameters: card.parameters });
  t.same(await client.getProjectPreset({ projectId, presetName: 'card' }), preset);
  t.same(await client.listProjectPresets({ projectId }), [preset]);
  t.same(await client.deleteProjectPreset({ projectId, presetName: 'card' }), []);

  const badge = { layerName: 'badge', text: { words: 'Sale', size: 'fit', color: 'c00' } } as const;
  const layer = await client.putProjectLayer({ projectId, ...badge });
  t.same(layer, { name: 'badge', text: badge.text });
  t.same(await client.getProjectLayer({ projectId, layerName: 'badge' }), layer);
  t.same(await client.listProjectLayers({ projectId }), [layer]);
  t.match(await client.listFonts(), [{ name: 'Open Sans', weights: Array }]);
  t.same(await client.deleteProjectLayer({ projectId, layerName: 'badge' }), []);

  t.match(await client.getServiceVersion(), { service: version, node: process.version });

  // Pages are ordered by id, the whole list by creation.
  const listed = await client.listProjects();
  const ordered = listed.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  t.same(await collected(client.iterate('listProjects')), ordered);
  t.same(await collected(client.iterate('listProjectPresets', { projectId })), []);

  const deletion = client.deleteProject({ projectId, force: true }, { timeoutMs: 60_000 });
  t.equal(await deletion, undefined);
  await t.rejects(client.getProject({ projectId }), { status: 404, code: 'project_not_found' });

  t.match(await client.getHealth(), { ok: true, checks: { database: { ok: true } } });
  t.same(await client.getLiveness(), { ok: true, status: 'ok' });
  t.same(await client.getReadiness(), { ready: true, status: 'ready' });

  t.same(proxy.faults, [], 'every call met the faults');
  const { paths, components } = await json(await fetch(`${service.url}/openapi.json`));
  const operations = Object.values<Record<string, Operation>>(paths)
    .flatMap((methods) => Object.values(methods))
    .filter(({ tags }) => !tags.includes('Images'));
  t.match(operations, [{ operationId: 'getHealth' }]);
  t.same(
    operations.filter(({ operationId }) => !called.has(operationId)),
    [],
    'all of the document were called',
  );
  for (const { operationId, parameters = [], requestBody } of operations) {
    const reference = requestBody?.content['application/json'].schema.$ref ?? '';
    const body = components.schemas[reference.split('/').at(-1) ?? '']?.properties ?? {};
    const both = parameters.map(({ name }) => name).filter((name) => name in body);
    const expected = operationId === 'removeProjectDomain' ? ['host'] : [];
    t.same(both, expected, `${operationId}: fields of the path, the query and the body differ`);
  }
});

async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

t.test('reads a list in pages, on demand', async (t) => {
  const searches: string[] = [];
  const next = new Map([
    ['?limit=100', '<?limit=100&cursor=b%26c>; rel="next"'],
    ['?limit=100&cursor=b%26c', '</x/api?limit=100&cursor=d>; rel="next"'],
  ]);
  const fetch = async (url: string) => {
    const { pathname, search } = new URL(url);
    searches.push(search);
    if (searches.length > 9) throw new Error('the pages do not end');
    const link = next.get(search);
    const headers = { 'content-type': 'application/json', ...(link && { link }) };
    return new Response(JSON.stringify({ presets: [pathname, search] }), { headers });
  };
  const options = {
    baseUrl: 'https://img.example/x',
    apiKey,
    fetch: fetch as typeof globalThis.fetch,
  };
  const client = createClientWith(options, stoppedClock());
  const presets = client.iterate('listProjectPresets', { projectId: 'prj_1' });
  await presets.next();
  await presets.next();
  t.equal(searches.length, 1);
  t.same((await collected(presets)).length, 4);
  t.same(searches, ['?limit=100', '?limit=100&cursor=b%26c', '?limit=100&cursor=d']);
  t.match(await client.iterate('listProjectPresets', { projectId: 'prj_1' }).next(), {
    value: '/x/api/sdk/v1/projects/prj_1/presets',
  });
  await t.rejects(client.iterate('getProject' as never).next(), TypeError);
  await t.rejects(client.iterate('listProjectLayers').next(), /needs projectId/);
});

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly { readonly name: string }[];
  readonly requestBody?: {
    readonly content: {
      readonly 'application/json': { readonly schema: { readonly $ref: string } };
    };
  };
}
