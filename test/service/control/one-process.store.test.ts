import t, { type Test } from 'tap';
import { httpServers } from '../http-servers.ts';
import { bodies } from './bodies.ts';
import { brokenUploads, unwantedBodies } from './connections.ts';
import { type Control, startControl } from './control.ts';
import { keys } from './keys.ts';
import { operations } from './operations.ts';
import { paths } from './paths.ts';
import { prewarm } from './prewarm.ts';
import { properties } from './properties.ts';
import { statuses } from './statuses.ts';

/** What is a matter of one process, in one service that they share, as its start is dear. */
const behaviours = {
  'the life of a project': operations,
  'every refusal has its status and code, in the order of the checks': statuses,
  'a key is good for what it was issued for': keys,
  'what is no operation is 404 with a body, whatever the method and the path': paths,
  'a body that is not exactly right is 400, and nothing is stored': bodies,
  'a body that is not wanted does not hurt what comes after it': unwantedBodies,
  'an upload that breaks off leaves nothing behind': brokenUploads,
  'an accepted prewarming is a job for each source, queued once while it waits': prewarm,
  'whatever is sent, the answer is documented, and what was accepted reads back': properties,
};

/** Those that depend on the HTTP engine: bodies, methods, and what a connection does after them. */
const behavioursOfEngine = { paths, bodies, unwantedBodies, brokenUploads };

async function run(
  t: Test,
  engine: string | undefined,
  all: Readonly<Record<string, (t: Test, control: Control) => Promise<void>>>,
): Promise<void> {
  const environment = engine === undefined ? {} : { SERVICE_HTTP_ENGINE: engine };
  const control = await startControl(t, environment);
  for (const [name, behaviour] of Object.entries(all)) {
    await t.test(name, (t) => behaviour(t, control));
  }
  t.same(
    control.service.log.filter(({ level }) => Number(level) >= 40),
    [],
    'none of it is trouble',
  );
}

t.test('the control plane', (t) => run(t, undefined, behaviours));
for (const engine of httpServers.slice(1)) {
  t.test(`the control plane (${engine})`, (t) => run(t, engine, behavioursOfEngine));
}
