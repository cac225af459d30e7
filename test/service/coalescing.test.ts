import t from 'tap';
import { picture, startTestOrigin } from './origin.ts';
import { json, startService } from './service.ts';

for (const disk of ['on', 'off']) {
  t.test(`200 requests for one cold variant over 2 processes, disk cache ${disk}`, async (t) => {
    const origin = await startTestOrigin(t);
    const body = await picture(1600, 1200);
    origin.serve('/a.jpg', async (_, response) => {
      // Long enough for all 200 to be there before the first could be answered.
      await new Promise((wake) => setTimeout(wake, 400));
      response.end(body);
    });
    const service = await startService(t, {
      environment: {
        SERVICE_PROCESSES: '2',
        SERVICE_LOG_LEVEL: 'debug',
        ...(disk === 'off' ? { SERVICE_DISK_CACHE_BYTES: '0' } : {}),
      },
    });
    const project = await service.project();
    const url = `${service.url}/img/${origin.url}/a.jpg?project=${project}&w=300&fmt=webp`;
    const answers = await Promise.all(
      Array.from({ length: 200 }, async () => {
        const response = await fetch(url, { headers: { connection: 'close' } });
        return { status: response.status, body: Buffer.from(await response.arrayBuffer()) };
      }),
    );
    t.ok(answers.every(({ status }) => status === 200));
    t.equal(new Set(answers.map((answer) => answer.body.toString('base64'))).size, 1);
    t.equal(origin.requests.get('/a.jpg'), 1, 'one request to the origin');
    const rendered = service.log.filter((line) => line.msg === 'render done');
    t.equal(rendered.length, 1, 'one transform');
    const served = service.log.filter((line) => line.msg === 'request' && line['status'] === 200);
    t.equal(new Set(served.map((line) => line['pid'])).size, 2, 'both processes had their share');
  });
}

t.test('a follower gets the leader’s error', async (t) => {
  const origin = await startTestOrigin(t);
  origin.serve('/a.jpg', async (_, response) => {
    await new Promise((wake) => setTimeout(wake, 300));
    response.writeHead(500).end();
  });
  const service = await startService(t, { environment: { SERVICE_PROCESSES: '2' } });
  const project = await service.project();
  const url = `${service.url}/img/${origin.url}/a.jpg?project=${project}&w=300`;
  const statuses = await Promise.all(
    Array.from({ length: 40 }, async () => {
      const response = await fetch(url, { headers: { connection: 'close' } });
      return (await json(response)).code;
    }),
  );
  t.same([...new Set(statuses)], ['source_unreachable']);
  t.ok((origin.requests.get('/a.jpg') ?? 0) <= 2, 'at most one request a process');
});

t.test('when the leading process dies, another leads', async (t) => {
  const origin = await startTestOrigin(t);
  const body = await picture(400, 300);
  let calls = 0;
  origin.serve('/a.jpg', (_, response) => {
    calls += 1;
    // The first fetch never ends: whoever leads it has to die.
    if (calls > 1) response.end(body);
  });
  const service = await startService(t, {
    environment: { SERVICE_PROCESSES: '2', SERVICE_LOG_LEVEL: 'debug' },
  });
  const project = await service.project();
  const url = `${service.url}/img/${origin.url}/a.jpg?project=${project}&w=300`;
  const requests = Array.from({ length: 30 }, () =>
    fetch(url, { headers: { connection: 'close' } }).then(
      (response) => response.status,
      () => 'connection lost',
    ),
  );
  const leader = await service.waitForLog((line) => line.msg === 'render begun');
  await new Promise((wake) => setTimeout(wake, 300));
  process.kill(Number(leader['pid']), 'SIGKILL');
  const outcomes = await Promise.all(requests);
  const served = outcomes.filter((outcome) => outcome === 200).length;
  t.ok(served > 0, 'those at the other process are served');
  t.ok(outcomes.every((outcome) => outcome === 200 || outcome === 'connection lost'));
});
