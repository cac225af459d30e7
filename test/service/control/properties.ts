import { Agent } from 'node:http';
import fc from 'fast-check';
import type { Test } from 'tap';
import { type InputName, validationErrors } from '../../../server/control/validate.ts';
import type { Answer, Control } from './control.ts';
import { bodiesWith, textOf } from './generated.ts';

/** Bodies of each kind. */
const within = { numRuns: 400 };

const valid = (input: InputName, text: string): boolean => {
  try {
    return validationErrors(input, JSON.parse(text)).length === 0;
  } catch {
    return false;
  }
};

function insist(holds: boolean, what: string, ...of: unknown[]): void {
  if (!holds) throw new Error(`${what}: ${of.map((one) => JSON.stringify(one)).join(' ')}`);
}

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

interface Client {
  /** The path of its project. */
  readonly on: string;
  /** Every answer's status and body is held against the specification in there. */
  readonly call: Control['call'];
  /** The project that its path, or another, leads to. */
  read(path?: string): Promise<Answer['body']>;
}

/** A client with a project and a kept connection of its own. */
async function connect(t: Test, control: Control): Promise<Client> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.teardown(() => agent.destroy());
  const call: Control['call'] = (method, path, options) =>
    control.call(method, path, { agent, ...options });
  const on = `/projects/${await control.project(['a.example', '*.a.example'])}`;
  return { on, call, read: async (path = on) => (await call('GET', path)).body.project };
}

/**
 * Whatever is sent, the answer is documented, and what was accepted reads back. Each kind of body has
 * a project and a connection of its own, so that all of them can be sent at the same time.
 */
export async function properties(t: Test, control: Control): Promise<void> {
  const counts = new Map<string, number>();
  const bodies = bodiesWith(control.watermarks);

  /** Sends many bodies of a kind; each answer must be a success or 400, and pass its check. */
  async function each<S>(
    input: InputName,
    [method, tail, success]: readonly [method: string, tail: string, success: number],
    start: (client: Client) => Promise<S>,
    accepted: (text: string, answer: Answer, before: S, client: Client) => Promise<S>,
    refused?: (text: string, answer: Answer) => void,
  ): Promise<void> {
    const client = await connect(t, control);
    const path = tail === '/projects' ? tail : client.on + tail;
    let before = await start(client);
    const property = fc.asyncProperty(textOf(bodies[input]), async (text) => {
      const answer = await client.call(method, path, { body: text });
      const key = `${method} ${input} ${answer.status}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
      insist([success, 400].includes(answer.status), 'a documented status', answer, text);
      if (answer.status === success) insist(valid(input, text), 'accepted is valid', text);
      else insist(/^.{1,5000}$/su.test(answer.body.message), 'says why', answer.body, text);
      if (answer.status === success) before = await accepted(text, answer, before, client);
      else refused?.(text, answer);
    });
    await t.resolves(fc.assert(property, within), `${method} ${input}`);
    // What a refused body might have changed shows here, or in what the next accepted one left.
    t.same(await start(client), before, `${method} ${input} that is refused changes nothing`);
  }

  const create = each(
    'CreateProjectInput',
    ['POST', '/projects', 201],
    async () => null,
    async (text, { body: { project } }, before, { read }) => {
      const { name, origin } = JSON.parse(text);
      insist(project.name === name && project.origin === origin, 'as sent', project, text);
      insist(project.allowedOrigins.length > 0, 'its origin is allowed', project);
      insist(same(await read(`/projects/${project.id}`), project), 'reads back', project);
      return before;
    },
  );

  const settings = each(
    'ProjectSettingsInput',
    ['PATCH', '/settings', 200],
    ({ read }) => read(),
    async (text, { body }, before, { read }) => {
      const sent = JSON.parse(text);
      if (sent.maxWidth === 0) sent.maxWidth = null;
      if (sent.watermarkUrl === '') sent.watermarkUrl = null;
      const after = await read();
      const expected = { ...before, ...sent };
      insist(same(after, expected), 'is what it was, and what was sent', after, expected, text);
      insist(same(body.project, after), 'reads back', body, after);
      return after;
    },
    (text, { body: { message } }) => {
      // What the schema lets pass is refused for its watermark alone.
      const why = /watermarkUrl|name|NUL/.test(message);
      insist(!valid('ProjectSettingsInput', text) || why, 'why', message, text);
    },
  );

  const domains = (['POST', 'DELETE'] as const).map((method) =>
    each(
      'DomainInput',
      [method, '/domains', 200],
      ({ read }) => read(),
      async (text, { body }, before, { read }) => {
        const after = await read();
        const { allowedOrigins: hosts, ...rest } = after;
        const { allowedOrigins: hostsBefore, ...restBefore } = before;
        insist(same(rest, restBefore), 'only the hosts change', after, text);
        insist(same(body.project, after), 'reads back', body, after);
        insist(Math.abs(hosts.length - hostsBefore.length) <= 1, 'one at most', hosts, text);
        insist(new Set(hosts).size === hosts.length, 'each once', hosts, text);
        return after;
      },
    ),
  );

  const jobs = control.store.db.collection('jobs');
  let asked = await jobs.countDocuments();
  const prewarm = each(
    'PrewarmInput',
    ['POST', '/prewarm', 202],
    () => jobs.countDocuments(),
    async (text, { body }, queued) => {
      const { sourceCount, variantCount } = body.prewarm;
      const now = await jobs.countDocuments();
      asked += sourceCount;
      insist(now - queued <= sourceCount, 'a job for each source at most', body, text);
      insist(variantCount % sourceCount === 0, 'counts', body, text);
      return now;
    },
  );

  const presets = each(
    'PresetInput',
    ['PUT', '/presets/card', 200],
    async ({ call, on }) => (await call('GET', `${on}/presets`)).body,
    async (text, { body }, _before, { call, on }) => {
      const { parameters } = JSON.parse(text);
      insist(same(body.preset, { name: 'card', parameters }), 'as sent', body, text);
      const { body: after } = await call('GET', `${on}/presets`);
      insist(same(after, { presets: [body.preset] }), 'reads back', after, text);
      return after;
    },
  );

  await Promise.all([create, settings, ...domains, prewarm, presets]);
  for (const [key, least] of [
    ['POST CreateProjectInput 201', 30],
    ['PATCH ProjectSettingsInput 200', 30],
    ['POST DomainInput 200', 50],
    ['DELETE DomainInput 200', 50],
    ['POST PrewarmInput 202', 20],
    ['PUT PresetInput 200', 20],
  ] as const) {
    t.ok((counts.get(key) ?? 0) >= least, `${key}: ${counts.get(key)}`);
    t.ok((counts.get(key.replace(/\d+$/, '400')) ?? 0) >= 20, 'and some of 400');
  }
  t.ok((await jobs.countDocuments()) <= asked, 'no more was queued than was asked for');
  const total = [...counts.values()].reduce((a, b) => a + b, 0);
  t.comment(`${total} bodies`, Object.fromEntries(counts));
}
