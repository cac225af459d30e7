import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import t from 'tap';
import { picture, startTestOrigin } from './origin.ts';
import { json, startService, until } from './service.ts';

/** Sends a request, and leaves after a while or when told to. */
function leave(port: number, target: string, afterMs: number) {
  const socket = connect(port, '127.0.0.1', () => {
    socket.write(`GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`);
  });
  const timer = setTimeout(() => socket.resetAndDestroy(), afterMs);
  socket.on('error', () => {});
  /** Resolves when the connection is gone. */
  const left = new Promise<void>((resolve) => {
    socket.on('close', () => {
      clearTimeout(timer);
      resolve();
    });
  });
  return { left, leave: () => socket.resetAndDestroy() };
}

const service = await startService(t);
const project = await service.project();

t.test('1,000 clients that leave in the middle leave nothing behind', async (t) => {
  const origin = await startTestOrigin(t);
  const body = await picture(800, 600);
  let open = 0;
  let cancelled = 0;
  origin.serve('/slow.jpg', async (_, response) => {
    open += 1;
    response.once('close', () => {
      open -= 1;
      if (!response.writableFinished) cancelled += 1;
    });
    await sleep(3_000);
    if (!response.destroyed) response.end(body);
  });
  origin.serve('/fast.jpg', body);
  const img = (path: string, more: string) =>
    `/img/${encodeURIComponent(origin.url + path)}?project=${project}&${more}`;
  const figures = async () => (await json(await fetch(`${service.url}/api/health`))).checks;

  // One for sure whose fetch is under way when it leaves; how far the others come is chance.
  const early = leave(service.port, img('/slow.jpg?early', 'w=90'), 30_000);
  await until('the first fetch is under way', () => open === 1);
  early.leave();
  await until('it is cancelled', () => cancelled === 1);

  const clients: Promise<void>[] = [];
  for (let i = 0; i < 1_000; i++) {
    // A few hundred sources and variants: joined flights, waiting transforms, single ones.
    const target =
      i % 2 === 0
        ? img(`/slow.jpg?${i % 40}`, `w=${100 + (i % 3)}`)
        : img('/fast.jpg', `w=${200 + i}&fmt=avif`);
    clients.push(leave(service.port, target, 5 + (i % 150)).left);
    if (i % 50 === 49) await sleep(20);
  }
  await Promise.all(clients);

  let queue = await figures().then((checks) => checks.transformQueue);
  const deadline = Date.now() + 20_000;
  while ((queue.active > 0 || queue.queued > 0 || open > 0) && Date.now() < deadline) {
    await sleep(100);
    queue = await figures().then((checks) => checks.transformQueue);
  }
  t.equal(queue.active, 0, 'no transform runs');
  t.equal(queue.queued, 0, 'none waits');
  t.equal(open, 0, 'no fetch goes on');
  t.equal(queue.misses, 0, 'no miss is left');
  t.equal(queue.fetching, 0, 'no place for a fetch is taken');

  const after = await fetch(service.url + img('/fast.jpg', 'w=333'));
  t.equal(after.status, 200, 'and the service works');
  t.equal(
    service.log.filter((line) => Number(line['level']) >= 50).length,
    0,
    'no error was logged',
  );
});

t.test('one of two clients leaves: the other gets its picture', async (t) => {
  const origin = await startTestOrigin(t);
  const body = await picture(800, 600);
  origin.serve('/a.jpg', async (_, response) => {
    await sleep(600);
    response.end(body);
  });
  const target = `/img/${origin.url}/a.jpg?project=${project}&w=100`;
  const leaver = leave(service.port, target, 200);
  await sleep(50);
  const stayer = fetch(service.url + target);
  await leaver.left;
  t.equal((await stayer).status, 200);
  t.equal(origin.requests.get('/a.jpg'), 1);
});

t.test('a client that reads slowly gets all of it', async (t) => {
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
