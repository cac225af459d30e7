import { readdir, readlink } from 'node:fs/promises';
import { Agent, get } from 'node:http';
import t from 'tap';
import { concurrently } from '../concurrently.ts';
import { noise } from '../pool/rendering/pictures.ts';
import { startDelivery } from '../service/service.ts';
import { sampleProcesses } from '../soak/processes.ts';
import { until } from '../until.ts';
import { count, isLong, rateOf } from './run.ts';

/** Misses; 100,000 took three minutes on two cores. */
const misses = isLong ? count : 2_000;
const clients = 16;
/** Transform timeout. Small images take a few ms. */
const timeoutMs = 400;

const skip = process.platform !== 'linux' && 'descriptors are read from /proc';

/** Returns a process's open files; none if it has ended. */
async function openFiles(pid: number): Promise<string[]> {
  const folder = `/proc/${pid}/fd`;
  const descriptors = await readdir(folder).catch(() => []);
  const files = descriptors.map((descriptor) =>
    readlink(`${folder}/${descriptor}`).catch(() => null),
  );
  return (await Promise.all(files)).filter((file) => file !== null);
}

t.test(
  'closes every descriptor after misses, aborts, timeouts and kills',
  { skip, timeout: 3_600_000 },
  async (t) => {
    const { service, origin, project } = await startDelivery(t, {
      environment: { SERVICE_TRANSFORM_TIMEOUT_MS: String(timeoutMs) },
    });
    const small = await noise(120, 120).jpeg().toBuffer();
    const svg =
      '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><path d="M0 0h9v9z"/></svg>';
    origin.serve('/small.jpg', small);
    origin.serve('/short.jpg', small.subarray(0, small.length / 2));
    origin.serve('/slow.jpg', await noise(4_000, 4_000).jpeg().toBuffer());
    origin.serve('/drawing.svg', (_, response) => {
      response.setHeader('content-type', 'image/svg+xml').end(svg);
    });
    const { pid = 0 } = service.process;
    const image = (path: string, query: string) =>
      `/img/${encodeURIComponent(origin.url + path)}?project=${project}&${query}`;
    const killProcess = async () => {
      const all = await sampleProcesses(pid, null);
      const child = all.find(({ role }) => role === 'transform process');
      if (child !== undefined) process.kill(child.pid, 'SIGKILL');
    };

    const statuses = new Map<string, number>();
    const agent = new Agent({ keepAlive: true, maxSockets: clients });
    const request = (target: string, leaveAfterMs: number | null = null) =>
      new Promise<void>((resolve) => {
        const end = (status: string) => {
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
          resolve();
        };
        const sent = get(service.url + target, { agent }, (response) => {
          response.resume().once('end', () => end(String(response.statusCode)));
          response.once('error', () => end('aborted'));
        });
        sent.once('error', () => end('aborted'));
        if (leaveAfterMs !== null) setTimeout(() => sent.destroy(), leaveAfterMs);
      });
    /** Decodes rasters at a half, from files in memory. */
    const run = async (kind: string, index: number) => {
      const source = `?${kind}${index}`;
      if (index % 1_000 === 7)
        return request(image(`/slow.jpg${source}`, 'w=1900&blur=20&fmt=webp'));
      if (index % 200 === 9) {
        const drawn = request(image(`/drawing.svg${source}`, 'w=20&fmt=png'));
        await killProcess();
        return drawn;
      }
      if (index % 20 === 3) return request(image(`/short.jpg${source}`, 'w=50&fmt=webp'));
      const leaves = index % 10 === 5 ? index % 7 : null;
      return request(image(`/small.jpg${source}`, 'w=50&fmt=jpeg'), leaves);
    };
    const runMany = async (kind: string, many: number) => {
      const show = rateOf(kind);
      const indices = Array.from({ length: many }, (_, index) => index);
      await concurrently(clients, indices, async (index) => {
        await run(kind, index);
        show(index);
      });
      agent.destroy();
    };
    const used = async () => {
      const [frontEnd = 0] = service.frontEnds();
      return { primary: (await openFiles(pid)).length, frontEnd: await openFiles(frontEnd) };
    };

    await runMany('warm-up', 1_050);
    // Timeouts end threads, which start again only while other threads are busy.
    const indices = Array.from({ length: 400 }, (_, index) => index);
    await concurrently(clients, indices, (index) =>
      request(image(`/small.jpg?thread${index}`, 'w=50&fmt=jpeg')),
    );
    agent.destroy();
    // The service keeps connections to the origin and transform processes for a while.
    let before = await used();
    await until('connections are closed', async () => {
      before = await used();
      return before.frontEnd.filter((file) => file.startsWith('socket:')).length < clients;
    });
    statuses.clear();
    await runMany('misses', misses);
    t.comment(JSON.stringify(Object.fromEntries(statuses)));
    for (const status of ['200', '422', '504', 'aborted']) t.ok(statuses.get(status), status);
    const after = await until('descriptors are closed', async () => {
      const now = await used();
      const isAsBefore =
        now.primary <= before.primary && now.frontEnd.length <= before.frontEnd.length;
      return isAsBefore && now;
    });
    t.same(
      after.frontEnd.filter((file) => file.startsWith('/dev/shm/')),
      [],
    );
  },
);
