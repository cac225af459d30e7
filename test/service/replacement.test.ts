import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { temporaryRoot } from '../temporary-root.ts';
import { until } from '../until.ts';
import { picture } from './origin.ts';
import { isAlive, json, launch, startDelivery, startService } from './service.ts';

t.test('a front end that dies is replaced, with a delay after the first time', async (t) => {
  const { service, origin, image } = await startDelivery(t);
  origin.serve('/a.jpg', await picture(300, 200));
  const cache = join(service.dataDir, 'cache');
  const files = async (folder: string) => {
    const found = await readdir(join(cache, folder), { recursive: true, withFileTypes: true });
    return found.filter((entry) => entry.isFile());
  };
  for (let round = 1; round <= 2; round++) {
    const [pid = 0] = service.frontEnds();
    const before = (await files('files').catch(() => [])).length;
    for (let width = 10 * round; width < 10 * round + 6; width++) {
      fetch(service.url + image('/a.jpg', `w=${width}&fmt=webp`)).catch(() => {});
    }
    // It has not reported all files to the index.
    await until('a file', async () => (await files('files').catch(() => [])).length > before);
    process.kill(pid, 'SIGKILL');
    await until('a replacement', () => {
      const pids = service.frontEnds();
      return pids.length === 1 && !pids.includes(pid);
    });
  }
  const delays = service.log
    .filter((line) => line.msg === 'a front end died and is replaced')
    .map((line) => Number(line['delayMs']));
  t.equal(delays[0], 0, 'the first at once');
  t.ok((delays[1] ?? 0) > 0, `${delays}`);

  await until('the index has the files of the dead front ends', async () => {
    const { checks } = await json(await fetch(`${service.url}/api/health`));
    // Each is smaller than a block.
    return checks.cache.diskSizeBytes === 4_096 * (await files('files')).length;
  });
  t.same(await files('tmp'), [], 'their temporary files are removed');
});

t.test('all processes end when the primary is killed, also starting ones', async (t) => {
  const service = await startService(t, {
    environment: { SERVICE_PROCESSES: '2', SERVICE_LOG_LEVEL: 'debug' },
  });
  let open = true;
  // The pipe closes with the last process that writes to it.
  service.primary.stdout?.once('close', () => {
    open = false;
  });
  const [pid = 0, sibling = 0] = service.frontEnds();
  process.kill(pid, 'SIGKILL');
  const isStart = ({ msg }: { msg: string }) => msg === 'a front end starts';
  const starts = () => service.log.filter(isStart).length;
  await until('a third one starts', () => starts() === 3);
  t.ok(isAlive(sibling));
  await service.end('SIGKILL');
  await until('all have ended', () => !open);
});

t.test('a front end that waits for the store ends when the primary is killed', async (t) => {
  const dataDir = await mkdtemp(join(temporaryRoot, 'image-delivery-'));
  t.teardown(() => rm(dataDir, { recursive: true, force: true }));
  // The primary reads this file before it sends the welcome, and a pipe has no end.
  await promisify(execFile)('mkfifo', [join(dataDir, 'known-projects')]);
  const service = await launch(t, {
    dataDir,
    environment: { SERVICE_MONGODB_URL: 'mongodb://127.0.0.1:1/', SERVICE_LOG_LEVEL: 'debug' },
  });
  let open = true;
  service.primary.stdout?.once('close', () => {
    open = false;
  });
  await service.waitForLog(({ msg }) => msg === 'a front end waits for the store');
  await service.end('SIGKILL');
  await until('all have ended', () => !open);
  t.same(service.frontEnds(), []);
});

t.test('a frozen front end is killed and replaced', async (t) => {
  const service = await startService(t);
  const [frozen = 0] = service.frontEnds();
  process.kill(frozen, 'SIGSTOP');
  const hanging = fetch(`${service.url}/api/health`).then(
    ({ status }) => status,
    () => 'ended',
  );
  await until('another front end', () => service.frontEnds().some((pid) => pid !== frozen));
  t.notOk(isAlive(frozen));
  t.equal(await hanging, 'ended', 'its connections do not hang');
  const response = await fetch(`${service.url}/api/health`);
  t.equal(response.status, 200);
  t.match(await service.waitForLog(({ msg }) => msg.startsWith('a front end is unresponsive')), {
    child: frozen,
  });
});
