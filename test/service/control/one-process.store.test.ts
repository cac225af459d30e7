import t, { type Test } from 'tap';
import { more, propertyRuns } from '../../extended.ts';
import { httpServers } from '../http-servers.ts';
import { bodies } from './bodies.ts';
import { brokenUploads, unwantedBodies } from './connections.ts';
import { type Control, startControl } from './control.ts';
import { keys } from './keys.ts';
import { lists } from './lists.ts';
import { operations } from './operations.ts';
import { parameters } from './parameters.ts';
import { paths } from './paths.ts';
import { properties } from './properties.ts';
import { secrets } from './secrets.ts';
import { statuses } from './statuses.ts';
import { urlMeanings } from './url-meanings.ts';

/** Behaviour of one process; all share one service, because starting a service takes time. */
const behaviours = {
  'the life of a project': operations,
  'every error has its status and code, in the order of the checks': statuses,
  'the scope and access of keys': keys,
  'the keys and the signatures of a project': secrets,
  'explains image URLs': urlMeanings,
  'lists as a whole and in pages': lists,
  'unknown paths get 404 and unsupported methods 405': paths,
  'invalid bodies get 400, and nothing is stored': bodies,
  'unread bodies do not affect later requests': unwantedBodies,
  'aborted uploads have no effect': brokenUploads,
  'no parameter that its schema forbids is accepted': (t: Test, control: Control) =>
    parameters(t, control, propertyRuns(160)),
  'any input gets a documented response, and accepted input is stored': (
    t: Test,
    control: Control,
  ) => properties(t, control, propertyRuns(400)),
};

/** Behaviour that depends on the HTTP engine. */
const behavioursOfEngine = { unwantedBodies, brokenUploads, ...(more ? { paths, bodies } : {}) };

const [defaultServer = 'node', ...otherServers] = httpServers;

async function run(
  t: Test,
  engine: string,
  all: Readonly<Record<string, (t: Test, control: Control) => Promise<void>>>,
): Promise<void> {
  const control = await startControl(t, { SERVICE_HTTP_ENGINE: engine });
  for (const [name, behaviour] of Object.entries(all)) {
    await t.test(name, (t) => behaviour(t, control));
  }
  t.same(
    control.service.log.filter(({ level }) => Number(level) >= 40),
    [],
    'no warnings are logged',
  );
}

t.test('runs the control plane', (t) => run(t, defaultServer, behaviours));
for (const engine of otherServers) {
  t.test(`runs the control plane (${engine})`, (t) => run(t, engine, behavioursOfEngine));
}
