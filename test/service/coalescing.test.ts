import t from 'tap';
import { get, heard, held } from './held.ts';
import { picture } from './origin.ts';
import { startDelivery } from './service.ts';

for (const disk of ['on', 'off']) {
  t.test(`200 requests for one cold variant over 2 processes, disk cache ${disk}`, async (t) => {
    const { service, origin, image } = await startDelivery(t, {
      environment: {
        SERVICE_PROCESSES: '2',
        SERVICE_LOG_LEVEL: 'debug',
        ...(disk === 'off' ? { SERVICE_DISK_CACHE_BYTES: '0' } : {}),
      },
    });
    const source = held(await picture(1600, 1200));
    origin.serve('/a.jpg', source.reply);
    const url = service.url + image('/a.jpg', 'w=300&fmt=webp');
    const requests = Array.from({ length: 200 }, () => get(url));
    await Promise.all(requests.map(({ sent }) => sent));
    await heard(service);
    source.release();
    const answers = await Promise.all(requests.map(({ answer }) => answer));
    t.ok(answers.every(({ status }) => status === 200));
    t.equal(new Set(answers.map((answer) => answer.body.toString('base64'))).size, 1);
    t.equal(origin.requests.get('/a.jpg'), 1, 'one request to the origin');
    const rendered = service.log.filter((line) => line.msg === 'render done');
    t.equal(rendered.length, 1, 'one transform');
    const served = service.log.filter(
      ({ msg, path, status }) =>
        msg === 'request' && String(path).startsWith('/img/') && status === 200,
    );
    t.equal(new Set(served.map((line) => line['pid'])).size, 2, 'both processes served requests');
  });
}

t.test('a follower gets the leader’s error', async (t) => {
  const { service, origin, image } = await startDelivery(t, {
    environment: { SERVICE_PROCESSES: '2' },
  });
  const source = held((_, response) => void response.writeHead(500).end());
  origin.serve('/a.jpg', source.reply);
  const url = service.url + image('/a.jpg', 'w=300');
  const requests = Array.from({ length: 40 }, () => get(url));
  await Promise.all(requests.map(({ sent }) => sent));
  await heard(service);
  source.release();
  const answers = await Promise.all(requests.map(({ answer }) => answer));
  const codes = answers.map(({ body }) => JSON.parse(body.toString()).code);
  t.same([...new Set(codes)], ['source_unreachable']);
  t.equal(origin.requests.get('/a.jpg'), 1, 'no follower fetched it');
});

t.test('another process leads when the leading one dies', async (t) => {
  const { service, origin, image } = await startDelivery(t, {
    environment: { SERVICE_PROCESSES: '2', SERVICE_LOG_LEVEL: 'debug' },
  });
  const body = await picture(400, 300);
  let calls = 0;
  origin.serve('/a.jpg', (_, response) => {
    calls += 1;
    // The first fetch never ends, so its leader has to die.
    if (calls > 1) response.end(body);
  });
  const url = service.url + image('/a.jpg', 'w=300');
  const requests = Array.from({ length: 30 }, () => get(url));
  const answers = requests.map(({ answer }) =>
    answer.then(
      ({ status }) => status,
      () => 'connection lost',
    ),
  );
  const leader = await service.waitForLog((line) => line.msg === 'render begun');
  await Promise.all(requests.map(({ sent }) => sent));
  await heard(service);
  process.kill(Number(leader['pid']), 'SIGKILL');
  const outcomes = await Promise.all(answers);
  const served = outcomes.filter((outcome) => outcome === 200).length;
  t.ok(served > 0, 'requests at the other process are served');
  t.ok(outcomes.every((outcome) => outcome === 200 || outcome === 'connection lost'));
});
