import { MongoBackend } from '@agendajs/mongo-backend';
import { Agenda } from 'agenda';
import { MongoClient } from 'mongodb';
import t, { type Test } from 'tap';
import { startEmbeddedStore } from '../../../store/embedded/server.ts';
import * as supported from '../../../store/embedded/supported.ts';
import { startAdmin } from '../../service/admin.ts';
import { picture, startTestOrigin } from '../../service/origin.ts';
import { json, startService } from '../../service/service.ts';
import { startWorker } from '../../service/worker/worker.ts';
import { until } from '../../until.ts';
import { startRecorder } from './recorder.ts';
import { shortFolder } from './stores.ts';

const rootKey = 'sk_root-key-of-the-recording';
/** More jobs than a first batch holds. */
const jobCount = 120;

/** Starts the built service on an embedded store behind a recorder. */
async function startRecorded(t: Test) {
  const dataDir = shortFolder(t);
  const store = await startEmbeddedStore(dataDir);
  t.teardown(() => store.close());
  // Connect directly to the store, so that these commands stay unrecorded.
  const client = await MongoClient.connect(store.url);
  t.teardown(() => client.close());
  const { port, recording } = await startRecorder(t, decodeURIComponent(new URL(store.url).host));
  const url = `mongodb://127.0.0.1:${port}/recorded`;
  const environment = {
    SERVICE_MONGODB_URL: url,
    SERVICE_ROOT_API_KEY: rootKey,
    SERVICE_PROCESSES: '1',
    SERVICE_POOL_THREADS: '1',
  };
  return { service: await startService(t, { environment, dataDir }), client, recording, url };
}

t.test('supports exactly the commands that clients send', async (t) => {
  const { service, client, recording, url } = await startRecorded(t);
  const origin = await startTestOrigin(t);
  origin.serve('/a.jpg', await picture(40, 30));
  const ask = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${rootKey}`, 'content-type': 'application/json' };
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    const response = await fetch(path.startsWith('/') ? service.url + path : path, init);
    t.ok(response.ok, `${method} ${path} ${response.status}`);
    return json(response);
  };
  const api = '/api/sdk/v1/projects';
  const { project } = await ask('POST', api, { name: 'Shop', origin: origin.url });
  const own = `${api}/${project.id}`;
  await ask('PATCH', `${own}/settings`, { defaultDpr: 2, maxWidth: 500 });
  await ask('POST', `${own}/domains`, { host: 'b.example' });
  await ask('DELETE', `${own}/domains?host=b.example`);
  await ask('PUT', `${own}/presets/card`, { parameters: { w: 400 } });
  await ask('DELETE', `${own}/presets/card`);
  for (const path of [api, own, `${own}/configuration`, '/api/health']) await ask('GET', path);
  const image = `/img/${encodeURIComponent(`${origin.url}/a.jpg`)}?project=${project.id}&w=20`;
  t.equal((await fetch(service.url + image)).status, 200);

  const admin = startAdmin(t, service);
  const [keyId = ''] = (await admin('keys', 'create', '--root')).split(/\s+/);
  const org = (await admin('orgs', 'create', 'Other')).trim();
  for (const command of [
    ['keys', 'list'],
    ['keys', 'revoke', keyId],
    ['orgs', 'access', org, 'off'],
    ['orgs', 'list'],
    ['projects', 'sign', project.id],
    ['projects', 'sign', project.id, '--off'],
    ['projects', 'list'],
    ['projects', 'create', '--name', 'Two', '--origin', origin.url],
  ]) {
    await admin(...command);
  }

  const worker = await startWorker(t, service, { SERVICE_LOG_LEVEL: 'debug' });
  await worker.untilLogged('worker ready');
  await ask('POST', `${own}/prewarm`, { src: `${origin.url}/a.jpg`, widths: [30], dpr: 2 });
  await worker.untilLogged('source prewarmed');
  await ask('POST', `${own}/prewarm`, { src: `${origin.url}/gone.jpg` });
  await worker.untilLogged('prewarming source failed');
  await ask('GET', `${worker.url}/health/details`);

  const jobs = client.db('recorded').collection('jobs');
  const { _id, ...stored } = (await jobs.findOne({ 'data.source': `${origin.url}/a.jpg` })) ?? {};
  await Promise.all(
    Array.from({ length: jobCount }, () => jobs.insertOne({ ...stored, name: 'other' })),
  );
  const workbench = `${worker.url}/workbench/api`;
  const jobIds = [String(_id)];
  await ask('GET', `${workbench}?job=prewarm&state=completed`);
  await ask('GET', `${workbench}?q=PRE.&skip=10&limit=150`);
  await ask('GET', `${workbench}?job=other&skip=1&limit=110`);
  await ask('GET', `${workbench}/stats?fullDetails=true`);
  await ask('POST', `${workbench}/jobs/requeue`, { jobIds });
  await worker.untilLogged('source prewarmed', 2);
  await ask('POST', `${workbench}/jobs/retry`, { jobIds });
  await worker.untilLogged('source prewarmed', 3);
  await ask('POST', `${workbench}/jobs/pause`, { jobIds });
  await ask('POST', `${workbench}/jobs/resume`, { jobIds });
  const job = { jobName: 'other', jobData: { list: [1.5, {}] } };
  for (const schedule of [
    {},
    { jobSchedule: 'in 1 hour' },
    { jobRepeatEvery: '1 hour' },
    { jobRepeatEvery: '2 hours' },
  ]) {
    await ask('POST', `${workbench}/jobs/create`, { ...job, ...schedule });
  }
  await ask('POST', `${workbench}/jobs/delete`, { jobIds });

  t.equal(await worker.end('SIGTERM'), 0);

  // Use Agenda alone, not the service's repository.
  const agenda = new Agenda({ backend: new MongoBackend({ address: url }) });
  agenda.define('third', async () => {});
  await agenda.start();
  await until('it has polled for jobs', () => recording.queryOperators.has('$or'));
  await agenda.stop();

  // Use the driver alone: it polls the server, normally every ten seconds, and kills a cursor that
  // the client does not read to the end.
  const reader = await MongoClient.connect(url, { heartbeatFrequencyMS: 500 });
  await until('it has polled the server', () => recording.fields.has('hello.hello'));
  for await (const job of reader.db('recorded').collection('jobs').find()) {
    t.ok(job);
    break;
  }
  await reader.close();
  t.equal(await service.end('SIGTERM'), 0);

  const same = (found: Iterable<string>, expected: Iterable<string>, what: string) =>
    t.same([...found].sort(), [...expected].sort(), what);
  same(recording.messages, ['OP_MSG, flags 0, section 0', 'OP_QUERY'], 'messages');
  same(recording.fields, supportedFields(), 'commands and their arguments');
  same(recording.queryOperators, supported.queryOperators, 'query operators');
  same(recording.updateOperators, supported.updateOperators, 'update operators');
  same(recording.pipelineOperators, supported.pipelineOperators, 'stages and accumulators');
  same(recording.types, supported.bsonTypes, 'types of values');
  t.same(recording.rejections, [], 'nothing was rejected');
});

/** Returns the supported fields in the form of a recording. */
function supportedFields(): string[] {
  const commands = Object.entries(supported.commandShapes).flatMap(([command, shape]) =>
    [...Object.keys(shape), ...(command === 'ismaster' ? [] : ['$db'])].map(
      (field) => `${command}.${field}`,
    ),
  );
  const statements = Object.entries(supported.statementShapes).flatMap(([argument, shape]) =>
    Object.keys(shape).map((field) => `${argument}.${field}`),
  );
  return [...commands, ...statements];
}
