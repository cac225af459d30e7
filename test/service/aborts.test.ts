import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import sharp from 'sharp';
import t from 'tap';
import { until } from '../until.ts';
import { get, heard, held } from './held.ts';
import { eachHttpServer, type HttpServerName, httpServers } from './http-servers.ts';
import { picture, startTestOrigin } from './origin.ts';
import { json, type Service, startService } from './service.ts';

/** Sends a request and disconnects after a time. */
function leave(port: number, target: string, afterMs: number) {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  const sent = new Promise<void>((resolve) => {
    socket.once('connect', () => {
      socket.write(`GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`, () => resolve());
      setTimeout(() => socket.resetAndDestroy(), afterMs);
    });
  });
  const left = new Promise<void>((resolve) => void socket.once('close', () => resolve()));
  return { sent, left };
}

const services = new Map<HttpServerName, { service: Service; project: string }>();
for (const name of httpServers) {
  const service = await startService(t, { environment: { SERVICE_HTTP_ENGINE: name } });
  services.set(name, { service, project: await service.project() });
}
function serviceOf(name: HttpServerName): { service: Service; project: string } {
  const found = services.get(name);
  if (found === undefined) throw new Error(`no service with ${name}`);
  return found;
}

eachHttpServer('1,000 disconnects leave no work and no errors', async (t, { name }) => {
  const { service, project } = serviceOf(name);
  const origin = await startTestOrigin(t);
  const body = await picture(800, 600);
  let open = 0;
  let cancelled = 0;
  // Never answered: these fetches end only by cancellation.
  origin.serve('/slow.jpg', (_, response) => {
    open += 1;
    response.once('close', () => {
      open -= 1;
      cancelled += 1;
    });
  });
  origin.serve('/fast.jpg', body);
  const img = (path: string, more: string) =>
    `/img/${encodeURIComponent(origin.url + path)}?project=${project}&${more}`;
  const checks = async () => (await json(await fetch(`${service.url}/api/health`))).checks;

  // One disconnects during its fetch for certain; the progress of the others is random.
  const early = get(service.url + img('/slow.jpg?early', 'w=90'));
  const broken = t.rejects(early.answer);
  await until('the first fetch is under way', () => open === 1);
  early.leave();
  await broken;
  await until('it is cancelled', () => cancelled === 1);

  const clients: Promise<void>[] = [];
  for (let i = 0; i < 1_000; i++) {
    // Shared misses, waiting transforms and single ones.
    const target =
      i % 2 === 0
        ? img(`/slow.jpg?${i % 40}`, `w=${100 + (i % 3)}`)
        : img('/fast.jpg', `w=${200 + i}&fmt=avif`);
    const client = leave(service.port, target, 5 + (i % 150));
    clients.push(client.left);
    if (i % 50 === 49) await client.sent;
  }
  await Promise.all(clients);

  await heard(service);
  const queue = await until('no transform runs or waits, and no fetch runs', async () => {
    const { transformQueue } = await checks();
    const { active, queued } = transformQueue;
    return active === 0 && queued === 0 && open === 0 && transformQueue;
  });
  t.equal(queue.misses, 0, 'no miss is left');
  t.equal(queue.fetching, 0, 'no fetch slot is used');

  const after = await fetch(service.url + img('/fast.jpg', 'w=333'));
  t.equal(after.status, 200, 'the service works');
  t.equal(
    service.log.filter((line) => Number(line['level']) >= 50).length,
    0,
    'no error was logged',
  );
});

eachHttpServer('a client gets its image when another disconnects', async (t, { name }) => {
  const { service, project } = serviceOf(name);
  const origin = await startTestOrigin(t);
  const source = held(await picture(800, 600));
  origin.serve('/a.jpg', source.reply);
  const url = `${service.url}/img/${origin.url}/a.jpg?project=${project}&w=100`;
  const leaver = get(url);
  const broken = t.rejects(leaver.answer);
  await until('the fetch is under way', () => source.waiting === 1);
  const stayer = get(url);
  await stayer.sent;
  await heard(service);
  leaver.leave();
  await broken;
  await heard(service);
  t.equal(source.waiting, 1, 'the fetch continues');
  source.release();
  t.equal((await stayer.answer).status, 200);
  t.equal(origin.requests.get('/a.jpg'), 1);
});

eachHttpServer('a slow client gets the whole body', async (t, { name }) => {
  const { service, project } = serviceOf(name);
  const origin = await startTestOrigin(t);
  const raw = { width: 1_000, height: 1_000, channels: 3 } as const;
  const noise = sharp(randomBytes(3_000_000), { raw });
  origin.serve('/noise.png', await noise.png({ compressionLevel: 1 }).toBuffer());
  const target = `/img/${origin.url}/noise.png?project=${project}&fmt=png`;
  const whole = Buffer.from(await (await fetch(service.url + target)).arrayBuffer());
  t.ok(whole.length > 1_000_000, `${whole.length} bytes are more than the sockets buffer`);

  const received: Buffer[] = [];
  await new Promise<void>((resolve, reject) => {
    const socket = connect(service.port, '127.0.0.1', () => {
      socket.write(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    });
    socket.on('data', (chunk) => {
      received.push(chunk);
      socket.pause();
      setTimeout(() => socket.resume(), 2);
    });
    socket.on('end', resolve);
    socket.on('error', reject);
  });
  const answer = Buffer.concat(received);
  t.same(answer.subarray(answer.indexOf('\r\n\r\n') + 4).equals(whole), true);
});
