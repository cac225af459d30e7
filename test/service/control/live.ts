import { Agent, request } from 'node:http';
import sharp from 'sharp';
import type { Test } from 'tap';
import { until } from '../../until.ts';
import { picture, startTestOrigin } from '../origin.ts';
import { type Control, processOf } from './control.ts';

interface Picture {
  readonly status: number;
  readonly cache: string;
  readonly body: Buffer;
  readonly pid: number;
}

function get(url: string, agent: Agent): Promise<Picture> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { agent });
    outgoing.once('error', reject).end();
    outgoing.once('response', async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk);
      const { statusCode: status = 0, headers } = response;
      const id = String(headers['x-request-id']);
      resolve({
        status,
        cache: String(headers['x-cache']),
        body: Buffer.concat(chunks),
        pid: Number.parseInt(id.split('-')[0] ?? '', 36),
      });
    });
  });
}

/** Changes apply to images at once in their process, soon in others. */
export async function live(t: Test, control: Control): Promise<void> {
  const origin = await startTestOrigin(t);
  origin.serve('/a.jpg', await picture(400, 300));
  const { call, service } = control;
  const id = await control.project();
  const on = `/projects/${id}`;
  const image = (host: string) =>
    `${service.url}/img/http://${host}:${origin.port}/a.jpg?project=${id}`;

  // One kept connection to each process.
  const agents = new Map<number, Agent>();
  while (agents.size < 2) {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    t.teardown(() => agent.destroy());
    agents.set(processOf(await call('GET', on, { agent })), agent);
  }
  const [[here, agent], [there, otherAgent]] = [...agents] as [[number, Agent], [number, Agent]];
  const local = () => get(image('127.0.0.1'), agent);
  const remote = () => get(image('127.0.0.1'), otherAgent);
  const width = async ({ body }: Picture) => (await sharp(body).metadata()).width;
  /** Makes a change in the local process. */
  const change = async (method: string, path: string, json: object) => {
    const answer = await call(method, on + path, { json, agent });
    t.same([answer.status, processOf(answer)], [200, here]);
  };

  for (const ask of [local, remote, local, remote]) t.equal((await ask()).status, 200);
  t.same([(await local()).cache, (await remote()).cache], ['memory', 'memory']);
  t.same([(await local()).pid, (await remote()).pid], [here, there]);

  await change('PATCH', '/settings', { maxWidth: 100 });
  t.equal(await width(await local()), 100, 'at once');
  // Both processes have rejected this host before.
  for (const one of agents.values()) t.equal((await get(image('localhost'), one)).status, 403);
  await change('POST', '/domains', { host: 'localhost' });
  t.equal((await get(image('localhost'), agent)).status, 200, 'at once');
  await until('a setting', async () => (await width(await remote())) === 100);
  await until('a host', async () => (await get(image('localhost'), otherAgent)).status === 200);

  const preset = (name: string, more = '') => `${image('127.0.0.1')}&preset=${name}${more}`;
  t.match(JSON.parse((await get(preset('card'), agent)).body.toString()), {
    code: 'preset_not_found',
    message: 'The project has no preset card.',
  });
  await change('PUT', '/presets/card', { parameters: { w: 60, h: 60, fmt: 'png', pos: 'west' } });
  const own = await get(preset('card'), agent);
  t.same([own.status, await width(own)], [200, 60], 'at once');
  const same = await get(`${image('127.0.0.1')}&w=60&height=60&fmt=png&pos=west&q=3`, agent);
  t.equal(same.cache, 'memory', 'same image as by its parameters');
  t.equal(await width(await get(preset('card', '&w=30'), agent)), 30, 'the URL takes precedence');
  const misspelt = await get(preset('cart'), agent);
  t.match(JSON.parse(misspelt.body.toString()), { message: /Did you mean card\?$/ });
  const remotely = () => get(preset('card'), otherAgent);
  await until('a preset', async () => (await width(await remotely())) === 60);
  await change('PUT', '/presets/card', { parameters: { w: 50, fmt: 'png' } });
  t.equal(await width(await get(preset('card'), agent)), 50, 'the cached response is not used');
  await until('another one', async () => (await width(await remotely())) === 50);
  await change('DELETE', '/presets/card', {});
  t.equal((await get(preset('card'), agent)).status, 404);
  await until('none', async () => (await remotely()).status === 404);

  await change('DELETE', '/domains', { host: '127.0.0.1' });
  const gone = await local();
  t.equal(gone.status, 403, 'the cached image is not used');
  t.match(JSON.parse(gone.body.toString()), { code: 'source_not_allowed' });
  await until('a removed host', async () => (await remote()).status === 403);

  t.test('a new project works in every process', async (t) => {
    const made = await call('POST', '/projects', {
      json: { name: 'x', origin: 'http://127.0.0.1/' },
      agent,
    });
    const url = image('127.0.0.1').replace(id, made.body.project.id);
    t.equal((await get(url, agent)).status, 200);
    t.equal((await get(url, otherAgent)).status, 200);
  });
}
