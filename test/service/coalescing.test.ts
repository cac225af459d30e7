import t, { type Test } from 'tap';
import { until } from '../until.ts';
import { earlierRequestsReceived, get, held } from './held-reply.ts';
import { picture } from './origin.ts';
import { type Delivery, startDelivery } from './service.ts';

const environment = { SERVICE_PROCESSES: '2', SERVICE_LOG_LEVEL: 'debug' };

/** Sends 200 requests for an uncached variant to two processes, which must render it once. */
async function rendersOnce(t: Test, { service, origin, image }: Delivery): Promise<void> {
  const source = held(await picture(1600, 1200));
  origin.serve('/a.jpg', source.reply);
  const url = service.url + image('/a.jpg', 'w=300&fmt=webp');
  const requests = Array.from({ length: 200 }, () => get(url));
  await Promise.all(requests.map(({ sent }) => sent));
  await earlierRequestsReceived(service);
  source.release();
  const responses = await Promise.all(requests.map(({ response }) => response));
  t.ok(responses.every(({ status }) => status === 200));
  t.equal(new Set(responses.map(({ body }) => body.toString('base64'))).size, 1);
  t.equal(origin.requests.get('/a.jpg'), 1, 'one request to the origin');
  const served = await until('all responses are logged', () => {
    const lines = service.log.filter(
      ({ msg, path, status }) =>
        msg === 'request' && String(path).startsWith('/img/') && status === 200,
    );
    return lines.length === requests.length && lines;
  });
  t.equal(new Set(served.map((line) => line['pid'])).size, 2, 'both processes served requests');
  // A process logs its render before its requests.
  const rendered = service.log.filter((line) => line.msg === 'render done');
  t.equal(rendered.length, 1, 'one transform');
}

t.test('renders an image once in two processes with no disk cache', async (t) => {
  const settings = { ...environment, SERVICE_DISK_CACHE_BYTES: '0' };
  await rendersOnce(t, await startDelivery(t, { environment: settings }));
});

t.test('coalesces in two processes with a disk cache', async (t) => {
  const delivery = await startDelivery(t, { environment });
  const { service, origin, image } = delivery;

  await t.test('passes the leader’s error to a follower', async (t) => {
    const source = held((_, response) => void response.writeHead(500).end());
    origin.serve('/broken.jpg', source.reply);
    const url = service.url + image('/broken.jpg', 'w=300');
    const requests = Array.from({ length: 40 }, () => get(url));
    await Promise.all(requests.map(({ sent }) => sent));
    await earlierRequestsReceived(service);
    source.release();
    const responses = await Promise.all(requests.map(({ response }) => response));
    const codes = responses.map(({ body }) => JSON.parse(body.toString()).code);
    t.same([...new Set(codes)], ['source_unreachable']);
    t.equal(origin.requests.get('/broken.jpg'), 1, 'no follower fetched it');
  });

  await t.test('renders an image once', (t) => rendersOnce(t, delivery));

  await t.test('elects another leader when the leading process dies', async (t) => {
    const body = await picture(400, 300);
    /** Returns the outcomes of requests for a new image if the leading process dies. */
    const outcomesAt = async (path: string) => {
      let calls = 0;
      origin.serve(path, (_, response) => {
        calls += 1;
        // The first fetch never ends, so its leader has to die.
        if (calls > 1) response.end(body);
      });
      const before = service.log.length;
      const url = service.url + image(path, 'w=300');
      const requests = Array.from({ length: 30 }, () => get(url));
      const outcomes = requests.map(({ response }) =>
        response.then(
          ({ status }) => status,
          () => 'connection lost',
        ),
      );
      const leader = await service.waitForLog(
        (line) => line.msg === 'render started' && service.log.indexOf(line) >= before,
      );
      await Promise.all(requests.map(({ sent }) => sent));
      await earlierRequestsReceived(service);
      process.kill(Number(leader['pid']), 'SIGKILL');
      return Promise.all(outcomes);
    };
    const listening = () => service.log.filter(({ msg }) => msg === 'HTTP server listening').length;
    let ended = await outcomesAt('/b0.jpg');
    // The system can give all connections to the dying process.
    for (let draw = 1; draw < 5 && !ended.includes(200); draw += 1) {
      t.same([...new Set(ended)], ['connection lost']);
      await until('two processes listen again', () => listening() === 2 + draw);
      ended = await outcomesAt(`/b${draw}.jpg`);
    }
    t.ok(ended.includes(200), 'requests at the other process are served');
    t.ok(ended.every((outcome) => outcome === 200 || outcome === 'connection lost'));
  });
});
