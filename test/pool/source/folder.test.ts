import { spawnSync } from 'node:child_process';
import { chmod, mkdir, open, rename, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { folderLoader } from '../../../pool/source/folder-loader.ts';
import { temporaryFolder } from '../../temporary-root.ts';
import { until } from '../../until.ts';
import { client, expectFailure, openSources } from './origin.ts';

/** Returns the class of open files, so that a test can replace its methods. */
async function fileHandles(path: string) {
  const file = await open(path);
  await file.close();
  return Object.getPrototypeOf(file);
}

/** Creates a folder with images, hidden files and links, next to a forbidden folder. */
async function pictureFolder(t: Test) {
  const base = await temporaryFolder(t);
  const folder = join(base, 'pictures');
  const outside = join(base, 'outside');
  await mkdir(join(folder, 'sub', '.hidden'), { recursive: true });
  await mkdir(outside);
  const files = {
    'a.jpg': 'picture a',
    'a b+c%2e.jpg': 'picture with signs',
    'sub/b.jpg': 'picture b',
    'sub/.hidden/c.jpg': 'hidden',
    '.env': 'hidden',
    '../outside/secret.jpg': 'outside',
    '../pictures-old.jpg': 'outside',
    'empty.jpg': '',
  };
  for (const [path, text] of Object.entries(files)) await writeFile(join(folder, path), text);
  await symlink(join(outside, 'secret.jpg'), join(folder, 'link.jpg'));
  await symlink('../outside', join(folder, 'linked'));
  await symlink('sub/.hidden/c.jpg', join(folder, 'to-hidden.jpg'));
  await symlink('sub/b.jpg', join(folder, 'inside.jpg'));
  await symlink('loop.jpg', join(folder, 'loop.jpg'));
  spawnSync('mkfifo', [join(folder, 'pipe.jpg')]);
  const findLoader = () => folderLoader('pictures', folder);
  const sources = openSources(t);
  const read = async (path: string) => {
    const url = new URL(`https://static.example${path}`);
    const lease = await sources.acquire(url, client({ findLoader }));
    lease.release();
    return lease;
  };
  const readText = async (path: string) => Buffer.from((await read(path)).bytes).toString();
  return { base, folder, outside, sources, findLoader, read, readText };
}

t.test("maps a URL's path to a file in the folder", async (t) => {
  const { readText, read } = await pictureFolder(t);
  t.equal(await readText('/a.jpg'), 'picture a');
  t.equal(await readText('/sub/b.jpg?v=2#x'), 'picture b', 'the query is ignored');
  t.equal(await readText('/a%20b+c%252e.jpg'), 'picture with signs');
  t.equal(await readText('/inside.jpg'), 'picture b', 'a link to a file in the folder');
  const { bytes, validators, contentType } = await read('/a.jpg');
  t.type(bytes.buffer, SharedArrayBuffer);
  t.match(validators, { etag: /^"[a-z\d-]+"$/, lastModified: / GMT$/ });
  t.equal(contentType, null);
});

t.test('finds names in either Unicode form', async (t) => {
  const { folder, readText, read } = await pictureFolder(t);
  const [composed, decomposed] = ['Caf\u00e9', 'Cafe\u0301'];
  await mkdir(join(folder, decomposed));
  await writeFile(join(folder, decomposed, 'a.jpg'), 'decomposed');
  await writeFile(join(folder, `${composed}.jpg`), 'composed');
  for (const name of [composed, decomposed]) {
    t.equal(await readText(`/${encodeURIComponent(name)}/a.jpg`), 'decomposed');
    t.equal(await readText(`/${encodeURIComponent(name)}.jpg`), 'composed');
    const missing = await expectFailure(read(`/${encodeURIComponent(name)}/b.jpg`));
    t.equal(missing.code, 'source_not_found');
  }
  await writeFile(join(folder, `${decomposed}.jpg`), 'both exist');
  t.equal(await readText(`/${encodeURIComponent(composed)}.jpg`), 'composed');
});

t.test('reads no other file', async (t) => {
  const { read, base } = await pictureFolder(t);
  const paths = [
    '/',
    '/missing.jpg',
    '/A.jpg',
    '/sub',
    '/sub/',
    '/sub//b.jpg',
    '/a.jpg/',
    '/a.jpg/b.jpg',
    '/.env',
    '/sub/.hidden/c.jpg',
    '/to-hidden.jpg',
    '/link.jpg',
    '/linked/secret.jpg',
    '/loop.jpg',
    '/pipe.jpg',
    '/../outside/secret.jpg',
    '/%2e%2e/outside/secret.jpg',
    '/..%2foutside%2fsecret.jpg',
    '/sub/..%2f..%2foutside%2fsecret.jpg',
    '/%2e%2e%2foutside%2fsecret.jpg',
    '/%252e%252e/outside/secret.jpg',
    '/..%5coutside%5csecret.jpg',
    '/..\\outside\\secret.jpg',
    '/sub%2fb.jpg',
    '/%2fetc%2fpasswd',
    '//etc/passwd',
    `/${base}/outside/secret.jpg`,
    '/../pictures-old.jpg',
    '/..%2fpictures-old.jpg',
    '/-old.jpg',
    '/a.jpg%00',
    '/a.jpg%00.png',
    '/a.jpg%0a',
    '/%e0.jpg',
    '/%c0%ae%c0%ae/outside/secret.jpg',
    '/%uff0e%uff0e/outside/secret.jpg',
    '/．．/outside/secret.jpg',
    '/%',
    `/${'a'.repeat(300)}.jpg`,
    `/${'a/'.repeat(3_000)}`,
  ];
  for (const path of paths) {
    const error = await expectFailure(read(path));
    t.equal(error.code, 'source_not_found', path);
    t.notMatch(error.message, base, path);
  }
});

t.test('reads no other files through a folder that becomes a link', async (t) => {
  const { folder, outside, findLoader, base } = await pictureFolder(t);
  await writeFile(join(outside, 'b.jpg'), 'outside');
  await symlink(outside, join(base, 'link'));
  let ended = false;
  const exchange = async () => {
    while (!ended) {
      await rename(join(folder, 'sub'), join(base, 'moved'));
      await rename(join(base, 'link'), join(folder, 'sub'));
      await rename(join(folder, 'sub'), join(base, 'link'));
      await rename(join(base, 'moved'), join(folder, 'sub'));
      await sleep(Math.random());
    }
  };
  const exchanged = exchange();
  // Each request reads the file, because the cache keeps no bytes.
  const sources = openSources(t, { sourceCacheBytes: 1 });
  const seen = new Set<string>();
  const wanted = new URL('https://static.example/sub/b.jpg');
  for (let attempt = 0; attempt < 1_000; attempt += 1) {
    const url = new URL(`?${attempt}`, wanted);
    const result = await sources.acquire(url, client({ findLoader })).catch(() => null);
    if (result !== null) seen.add(Buffer.from(result.bytes).toString());
    result?.release();
  }
  ended = true;
  await exchanged;
  t.same([...seen], ['picture b']);
});

t.test('applies the limits and failures of other sources', async (t) => {
  const { folder, base, read, findLoader } = await pictureFolder(t);
  t.equal((await expectFailure(read('/empty.jpg'))).code, 'source_corrupt');
  await writeFile(join(folder, 'large.jpg'), Buffer.alloc(1_000_001));
  t.equal((await expectFailure(read('/large.jpg'))).code, 'source_too_large');
  const growing = await open(join(folder, 'growing.jpg'), 'w');
  await growing.write(Buffer.alloc(900_000));
  let grows = true;
  const grow = (async () => {
    while (grows) await growing.write('x');
  })();
  const error = await expectFailure(read('/growing.jpg'));
  grows = false;
  await grow;
  await growing.close();
  t.match(error, { code: 'source_unreachable', message: /changed while it was read/ });

  if (process.getuid?.() !== 0) {
    await chmod(join(folder, 'a.jpg'), 0);
    t.match(await expectFailure(read('/a.jpg')), { code: 'source_forbidden', message: /EACCES/ });
  }
  await rename(folder, join(base, 'away'));
  const away = await expectFailure(read('/inside.jpg'));
  t.match(away, { code: 'source_unreachable', message: /ENOENT/ }, 'not deleted');
  t.notMatch(away.message, base);
  const sources = openSources(t);
  const signal = AbortSignal.abort(new Error('the client left'));
  const url = new URL('https://static.example/a.jpg');
  await t.rejects(sources.acquire(url, client({ findLoader, signal })), /the client left/);
});

t.test('reads a file again only after a change', async (t) => {
  const { folder, sources, findLoader } = await pictureFolder(t);
  const url = new URL('https://static.example/a.jpg');
  const first = await sources.acquire(url, client({ findLoader }));
  const { validators } = first;
  first.release();
  const ask = (known = validators) => sources.revalidate(url, known, client({ findLoader }));
  t.equal((await ask()).bytes, null);
  await utimes(join(folder, 'a.jpg'), 1, 1);
  t.not((await ask()).bytes, null);
  await writeFile(join(folder, 'new.jpg'), 'picture c');
  await rename(join(folder, 'new.jpg'), join(folder, 'a.jpg'));
  const changed = await ask();
  t.equal(Buffer.from(changed.bytes ?? []).toString(), 'picture c');
  t.not(changed.validators.etag, validators.etag);
});

t.test('limits the files that it reads at a time', async (t) => {
  const { folder, findLoader } = await pictureFolder(t);
  const origin = findLoader();
  const sources = openSources(t, { fetchConcurrency: 64 });
  const names = Array.from({ length: 30 }, (_, index) => `many${index}.jpg`);
  for (const name of names) await writeFile(join(folder, name), name);
  const options = client({ findLoader: () => origin });
  const texts = names.map(async (name) => {
    const lease = await sources.acquire(new URL(`https://static.example/${name}`), options);
    return Buffer.from(lease.bytes).toString();
  });
  t.same(await Promise.all(texts), names);
});

t.test('delays the reads of all folders while reads of one folder hang', async (t) => {
  const hanging = await pictureFolder(t);
  const other = await pictureFolder(t);
  const handles = await fileHandles(join(other.folder, 'a.jpg'));
  const { stat } = handles;
  const held: (() => void)[] = [];
  t.intercept(handles, 'stat', {
    async value(...args: unknown[]) {
      if (held.length < 3) await new Promise<void>((resolve) => held.push(resolve));
      return stat.apply(this, args);
    },
  });
  const ended = ['/a.jpg', '/sub/b.jpg', '/inside.jpg'].map(hanging.readText);
  await until('three reads hang', () => held.length === 3);
  const impatient = openSources(t, { sourceTimeoutMs: 200 });
  const url = new URL('https://other.example/a.jpg');
  const late = await expectFailure(
    impatient.acquire(url, client({ findLoader: other.findLoader })),
  );
  t.match(late, { code: 'source_timeout', message: /the folder of other\.example/ });
  for (const resolve of held) resolve();
  t.same(await Promise.all(ended), ['picture a', 'picture b', 'picture b']);
  t.equal(await other.readText('/a.jpg'), 'picture a');
});

t.test('closes files and releases their bytes', async (t) => {
  const { sources, read } = await pictureFolder(t);
  await Promise.allSettled(['/a.jpg', '/missing.jpg', '/pipe.jpg', '/empty.jpg'].map(read));
  const held = () => sources.stats().heldBytes;
  await until('no bytes are held', () => held() === 0);
});

t.test('releases bytes whenever the client leaves while a file closes', async (t) => {
  const { folder, findLoader } = await pictureFolder(t);
  const handles = await fileHandles(join(folder, 'a.jpg'));
  const { createReadStream } = handles;
  let close: (closeFile: () => Promise<void>) => Promise<void>;
  t.intercept(handles, 'createReadStream', {
    value(this: { close(): Promise<void> }, ...args: unknown[]) {
      const closeFile = this.close;
      this.close = () => {
        // The stream calls it too.
        this.close = closeFile;
        return close(closeFile);
      };
      return createReadStream.apply(this, args);
    },
  });
  // The cache keeps no bytes.
  const sources = openSources(t, { sourceCacheBytes: 1 });
  const outcomes = new Set<string>();
  const readWith = async (signal: AbortSignal) => {
    const url = new URL('https://static.example/a.jpg');
    await sources.acquire(url, client({ findLoader, signal })).then(
      (lease) => {
        outcomes.add('read');
        lease.release();
      },
      (error) => outcomes.add(error.message),
    );
    const isFree = () => sources.stats().heldBytes === 0 && sources.stats().sharedBytes === 0;
    await until('no bytes are held', isFree);
  };
  // -1 means that the client leaves before the file closes.
  for (let microtasks = -1; microtasks < 60; microtasks += 1) {
    const controller = new AbortController();
    const leave = () => controller.abort(new Error('the client left'));
    close = async (closeFile) => {
      if (microtasks < 0) leave();
      await closeFile();
      const leaveAfter = (rest: number) =>
        rest === 0 ? leave() : queueMicrotask(() => leaveAfter(rest - 1));
      if (microtasks >= 0) leaveAfter(microtasks);
    };
    await readWith(controller.signal);
  }
  t.same([...outcomes], ['the client left', 'read']);
  close = async (closeFile) => {
    await closeFile();
    throw new Error('the file system is unavailable');
  };
  await readWith(new AbortController().signal);
  t.same([...outcomes], ['the client left', 'read'], 'a failure to close has no effect');
});
