import { Agent } from 'node:http';
import sharp from 'sharp';
import type { Test } from 'tap';
import { until } from '../../until.ts';
import { picture, startTestOrigin } from '../origin.ts';
import { type Answer, type Control, findProcess, send } from './control.ts';

/** Changes apply to images at once in their process, soon in others. */
export async function live(t: Test, control: Control): Promise<void> {
  const origin = await startTestOrigin(t);
  origin.serve('/a.jpg', await picture(400, 300));
  const { call, service } = control;
  const id = await control.project();
  const projectPath = `/projects/${id}`;
  const image = (host: string) => `/img/http://${host}:${origin.port}/a.jpg?project=${id}`;
  const get = (path: string, agent: Agent) => send(service.port, 'GET', path, { key: null, agent });

  // Keep one persistent connection per process.
  const agents = new Map<number, Agent>();
  while (agents.size < 2) {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    t.teardown(() => agent.destroy());
    agents.set(findProcess(await call('GET', projectPath, { agent })), agent);
  }
  const [[localPid, agent], [remotePid, remoteAgent]] = [...agents] as [
    [number, Agent],
    [number, Agent],
  ];
  const local = () => get(image('127.0.0.1'), agent);
  const remote = () => get(image('127.0.0.1'), remoteAgent);
  const width = async ({ body }: Answer) => (await sharp(body).metadata()).width;
  /** Makes a change in the local process. */
  const change = async (method: string, path: string, json: object) => {
    const answer = await call(method, projectPath + path, { json, agent });
    t.same([answer.status, findProcess(answer)], [200, localPid]);
  };

  for (const ask of [local, remote, local, remote]) t.equal((await ask()).status, 200);
  for (const [answer, pid] of [
    [await local(), localPid],
    [await remote(), remotePid],
  ] as const) {
    t.same([answer.headers['x-cache'], findProcess(answer)], ['memory', pid]);
  }

  await change('PATCH', '/settings', { maxWidth: 100 });
  t.equal(await width(await local()), 100, 'at once');
  // Both processes have rejected this host before.
  for (const eachAgent of agents.values())
    t.equal((await get(image('localhost'), eachAgent)).status, 403);
  await change('POST', '/domains', { host: 'localhost' });
  t.equal((await get(image('localhost'), agent)).status, 200, 'at once');
  await until('the setting is in effect', async () => (await width(await remote())) === 100);
  await until(
    'the host is allowed',
    async () => (await get(image('localhost'), remoteAgent)).status === 200,
  );

  const preset = (name: string, more = '') => `${image('127.0.0.1')}&preset=${name}${more}`;
  t.match((await get(preset('card'), agent)).body, {
    code: 'preset_not_found',
    message: 'The project has no preset card.',
  });
  await change('PUT', '/presets/card', { parameters: { w: 60, h: 60, fmt: 'png', pos: 'west' } });
  const own = await get(preset('card'), agent);
  t.same([own.status, await width(own)], [200, 60], 'at once');
  const same = await get(`${image('127.0.0.1')}&w=60&height=60&fmt=png&pos=west&q=3`, agent);
  t.equal(same.headers['x-cache'], 'memory', 'same image as by its parameters');
  t.equal(await width(await get(preset('card', '&w=30'), agent)), 30, 'the URL takes precedence');
  const misspelt = await get(preset('cart'), agent);
  t.match(misspelt.body, { message: /Did you mean card\?$/ });
  const remotePreset = () => get(preset('card'), remoteAgent);
  await until('the preset is in effect', async () => (await width(await remotePreset())) === 60);
  await change('PUT', '/presets/card', { parameters: { w: 50, fmt: 'png' } });
  t.equal(await width(await get(preset('card'), agent)), 50, 'the cached response is not used');
  await until(
    'the changed preset is in effect',
    async () => (await width(await remotePreset())) === 50,
  );
  await change('DELETE', '/presets/card', {});
  t.equal((await get(preset('card'), agent)).status, 404);
  await until('the preset is removed', async () => (await remotePreset()).status === 404);

  await change('DELETE', '/domains', { host: '127.0.0.1' });
  const gone = await local();
  t.equal(gone.status, 403, 'the cached image is not used');
  t.match(gone.body, { code: 'source_not_allowed' });
  await until('the host is refused', async () => (await remote()).status === 403);

  t.test('activates a new project in every process', async (t) => {
    const made = await call('POST', '/projects', {
      json: { name: 'x', origin: 'http://127.0.0.1/' },
      agent,
    });
    const url = image('127.0.0.1').replace(id, made.body.project.id);
    t.equal((await get(url, agent)).status, 200);
    t.equal((await get(url, remoteAgent)).status, 200);
  });
}
