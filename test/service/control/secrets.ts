import type { Test } from 'tap';
import { until } from '../../until.ts';
import type { Control } from './control.ts';

/**
 * Creates a project's keys, shows them once, lists and revokes them, with a key that can manage all
 * projects.
 */
async function projectKeys(t: Test, { call, project, issue }: Control): Promise<void> {
  const [own, other] = [await project(), await project()];
  const on = `/projects/${own}/keys`;
  const json = { name: 'shop backend', access: 'read' };
  const { status, body } = await call('POST', on, { json });
  t.equal(status, 201);
  const { secret, ...shown } = body.key;
  t.match(shown, { name: 'shop backend', access: 'read', revokedAt: null });
  t.same((await call('GET', on)).body.keys, [shown], 'the list has no secret');
  t.same((await call('GET', `/projects/${other}/keys`)).body.keys, []);
  t.equal((await call('GET', `/projects/${own}`, { key: secret })).status, 200);
  const denied = async (method: string, path: string, key: string, code: string) => {
    const answer = await call(method, path, { key, ...(method === 'POST' && { json }) });
    t.same([answer.status, answer.body.code], [403, code], `${method} ${path}`);
  };
  const writer = await issue(own, 'write');
  await denied('POST', on, writer, 'project_forbidden');
  await denied('GET', on, writer, 'project_forbidden');
  await denied('DELETE', `${on}/${shown.id}`, writer, 'project_forbidden');
  await denied('POST', on, await issue(null, 'read'), 'write_access_required');
  const elsewhere = await call('DELETE', `/projects/${other}/keys/${shown.id}`);
  t.equal(elsewhere.status, 200);
  t.equal((await call('GET', `/projects/${own}`, { key: secret })).status, 200, 'still valid');
  const revoked = (await call('DELETE', `${on}/${shown.id}`)).body.keys;
  t.match(revoked.find(({ id }: { id: string }) => id === shown.id).revokedAt, /^2.*Z$/);
  await until('the key is not valid any more', async () => {
    return (await call('GET', `/projects/${own}`, { key: secret })).status === 401;
  });
  const again = (await call('DELETE', `${on}/${shown.id}`)).body.keys;
  t.same(again, revoked, 'the date of the revocation stays');
}

/** Requires signatures for a project, replaces the secret, and stops requiring them. */
async function signing(
  t: Test,
  { call, project, issue, service, watermarks }: Control,
): Promise<void> {
  const id = await project();
  const on = `/projects/${id}/signing`;
  const [source = ''] = watermarks;
  const target = `/img/${encodeURIComponent(source)}?project=${id}&w=4`;
  const fetchStatus = async (path: string) => (await fetch(service.url + path)).status;
  const sign = (json: object) => call('POST', `/projects/${id}/signed-urls`, { json });
  t.same((await call('GET', on)).body.signing, {
    required: false,
    ttlSeconds: null,
    secretCount: 0,
  });
  t.match((await sign({ url: target })).body.message, /no secret yet/);
  const writer = await issue(id, 'write');
  for (const [method, path] of [
    ['GET', on],
    ['POST', `${on}/secrets`],
    ['DELETE', `${on}/secrets/previous`],
    ['DELETE', on],
  ] as const) {
    t.equal((await call(method, path, { key: writer })).body.code, 'project_forbidden', path);
  }
  t.equal(await fetchStatus(target), 200);
  const first = await call('POST', `${on}/secrets`, { json: { ttlSeconds: 120 } });
  t.match(first.body.signing, {
    required: true,
    ttlSeconds: 120,
    secretCount: 1,
    secret: /^[\w-]{43}$/,
  });
  await until('unsigned URLs are refused', async () => (await fetchStatus(target)) === 403);
  const old = (await sign({ url: target })).body.signedUrl;
  t.ok(Date.parse(old.expiresAt) - Date.now() <= 120_000);
  t.equal(await fetchStatus(old.url), 200);
  t.equal(await fetchStatus(old.url.replace('w=4', 'w=5')), 403);
  const whole = `https://cdn.example.com/x${target}`;
  t.match(
    (await sign({ url: whole })).body.signedUrl.url,
    /^https:\/\/cdn\.example\.com\/x\/img\//,
  );
  for (const [json, message] of [
    [{ url: target, validFor: 121 }, /validFor must be at most 120/],
    [{ url: target.replace(id, 'prj_0000000000000000') }, /an image URL of the project/],
    [{ url: `${target}&project=${id}` }, /an image URL of the project/],
    [{ url: old.url }, /an image URL of the project/],
    [{ url: '/api/health' }, /an image URL of the project/],
    [
      { url: target.replace('127.0.0.1', '127.0.0.2') },
      /host 127.0.0.2 is not on the .* allowlist/,
    ],
    [{ url: `/img/?url=https://evil.example/a.jpg&project=${id}` }, /host evil.example is not/],
    [{ url: `/img/?project=${id}` }, /source URL is missing/],
    [{ url: `${target}&w=5` }, /w is given more than once/],
  ] as const) {
    t.match((await sign(json)).body.message, message);
  }
  const refused = await call('POST', `${on}/secrets`, { json: { ttlSeconds: 60 } });
  t.match(refused.body.message, /only for the first secret/);
  const second = (await call('POST', `${on}/secrets`)).body.signing;
  t.match(second, { ttlSeconds: 120, secretCount: 2 });
  t.not(second.secret, first.body.signing.secret);
  t.match((await call('POST', `${on}/secrets`)).body.message, /two valid secrets/);
  t.equal(await fetchStatus(old.url), 200, 'both are valid');
  const revoke = () => call('DELETE', `${on}/secrets/previous`);
  t.equal((await revoke()).body.signing.secretCount, 1);
  t.equal((await revoke()).body.signing.secretCount, 1);
  await until('the old secret ends', async () => (await fetchStatus(old.url)) === 403);
  const current = (await sign({ url: target })).body.signedUrl.url;
  t.equal(await fetchStatus(current), 200);
  await call('POST', `${on}/secrets`, { json: { replaceAll: true, ttlSeconds: null } });
  await until('all earlier ones end', async () => (await fetchStatus(current)) === 403);
  t.same((await call('DELETE', on)).body.signing, {
    required: false,
    ttlSeconds: null,
    secretCount: 0,
  });
  await until('no signature is needed', async () => (await fetchStatus(target)) === 200);
}

/** Writes, replaces and deletes the URL secrets of other services. The API never returns them. */
async function urlSecrets(t: Test, { call, project, issue, store }: Control): Promise<void> {
  const id = await project();
  const on = `/projects/${id}/url-secrets`;
  const put = (kind: string, json: object) => call('PUT', `${on}/${kind}`, { json });
  t.same((await call('GET', on)).body, { urlSecrets: [] });
  const first = (await put('imgix', { secret: 'hidden-1' })).body.urlSecret;
  t.match(first, { kind: 'imgix', secretCount: 1, updatedAt: /^20/ });
  t.same(Object.keys(first), ['kind', 'secretCount', 'updatedAt']);
  const valid = async () => (await store.projects.find(id))?.urlSecrets?.['imgix']?.valid;
  for (let i = 0; i < 2; i += 1) {
    const { body } = await put('imgix', { secret: 'hidden-2', keepPrevious: true });
    t.equal(body.urlSecret.secretCount, 2);
    t.same(await valid(), [{ secret: 'hidden-2' }, { secret: 'hidden-1' }]);
  }
  await put('imgix', { secret: 'hidden-3', keepPrevious: true });
  t.same(await valid(), [{ secret: 'hidden-3' }, { secret: 'hidden-2' }], 'at most two');
  await put('imgix', { secret: 'hidden-4' });
  t.same(await valid(), [{ secret: 'hidden-4' }]);
  const key = { secret: '68696464656e', salt: 'ABCDEF' };
  t.equal((await put('imgproxy', key)).status, 200);
  const listed = (await call('GET', on)).body.urlSecrets;
  t.match(listed, [{ kind: 'imgix', secretCount: 1 }, { kind: 'imgproxy' }]);
  t.same((await call('GET', `${on}/imgproxy`)).body, { urlSecret: listed[1] });
  const shown = [listed, (await call('GET', `/projects/${id}`)).body];
  t.notMatch(JSON.stringify(shown), /hidden|68696464656e|ABCDEF/);
  for (const [kind, json, message] of [
    ['imgix', {}, /^secret is required/],
    ['imgix', { secret: '' }, /^secret must have at least 1 character\.$/],
    ['imgix', { secret: 'hidden 5' }, /^secret must have only visible ASCII .*spaces\.$/],
    ['imgix', { secret: 'hidden'.repeat(100) }, /^secret must have at most 512 characters\.$/],
    ['imgix', { secret: 5 }, /^secret must be a string\.$/],
    ['imgix', { secret: 'hidden-5', salt: 'ab' }, /^salt is not for secrets of imgix/],
    ['imgproxy', { secret: '68696464656e' }, /^secret and salt must be bytes in hexadecimal/],
    ['imgproxy', { secret: '686', salt: 'ab' }, /^secret and salt must be bytes in hexadecimal/],
    ['imgproxy', { secret: 'hidden', salt: 'ab' }, /^secret and salt must be bytes/],
    ['next', { secret: 'hidden-5' }, /^kind must be one of imgix, cloudinary, imgproxy, thumbor/],
    ['__proto__', { secret: 'hidden-5' }, /^kind must be one of/],
  ] as const) {
    const { body } = await put(kind, json);
    t.match(body, { code: 'invalid_request', message }, `${kind} ${JSON.stringify(json)}`);
    t.notMatch(body.message, /hidden|6869/);
  }
  for (let i = 0; i < 2; i += 1) {
    t.same((await call('DELETE', `${on}/imgproxy`)).body, { urlSecrets: [listed[0]] });
  }
  const gone = await call('GET', `${on}/imgproxy`);
  t.same([gone.status, gone.body.code], [404, 'url_secret_not_found']);
  const writer = await issue(id, 'write');
  for (const [method, path] of [
    ['GET', on],
    ['GET', `${on}/imgix`],
    ['PUT', `${on}/imgix`],
    ['DELETE', `${on}/imgix`],
  ] as const) {
    const json = method === 'PUT' && { json: { secret: 'x' } };
    const { body } = await call(method, path, { key: writer, ...json });
    t.equal(body.code, 'project_forbidden', `${method} ${path}`);
  }
}

/** Checks a project's keys, signatures and secrets. */
export async function secrets(t: Test, control: Control): Promise<void> {
  await projectKeys(t, control);
  await signing(t, control);
  await urlSecrets(t, control);
}
