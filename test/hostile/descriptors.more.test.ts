import { readdir, readlink } from 'node:fs/promises';
import { Agent, get } from 'node:http';
import t from 'tap';
import { concurrently } from '../concurrently.ts';
import { noise } from '../pool/rendering/pictures.ts';
import { startDelivery } from '../service/service.ts';
import { sampleProcesses } from '../soak/processes.ts';
import { until } from '../until.ts';
import { count, createRateReport, isLong, progress } from './run.ts';

/**
 * Sends thousands of misses, including aborted, damaged and slow requests and killed processes, and
 * expects no open descriptor. `npm run test:hostile -- descriptors --count 100000` sends more.
 */

const misses = isLong ? count : 2_000;
/** Contains every kind of miss. */
const warmUp = 1_050;
const clients = 16;
/** Longer than a thread loads on a busy machine: a thread that ends while loading leaves files open. */
const transformTimeoutMs = 5_000;

const skip = process.platform !== 'linux' && 'descriptors are read from /proc';

/** Returns a process's open files; none if it has ended. */
async function openFiles(pid: number): Promise<string[]> {
  const folder = `/proc/${pid}/fd`;
  const descriptors = await readdir(folder).catch(() => []);
  const files = descriptors.map((name) => readlink(`${folder}/${name}`).catch(() => null));
  return (await Promise.all(files)).filter((file) => file !== null);
}

const isSocket = (file: string): boolean => file.startsWith('socket:');

interface Used {
  /** Without sockets, because connections come and go. */
  readonly primary: number;
  readonly frontEnds: readonly number[];
  readonly inFrontEnds: readonly string[];
  readonly resident: readonly string[];
}

const countFiles = ({ inFrontEnds }: Used): number =>
  inFrontEnds.filter((file) => !isSocket(file)).length;

t.test('misses leave no descriptor', { skip, timeout: 7_200_000 }, async (t) => {
  const { service, origin, project } = await startDelivery(t, {
    environment: { SERVICE_TRANSFORM_TIMEOUT_MS: String(transformTimeoutMs) },
  });
  const small = await noise(120, 120).jpeg().toBuffer();
  origin.serve('/small.jpg', small);
  const png = await noise(120, 120).png().toBuffer();
  origin.serve('/damaged.png', png.subarray(0, png.length / 2));
  origin.serve('/slow.jpg', await noise(4_000, 4_000).jpeg().toBuffer());
  origin.serve('/drawing.svg', (_, response) => {
    const svg =
      '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><path d="M0 0h9v9z"/></svg>';
    response.setHeader('content-type', 'image/svg+xml').end(svg);
  });
  const { pid = 0 } = service.process;
  const killTransformProcess = async () => {
    const processes = await sampleProcesses(pid, null);
    const transforming = processes.find(({ role }) => role === 'transform process');
    if (transforming !== undefined) process.kill(transforming.pid, 'SIGKILL');
  };

  const statuses = new Map<string, number>();
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  const request = (path: string, query: string, leaveAfterMs: number | null = null) =>
    new Promise<void>((resolve) => {
      const target = `/img/${encodeURIComponent(origin.url + path)}?project=${project}&${query}`;
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
  /** Decodes the small image at a half, from a file in memory. */
  const miss = async (index: number, distinct: string) => {
    if (index % 1_000 === 7) return request(`/slow.jpg?${distinct}`, 'w=3800&median=15&fmt=webp');
    if (index % 200 === 9) {
      const drawn = request(`/drawing.svg?${distinct}`, 'w=20&fmt=png');
      await killTransformProcess();
      return drawn;
    }
    if (index % 20 === 3) return request(`/damaged.png?${distinct}`, 'w=50&fmt=webp');
    const leaveAfterMs = index % 10 === 5 ? index % 7 : null;
    return request(`/small.jpg?${distinct}`, 'w=50&fmt=jpeg', leaveAfterMs);
  };
  const send = async (phase: string, length: number) => {
    const show = createRateReport(phase);
    await concurrently(clients, [...Array(length).keys()], async (index) => {
      await miss(index, `${phase}-${index}`);
      show(index);
    });
    agent.destroy();
  };
  const used = async (): Promise<Used> => {
    const frontEnds = service.frontEnds();
    const resident = (await sampleProcesses(pid, null)).map(
      ({ role, rssBytes }) => `${role} ${Math.round(rssBytes / 2 ** 20)} MiB`,
    );
    return {
      primary: (await openFiles(pid)).filter((file) => !isSocket(file)).length,
      frontEnds,
      inFrontEnds: (await Promise.all(frontEnds.map(openFiles))).flat(),
      resident,
    };
  };
  const show = ({ primary, frontEnds, inFrontEnds, resident }: Used) => {
    const processes = `front ends ${frontEnds.join(', ')}; ${resident.join(', ')}`;
    const text = `descriptors: ${primary} and ${inFrontEnds.length}; ${processes}`;
    t.comment(text);
    progress(text);
  };

  await send('warm-up', warmUp);
  // Connections, idle threads and transform processes end within about a minute.
  const settled = (atMost: Used | null) =>
    until('descriptors are closed', async () => {
      const now = await used();
      const sockets = now.inFrontEnds.filter(isSocket).length;
      const isAsBefore =
        atMost === null || (now.primary <= atMost.primary && countFiles(now) <= countFiles(atMost));
      return sockets < 2 * clients && isAsBefore && now;
    });
  const before = await settled(null);
  show(before);
  statuses.clear();
  await send('misses', misses);
  t.comment(JSON.stringify(Object.fromEntries(statuses)));
  for (const status of ['200', '422', '504', 'aborted']) t.ok(statuses.get(status), status);
  const after = await settled(before);
  show(after);
  // Unnamed files; the data folder of tests can be there too.
  t.same(
    after.inFrontEnds.filter((file) => file.startsWith('/dev/shm/#')),
    [],
  );
});
