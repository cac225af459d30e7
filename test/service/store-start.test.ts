import t, { type Test } from 'tap';
import { storeLink } from '../server/store-link.ts';
import { until } from '../until.ts';
import { picture, startTestOrigin } from './origin.ts';
import { launch, type Service } from './service.ts';

const awayMessages = (service: Service, part: string) =>
  service.log.filter(
    (line) => line['part'] === part && /^the store is (still )?unavailable/.test(line.msg),
  );

/** A service that was launched while the store was away, and a picture for it. */
async function launchedTooEarly(t: Test) {
  const link = await storeLink(t);
  const { host } = new URL(link.url.replace(/^mongodb/, 'http'));
  await link.cut();
  const origin = await startTestOrigin(t);
  origin.serve('/a.jpg', await picture(40, 30));
  const service = await launch(t, {
    environment: { SERVICE_MONGODB_URL: link.url, SERVICE_POOL_THREADS: '1' },
  });
  return { link, host, origin, service };
}

t.test('a service that starts while the store is away', async (t) => {
  const { link, host, origin, service } = await launchedTooEarly(t);
  const cause = `${host} refuses connections (ECONNREFUSED)`;

  await t.test('says why, waits, and serves when the store is there', async (t) => {
    await until('the log says so', () => awayMessages(service, 'primary').length > 0);
    t.equal(
      awayMessages(service, 'primary')[0]?.msg.split('; ')[0],
      `the store is unavailable: ${cause}`,
    );
    await until('a sentence', () => service.stderr().endsWith('\n'));
    t.equal(
      service.stderr(),
      `The store is unavailable: ${cause}. The service starts when it answers.\n`,
    );
    service.primary.kill('SIGHUP');
    await link.mend();
    await service.waitForLog(({ msg }) => msg === 'the service is ready');
    t.equal(awayMessages(service, 'primary').length, 1, 'said once');
    t.equal(
      service.log.filter(({ msg }) => msg === 'the store is available').length,
      1,
      'and its end',
    );
    t.equal((await fetch(`${service.url}/api/health`)).status, 200);
  });

  await t.test('a front end that is replaced while the store is away delivers later', async (t) => {
    const id = await service.project();
    const image = async () => {
      const answer = await fetch(`${service.url}/img/${origin.url}/a.jpg?project=${id}`);
      await answer.arrayBuffer();
      return answer.status;
    };
    t.equal(await image(), 200);
    await link.cut();
    const [killed = 0] = service.frontEnds();
    process.kill(killed, 'SIGKILL');
    await until('a replacement', () => service.frontEnds().some((pid) => pid !== killed));
    t.equal((await fetch(`${service.url}/api/health`)).status, 503);
    t.equal(await image(), 500, 'what it cannot know yet');
    await until('the log says so', () => awayMessages(service, 'front-end').length > 0);
    t.match(awayMessages(service, 'front-end')[0]?.msg, cause);

    await link.mend();
    await until('the image', async () => (await image()) === 200);
    t.equal((await fetch(`${service.url}/api/health`)).status, 200);
    const [frontEnd] = service.frontEnds();
    const own = service.log.filter(({ pid }) => pid === frontEnd);
    t.equal(own.filter(({ msg }) => msg === 'the store is available').length, 1);
    t.equal(awayMessages(service, 'front-end').length, 1, 'said once');
    t.notMatch(service.stdout(), /topology is closed/i);
  });
});

t.test('refused credentials are told in words, and SIGTERM ends the wait', async (t) => {
  const link = await storeLink(t);
  const url = link.url.replace('//', '//somebody:s3cret@');
  const service = await launch(t, {
    environment: { SERVICE_MONGODB_URL: url },
    dataDir: t.testdir(),
  });
  await until('the log says so', () => awayMessages(service, 'primary').length > 0);
  t.match(awayMessages(service, 'primary')[0]?.msg, 'authentication failed: ');
  t.equal(await service.end('SIGTERM'), 0);
  t.notMatch(service.stdout() + service.stderr(), /s3cret|somebody/);
});

t.test('a URL that is none is a clear error', async (t) => {
  const url = 'mongodb://somebody:s3/cret@127.0.0.1/';
  const service = await launch(t, {
    environment: { SERVICE_MONGODB_URL: url },
    dataDir: t.testdir(),
  });
  t.equal(await service.end('SIGCONT'), 1);
  t.match(service.stderr(), /^SERVICE_MONGODB_URL cannot be used: .*\.\n$/);
  t.notMatch(service.stdout() + service.stderr(), /s3|cret@/);
});

t.test('a command tries once and says why not', async (t) => {
  const { link, host, service } = await launchedTooEarly(t);
  await service.admin('projects', 'list').then(
    () => t.fail('there is no store'),
    ({ code, stderr }) => {
      t.equal(code, 1);
      t.equal(stderr, `The store is unavailable: ${host} refuses connections (ECONNREFUSED).\n`);
    },
  );
  await link.mend();
});
