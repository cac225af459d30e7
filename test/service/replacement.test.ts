import { execFile } from 'node:child_process';
import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import sharp from 'sharp';
import t from 'tap';
import { temporaryFolder } from '../temporary-root.ts';
import { until } from '../until.ts';
import { isAlive, json, launch, startDelivery, startService } from './service.ts';

const noise = (size: number): Promise<Buffer> =>
  sharp({
    create: {
      width: size,
      height: size,
      channels: 3,
      background: 'gray',
      noise: { type: 'gaussian', mean: 128, sigma: 50 },
    },
  })
    .png({ compressionLevel: 1 })
    .toBuffer();

async function occupiedBytes(files: readonly Dirent[]): Promise<number> {
  const sizes = await Promise.all(
    files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size),
  );
  return sizes.reduce((sum, size) => sum + Math.ceil(size / 4_096) * 4_096, 0);
}

t.test('replaces a dead front end, with a delay after the first time', async (t) => {
  const { service, origin, image } = await startDelivery(t);
  // Use large images, so that the kill hits a write.
  origin.serve('/a.png', await noise(1_000));
  const cache = join(service.dataDir, 'cache');
  const files = async (folder: string) => {
    const found = await readdir(join(cache, folder), { recursive: true, withFileTypes: true });
    return found.filter((entry) => entry.isFile());
  };
  let width = 1_000;
  for (let round = 0; round < 3; round++) {
    const [pid = 0] = service.frontEnds();
    const before = (await files('files').catch(() => [])).length;
    let killed = false;
    const requests = Array.from({ length: 6 }, async () => {
      while (!killed) {
        width -= 1;
        await fetch(service.url + image('/a.png', `w=${width}&fmt=png`)).catch(() => {});
      }
    });
    // The front end has not reported the last file to the index, and is writing the next.
    await until('a file', async () => (await files('files').catch(() => [])).length > before);
    while ((await files('tmp')).length === 0);
    process.kill(pid, 'SIGKILL');
    killed = true;
    await Promise.all(requests);
    await until('a replacement', () => {
      const pids = service.frontEnds();
      return pids.length === 1 && !pids.includes(pid);
    });
  }
  const delays = service.log
    .filter((line) => line.msg === 'replacing dead front end')
    .map((line) => Number(line['delayMs']));
  t.equal(delays[0], 0, 'the first at once');
  t.ok((delays[1] ?? 0) > 0, `${delays}`);

  await until(
    'the index has the files of the dead front ends, and no temporary one stays',
    async () => {
      const { checks } = await json(await fetch(`${service.url}/api/health`));
      const isComplete = checks.cache.diskSizeBytes === (await occupiedBytes(await files('files')));
      return isComplete && (await files('tmp')).length === 0;
    },
  );
});

t.test('ends all processes with the primary, even while they start', async (t) => {
  const service = await startService(t, {
    environment: { SERVICE_PROCESSES: '2', SERVICE_LOG_LEVEL: 'debug' },
  });
  let open = true;
  // The pipe closes with the last process that writes to it.
  service.process.stdout?.once('close', () => {
    open = false;
  });
  const [pid = 0, sibling = 0] = service.frontEnds();
  process.kill(pid, 'SIGKILL');
  const isStart = ({ msg }: { msg: string }) => msg === 'front end starting';
  const starts = () => service.log.filter(isStart).length;
  await until('a third one starts', () => starts() === 3);
  t.ok(isAlive(sibling));
  await service.end('SIGKILL');
  await until('all have ended', () => !open);
});

t.test('ends a front end that waits for the store with the primary', async (t) => {
  const dataDir = await temporaryFolder(t);
  // The primary reads this file before it announces the open store, and a pipe never ends.
  await promisify(execFile)('mkfifo', [join(dataDir, 'known-projects')]);
  const service = await launch(t, {
    dataDir,
    environment: { SERVICE_MONGODB_URL: 'mongodb://127.0.0.1:1/', SERVICE_LOG_LEVEL: 'debug' },
  });
  let open = true;
  service.process.stdout?.once('close', () => {
    open = false;
  });
  await service.waitForLog(({ msg }) => msg === 'front end waiting for store');
  await service.end('SIGKILL');
  await until('all have ended', () => !open);
  t.same(service.frontEnds(), []);
});

t.test('kills and replaces a frozen front end', async (t) => {
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
  t.match(await service.waitForLog(({ msg }) => msg.startsWith('killing unresponsive front end')), {
    child: frozen,
  });
});
