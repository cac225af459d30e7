import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import sharp from 'sharp';
import { more } from '../extended.ts';
import { until } from '../until.ts';
import { startFrontEnd } from './front-end.ts';
import { earlierRequestsReceived, get, held } from './held-reply.ts';
import { defaultHttpServer, eachHttpServer, httpServers } from './http-servers.ts';
import { picture } from './origin.ts';
import { json } from './service.ts';

/** Sends a request and disconnects after a time. */
function disconnect(port: number, target: string, afterMs: number) {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  const sent = new Promise<void>((resolve) => {
    socket.once('connect', () => {
      socket.write(`GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`, () => resolve());
      setTimeout(() => socket.resetAndDestroy(), afterMs);
    });
  });
  const closed = new Promise<void>((resolve) => void socket.once('close', () => resolve()));
  return { sent, closed };
}

eachHttpServer(
  'leaves no work and no errors after 1,000 disconnects',
  async (t, { environment }) => {
    const { url, port, origin, project, log, ...service } = await startFrontEnd(t, environment);
    let open = 0;
    let cancelled = 0;
    // The origin never responds: only a cancellation ends these fetches.
    origin.serve('/slow.jpg', (_, response) => {
      open += 1;
      response.once('close', () => {
        open -= 1;
        cancelled += 1;
      });
    });
    origin.serve('/fast.jpg', await picture(800, 600));
    const image = (path: string, query: string) =>
      `/img/${encodeURIComponent(origin.url + path)}?project=${project}&${query}`;

    // The first client certainly disconnects during its fetch. The others' progress is random.
    const early = get(url + image('/slow.jpg?early', 'w=90'));
    const broken = t.rejects(early.response);
    await until('the first fetch is under way', () => open === 1);
    early.leave();
    await broken;
    await until('it is cancelled', () => cancelled === 1);

    const clients: Promise<void>[] = [];
    for (let i = 0; i < 1_000; i++) {
      // Some clients share a fetch. The others start a transform each, and most transforms wait for
      // a thread.
      const target =
        i % 2 === 0
          ? image(`/slow.jpg?${i % 40}`, `w=${100 + (i % 3)}`)
          : image('/fast.jpg', `w=${200 + i}&fmt=avif`);
      const client = disconnect(port, target, 5 + (i % 150));
      clients.push(client.closed);
      if (i % 50 === 49) await client.sent;
    }
    await Promise.all(clients);

    await earlierRequestsReceived({ url, ...service });
    const queue = await until('no transform runs or waits, and no fetch runs', async () => {
      const { transformQueue } = (await json(await fetch(`${url}/api/health`))).checks;
      const { active, queued } = transformQueue;
      return active === 0 && queued === 0 && open === 0 && transformQueue;
    });
    t.equal(queue.misses, 0, 'no miss is left');
    t.equal(queue.fetching, 0, 'no fetch slot is used');

    t.equal((await fetch(url + image('/fast.jpg', 'w=333'))).status, 200, 'the service works');
    t.same(
      log.filter((line) => Number(line['level']) >= 50),
      [],
      'no error was logged',
    );
  },
  more ? httpServers : defaultHttpServer,
);

eachHttpServer(
  'serves other clients during a disconnect or next to a slow client',
  async (t, { environment }) => {
    const service = await startFrontEnd(t, environment);
    const { url, port, origin, image } = service;

    await t.test('delivers an image although another client disconnects', async (t) => {
      const source = held(await picture(800, 600));
      origin.serve('/a.jpg', source.reply);
      const leaving = get(url + image('/a.jpg', 'w=100'));
      const broken = t.rejects(leaving.response);
      await until('the fetch is under way', () => source.waiting === 1);
      const staying = get(url + image('/a.jpg', 'w=100'));
      await staying.sent;
      await earlierRequestsReceived(service);
      leaving.leave();
      await broken;
      await earlierRequestsReceived(service);
      t.equal(source.waiting, 1, 'the fetch continues');
      source.release();
      t.equal((await staying.response).status, 200);
      t.equal(origin.requests.get('/a.jpg'), 1);
    });

    await t.test('delivers the whole body to a slow client', async (t) => {
      const raw = { width: 1_000, height: 1_000, channels: 3 } as const;
      const noise = sharp(randomBytes(3_000_000), { raw });
      origin.serve('/noise.png', await noise.png({ compressionLevel: 1 }).toBuffer());
      const target = image('/noise.png', 'fmt=png');
      const whole = Buffer.from(await (await fetch(url + target)).arrayBuffer());
      t.ok(whole.length > 1_000_000, `${whole.length} bytes are more than the sockets buffer`);

      const received: Buffer[] = [];
      await new Promise<void>((resolve, reject) => {
        const socket = connect(port, '127.0.0.1', () => {
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
      const response = Buffer.concat(received);
      t.ok(response.subarray(response.indexOf('\r\n\r\n') + 4).equals(whole));
    });
  },
);
