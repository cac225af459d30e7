import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { openStore } from '../../store/open.ts';
import { shortFolder } from '../store/embedded/stores.ts';
import { until } from '../until.ts';
import { startAdmin } from './admin.ts';
import { picture, startTestOrigin } from './origin.ts';
import { freePort, json, startService } from './service.ts';
import { startWorker } from './worker/worker.ts';

t.test('runs the admin command next to a running service', async (t) => {
  const environment = { SERVICE_BASE_URL: 'https://cdn.example/assets/' };
  const service = await startService(t, { environment });
  const admin = startAdmin(t, service);
  const create = (...args: string[]) =>
    service.admin('projects', 'create', '--name', 'Shop \u001b[31mred', ...args);
  const id = await create('--origin', 'https://a.example/', '--allow', '*.b.example');
  t.match(id, /^prj_[0-9a-z]{16}$/);

  const list = await admin('projects', 'list');
  t.match(list, new RegExp(`${id} .*a\\.example \\*\\.b\\.example`));
  t.notOk(list.includes('\u001b'), 'names have no control characters');

  t.test('validates input like the control plane', async (t) => {
    const refused: readonly (readonly [RegExp, ...string[]])[] = [
      [/^origin must be/, '--origin', 'https://u:p@a.example/'],
      [/^the host of origin must be a public/, '--origin', 'http://10.0.0.1/'],
      [
        /^allowedOrigins\[1\] must be .* "a b"/,
        '--origin',
        'https://a.example/',
        '--allow',
        'c.example',
        'a b',
      ],
    ];
    for (const [message, ...args] of refused) {
      await t.rejects(create(...args), { code: 1, stderr: message }, args.join(' '));
    }
  });

  t.test('writes presets as in a URL', async (t) => {
    const presets = (...args: string[]) => admin('presets', ...args);
    await presets('set', id, 'hero', 'width=1200&flip=&blur&dpr=AUTO&crop=1_2_3_4&bg=Tomato');
    const listed = await presets('set', id, 'card', 'w=0400');
    t.match(listed, /^card +w=400$/m);
    t.match(listed, /^hero +w=1200&flip=true&blur=true&dpr=auto&crop=1_2_3_4&bg=tomato$/m);
    const image = `${service.url}/img/https://a.example/a.jpg?project=${id}`;
    const unknown = await fetch(`${image}&preset=cart`);
    t.match(await json(unknown), { message: /Did you mean card\?/ });
    t.notMatch(await presets('delete', id, 'hero'), /hero/);
    for (const [message, ...args] of [
      [/w must be a whole number/, 'set', id, 'card', 'w=x'],
      [/parameters\.wide is not a known/, 'set', id, 'card', 'wide=1'],
      [/w is given more than once/, 'set', id, 'card', 'w=1&width=2'],
      [/no project prj_0/, 'list', 'prj_0000000000000000'],
      [/no preset crad\. Did you mean card/, 'delete', id, 'crad'],
    ] as const) {
      await t.rejects(presets(...args), { code: 1, stderr: message }, args.join(' '));
    }
  });

  t.test('gives a project delivery hosts', async (t) => {
    const hosts = (...args: string[]) => admin('hosts', ...args);
    t.match(await hosts('list', id), /no delivery hosts/);
    t.match(
      await hosts('set', id, 'IMG.a.example'),
      /^img\.a\.example +native +the project's origin +20/m,
    );
    const base = 'https://a.example/media/';
    t.match(
      await hosts('set', id, 'img.a.example', '--base', base, '--urls', 'next'),
      /^img\.a\.example +next +https:/m,
    );
    t.match(JSON.parse(await hosts('list', id, '--json')), [{ host: 'img.a.example', base }]);
    for (const [message, ...args] of [
      [/^host must/, 'set', id, '127.0.0.1'],
      [/^base must be on an allowed host/, 'set', id, 'x.example', '--base', 'https://x.example/'],
      [/no delivery host x\.example/, 'delete', id, 'x.example'],
    ] as const) {
      await t.rejects(hosts(...args), { code: 1, stderr: message }, args.join(' '));
    }
    t.match(await hosts('delete', id, 'img.a.example'), /no delivery hosts/);
  });

  t.test("keeps the secrets of other services' URLs", async (t) => {
    const secrets = (...args: string[]) => admin('url-secrets', ...args);
    t.match(await secrets('list', id), /no URL secrets/);
    const set = (input: string, ...args: string[]) =>
      service.adminWithInput(input, 'url-secrets', 'set', id, ...args);
    t.match(await set('imgix-token\n', 'imgix'), /^imgix +1 +20/m);
    t.match(await set('another-token\n', 'imgix', '--keep-previous'), /^imgix +2 +20/m);
    t.match(await set('6b6579\n73616c74\n', 'imgproxy'), /^imgproxy +1 +20/m);
    const listed = await secrets('list', id, '--json');
    t.match(JSON.parse(listed), [{ kind: 'imgix', secretCount: 2 }, { kind: 'imgproxy' }]);
    t.notMatch(listed, /token|6b6579/);
    for (const [message, input, ...args] of [
      [/^secret must have at least 1 character/, '', 'imgix'],
      [/^secret and salt must be bytes in hex/, '6b6579', 'imgproxy'],
      [/^kind must be one of imgix,/, 'token', 'imgx'],
    ] as const) {
      await t.rejects(set(input, ...args), { code: 1, stderr: message }, args.join(' '));
    }
    await t.rejects(secrets('delete', id, 'thumbor'), { code: 1, stderr: /no URL secret for/ });
    t.notMatch(await secrets('delete', id, 'imgproxy'), /imgproxy/);
  });

  t.test('shows a key once, then lists it with its secret hidden, and revokes it', async (t) => {
    const created = await admin('keys', 'create', '--name', 'one', '--project', id);
    const [keyId = '', secret = ''] = created.split(/\s+/);
    t.match(secret, /^sk_[\w-]{43}$/);
    const keys = await admin('keys', 'list');
    t.match(keys, keyId);
    t.notMatch(keys, secret);
    const headers = { 'x-service-api-key': secret };
    const response = await fetch(`${service.url}/api/sdk/v1/projects/${id}`, { headers });
    t.equal(response.status, 200);
    await admin('keys', 'revoke', keyId);
    t.match(await admin('keys', 'list'), new RegExp(`${keyId}.*20\\d\\d-`));
  });

  t.test('requires a scope for a key and lists it', async (t) => {
    const create = (...options: string[]) => admin('keys', 'create', ...options);
    const refused = { code: 1, stderr: /--project <id>, --org <id> .* or --root/ };
    await t.rejects(create(), refused);
    await t.rejects(create('--name', 'x', '--access', 'read'), refused);
    const both = { code: 1, stderr: /'--project <id>' cannot be used with option '--root'/ };
    await t.rejects(create('--root', '--project', id), both);
    const orgId = await admin('orgs', 'create', 'Other');
    const visible = async (secret: string) => {
      const headers = { 'x-service-api-key': secret };
      const { projects } = await json(
        await fetch(`${service.url}/api/sdk/v1/projects`, { headers }),
      );
      return projects.length;
    };
    for (const [scope, words, count] of [
      [['--root'], 'all \\(root\\)', 1],
      [['--org', 'default'], 'of the organisation', 1],
      [['--org', orgId], 'of the organisation', 0],
      [['--project', id], id, 1],
    ] as const) {
      const [keyId = '', secret = ''] = (await create(...scope)).split(/\s+/);
      t.match(await admin('keys', 'list'), new RegExp(`^${keyId} .* ${words} +write`, 'm'));
      t.equal(await visible(secret), count, scope.join(' '));
    }
  });

  t.test('prints lists as JSON for programs', async (t) => {
    const list = async (...args: string[]) => JSON.parse(await admin(...args, '--json'));
    const [project, ...others] = await list('projects', 'list');
    t.same(others, []);
    const isoDate = /^20\d\d-\d\d-\d\dT[\d:.]+Z$/;
    const origin = 'https://a.example/';
    // As the API prints a project's date.
    const date = /^[A-Z][a-z]+ \d{1,2}, 20\d\d$/;
    t.match(project, { id, origin, signingSecret: undefined, createdAt: date });
    t.same(await list('presets', 'list', id), [{ name: 'card', parameters: { w: 400 } }]);
    t.match(await list('orgs', 'list'), [{ id: /^org_/, productAccess: true, createdAt: isoDate }]);
    const key = { id: /^key_/, projectId: id, createdAt: isoDate, revokedAt: isoDate };
    const keys = await list('keys', 'list');
    t.match(
      keys.find(({ name }: { name: string }) => name === 'one'),
      key,
    );
    t.notMatch(JSON.stringify(keys), /[0-9a-f]{64}/, 'without their digests');
    const other = await admin('projects', 'create', '--name', '\u009b1m', '--origin', origin);
    t.match(await admin('projects', 'list', '--json'), '\\u009b1m');
    await admin('projects', 'delete', other, '--yes');
  });

  t.test("changes a project's name and site", async (t) => {
    const update = (...args: string[]) => admin('projects', 'update', id, ...args);
    t.equal(await update('--name', 'New\u0007'), `${id} is New\ufffd, of https://a.example/`);
    t.match(await update('--origin', 'https://new.example/'), /of https:\/\/new\.example\/$/);
    t.match(await admin('projects', 'list'), /New.* a\.example \*\.b\.example new\.example$/m);
    for (const [message, ...args] of [
      [/Pass --name, --origin, or both/],
      [/^name must have at least 1 character/, '--name', ''],
      [/^origin must be/, '--origin', 'ftp://a.example/'],
    ] as const) {
      await t.rejects(update(...args), { code: 1, stderr: message }, args.join(' '));
    }
  });

  t.test('rejects a changed signed URL', async (t) => {
    const sign = (...options: string[]) => admin('projects', 'sign', id, ...options);
    const usage = { code: 1, stderr: /^error: option '--ttl <seconds>' argument '59' is invalid/ };
    await t.rejects(service.admin('projects', 'sign', id, '--ttl', '59'), usage);
    const secret = await sign('--ttl', '600');
    t.ok(secret.length >= 32);
    const url = `${service.url}/img/https://a.example/none.jpg?project=${id}&w=5`;
    const signed = await sign('--url', url);
    t.ok(signed.startsWith(url));
    const code = async (target: string) => (await json(await fetch(target))).code;
    await until('signatures are required', async () => (await code(url)) === 'signature_invalid');
    t.equal(await code(signed.replace('w=5', 'w=6')), 'signature_invalid');
    t.not(await code(signed), 'signature_invalid', 'the signature is valid');

    // Clients use the path of the base URL, which a proxy removes.
    const outside = url.replace(service.url, 'https://cdn.example/assets');
    const below = await sign('--url', outside);
    t.ok(below.startsWith(outside));
    const inside = below.replace('https://cdn.example/assets', service.url);
    t.not(await code(inside), 'signature_invalid', 'the path of the base URL is not signed');
    const merged = inside.replace('https://a', 'https:/a');
    t.not(await code(merged), 'signature_invalid', 'a proxy may merge slashes');

    t.test('accepts every URL during a secret rotation', async (t) => {
      const refused = (message: RegExp, ...options: string[]) =>
        t.rejects(sign(...options), { code: 1, stderr: message }, options.join(' '));
      await refused(/no previous secret/, '--revoke-old');
      await refused(/cannot be used with/, '--rotate', '--off');
      const next = await sign('--rotate');
      t.ok(next.length >= 32);
      t.not(next, secret);
      await refused(/two valid secrets/, '--rotate');
      t.match(await admin('projects', 'list'), /two secrets/);
      const later = await sign('--url', url);
      await until(
        'the new secret is valid',
        async () => (await code(later)) !== 'signature_invalid',
      );
      t.not(await code(signed), 'signature_invalid', 'the old one is still valid');
      t.match(await sign('--revoke-old'), /only the current secret/);
      await until(
        'the old secret is invalid',
        async () => (await code(signed)) === 'signature_invalid',
      );
      t.not(await code(later), 'signature_invalid');
    });
  });

  t.test('copies the store of a stopped service, and restores a backup of it', async (t) => {
    const folder = shortFolder(t);
    const other = await openStore({ mongodbUrl: null, dataDir: folder }, () => {});
    t.teardown(() => other.close());
    const isEmbedded = service.environment['SERVICE_MONGODB_URL'] === undefined;
    const [, secret = ''] = (await admin('keys', 'create', '--org', 'default')).split(/\s+/);
    const copy = (...options: string[]) => admin('store', 'copy', ...options);
    const inUse = isEmbedded
      ? /process \d+, which is running: stop that service/
      : /A service uses/;
    await t.rejects(copy('--to', other.url), { code: 1, stderr: inUse });
    const backup = join(folder, 'backup.log');
    if (isEmbedded) {
      t.match(await admin('store', 'backup', backup), `${backup} contains the store (`);
      t.equal((await stat(backup)).mode & 0o777, 0o600);
      const stderr = /backup\.log exists already/;
      await t.rejects(admin('store', 'backup', backup), { code: 1, stderr });
      await admin('projects', 'update', id, '--name', 'After the backup');
    } else {
      await t.rejects(admin('store', 'backup', backup), { code: 1, stderr: /mongodump/ });
    }
    t.equal(await service.end('SIGTERM'), 0);

    t.match(
      await admin('failures', id),
      /^TIME \(UTC\) +STATUS[\s\S]+^20\S+ \S+ +404 +preset_not_found +1 +\/img\/https:.*preset=cart$/m,
    );
    await t.rejects(admin('failures', 'prj_0000000000000000'), { code: 1, stderr: /no project/ });

    for (const [message, ...options] of [
      [/Pass --to <store>/],
      [
        /^The target cannot be used\. The store is unavailable: .*refuses/m,
        '--to',
        'mongodb://u:secret@127.0.0.1:1/',
      ],
      [/unescaped characters/, '--to', 'mongodb://u:secret://x@127.0.0.1/db'],
    ] as const) {
      const error = await copy(...options).then(
        () => ({ stderr: '', stdout: '' }),
        (thrown: { stderr: string; stdout: string }) => thrown,
      );
      t.match(error.stderr, message);
      t.notMatch(error.stdout + error.stderr, /secret/);
    }
    const copied = await copy('--to', other.url);
    t.match(copied, /^projects +[1-9]\d* +[0-9a-f]{16}$/m);
    t.match(copied, /^Copied and compared: both stores contain the same documents\.$/m);
    t.notMatch(copied, secret);
    await t.rejects(copy('--to', other.url), { code: 1, stderr: /^The target is not empty\./m });
    const second = await startService(t, { environment: { SERVICE_MONGODB_URL: other.url } });
    const headers = { authorization: `Bearer ${secret}` };
    const response = await fetch(`${second.url}/api/sdk/v1/projects/${id}`, { headers });
    t.match(await json(response), { project: { id } });

    if (!isEmbedded) return;
    t.match(await admin('projects', 'list'), 'After the backup');
    t.match(await admin('store', 'restore', backup), /^Restored the store to its state at 20/);
    const list = await admin('projects', 'list');
    t.match(list, id);
    t.notMatch(list, 'After the backup');
  });
});

t.test('prewarms and deletes through the admin command', async (t) => {
  const origin = await startTestOrigin(t);
  origin.serve('/a.jpg', await picture(40, 30));
  const service = await startService(t);
  const admin = startAdmin(t, service);
  const create = () => admin('projects', 'create', '--name', 'Shop', '--origin', origin.url);
  const [id, other] = [await create(), await create()];
  const prewarm = (path: string, ...options: string[]) =>
    admin('prewarm', id, `${origin.url}${path}`, ...options);
  const remove = (...args: string[]) => admin('projects', 'delete', ...args);

  for (const [message, ...options] of [
    [/^widths\[0\] must be at most 5000, but is 9000/, '--widths', '9000'],
    [/must be a whole number/, '--widths', '20,x'],
    [/^formats\[1\] must be one of .* "gif"/, '--formats', 'webp,gif'],
  ] as const) {
    await t.rejects(prewarm('/a.jpg', ...options), { code: 1, stderr: message });
  }
  const noWorker = /^No worker is running \(none has ever been seen\)\. Start .*npm start/m;
  const queued = await admin.run('prewarm', id, `${origin.url}/a.jpg`, '--no-wait');
  t.match(queued, { stdout: /^pre_\w{16} is queued/, stderr: noWorker });
  const stderr = /in progress: 1 source is not finished\. --force cancels it\./;
  await t.rejects(remove(id, '--yes'), { code: 1, stderr });

  await startWorker(t, service);
  const warm = await prewarm('/a.jpg', '--widths', '20,30', '--formats', 'webp,png');
  t.equal(warm, 'Warm: 1 source, 4 images.');
  const image = `${service.url}/img/${origin.url}/a.jpg?project=${id}&w=20&fmt=png`;
  t.equal((await fetch(image)).headers.get('x-cache'), 'memory');
  await t.rejects(prewarm('/none.jpg'), {
    code: 1,
    stdout: /none\.jpg failed: .*404 source_not_found/,
    stderr: /Failed: 1 of 1 source\./,
  });

  await t.rejects(remove(id), {
    code: 1,
    stderr: /permanently. Add --yes/,
  });
  t.equal((await fetch(image)).status, 200);
  t.match(await remove(id, '--yes', '--force'), `${id} is deleted.`);
  await until('its images are gone', async () => (await fetch(image)).status === 404);
  await t.rejects(remove(id, '--yes'), { code: 1, stderr: `There is no project ${id}.` });
  t.match(JSON.parse(await admin('projects', 'list', '--json')), [{ id: other }]);
  t.match(await service.end('SIGTERM'), 0);
  if (service.environment['SERVICE_MONGODB_URL'] === undefined) {
    await t.rejects(service.admin('prewarm', other, origin.url), {
      code: 1,
      stderr: /No running service/,
    });
  }
});

t.test('creates a store in a named folder only with --yes', async (t) => {
  const parent = shortFolder(t);
  const named = join(parent, 'dtaa');
  const environment = { PATH: process.env['PATH'] ?? '', SERVICE_DATA_DIR: named };
  const admin = startAdmin(t, { dataDir: parent, environment });
  const create = ['projects', 'create', '--name', 'Shop', '--origin', 'https://a.example/'];
  for (const command of [
    ['projects', 'list'],
    ['keys', 'revoke', 'key_0'],
    ['keys', 'create', '--root'],
    create,
  ]) {
    const stderr = new RegExp(`^There is no store in ${named}, .* add --yes `);
    await t.rejects(admin(...command), { code: 1, stderr });
  }
  t.notOk(existsSync(named));
  const id = await admin(...create, '--yes');
  t.match(id, /^prj_/);
  t.match(await admin('projects', 'list'), id);
  t.match(await admin(...create), /^prj_/, 'the store exists');
});

t.test('creates a store in the default folder, except beside a running service', async (t) => {
  const { port } = await startService(t);
  const parent = shortFolder(t);
  const beside = (servicePort: number) =>
    startAdmin(t, {
      dataDir: parent,
      environment: { PATH: process.env['PATH'] ?? '', SERVICE_PORT: String(servicePort) },
    });
  const stderr = new RegExp(`The service at port ${port} uses another store.* add --yes`);
  await t.rejects(beside(port)('keys', 'create', '--root'), { code: 1, stderr });
  t.notOk(existsSync(join(parent, 'data')));
  const alone = beside(await freePort());
  await t.rejects(alone('keys', 'list'), { code: 1, stderr: /^There is no store/ });
  const created = await alone.run('keys', 'create', '--root');
  t.match(created, { stdout: /^key_/, stderr: `Creating a new store in ${join(parent, 'data')}.` });
});
