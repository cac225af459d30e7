import { Agent } from 'node:http';
import fc from 'fast-check';
import type { Test } from 'tap';
import { type InputName, validationErrors } from '../../../server/control/validate.ts';
import type { Answer, Control } from './control.ts';
import { bodiesWith, textOf } from './generated.ts';

/** Runs for each kind of body. */
const within = { numRuns: 400 };

const valid = (input: InputName, text: string): boolean => {
  try {
    return validationErrors(input, JSON.parse(text)).length === 0;
  } catch {
    return false;
  }
};

function ensure(holds: boolean, what: string, ...of: unknown[]): void {
  if (!holds) throw new Error(`${what}: ${of.map((one) => JSON.stringify(one)).join(' ')}`);
}

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

interface Client {
  /** The path of its project. */
  readonly on: string;
  /** Checks the status and the body by the OpenAPI document. */
  readonly call: Control['call'];
  /** The project at a path, its own by default. */
  read(path?: string): Promise<Answer['body']>;
}

/** A client with its own project and connection. */
async function connect(t: Test, control: Control): Promise<Client> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.teardown(() => agent.destroy());
  const call: Control['call'] = (method, path, options) =>
    control.call(method, path, { agent, ...options });
  const on = `/projects/${await control.project(['a.example', '*.a.example'])}`;
  return { on, call, read: async (path = on) => (await call('GET', path)).body.project };
}

/**
 * Any input gets a documented response, and accepted input is stored. Each kind of body has its own project
 * and connection, because all kinds are sent concurrently.
 */
export async function properties(t: Test, control: Control): Promise<void> {
  const counts = new Map<string, number>();
  const bodies = bodiesWith(control.watermarks);

  /** Sends many bodies of a kind; each response must be a success or 400, and pass its check. */
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
      ensure([success, 400].includes(answer.status), 'a documented status', answer, text);
      if (answer.status === success) ensure(valid(input, text), 'accepted is valid', text);
      else ensure(/^.{1,5000}$/su.test(answer.body.message), 'says why', answer.body, text);
      if (answer.status === success) before = await accepted(text, answer, before, client);
      else refused?.(text, answer);
    });
    await t.resolves(fc.assert(property, within), `${method} ${input}`);
    // Detects changes by rejected bodies.
    t.same(await start(client), before, `${method} ${input} that is rejected changes nothing`);
  }

  const create = each(
    'CreateProjectInput',
    ['POST', '/projects', 201],
    async () => null,
    async (text, { body: { project } }, before, { read }) => {
      const { name, origin } = JSON.parse(text);
      ensure(project.name === name && project.origin === origin, 'as sent', project, text);
      ensure(project.allowedOrigins.length > 0, 'its origin is allowed', project);
      ensure(same(await read(`/projects/${project.id}`), project), 'reads back', project);
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
      ensure(same(after, expected), 'only the sent fields change', after, expected, text);
      ensure(same(body.project, after), 'reads back', body, after);
      return after;
    },
    (text, { body: { message } }) => {
      // Only the watermark may be invalid beyond the schema.
      const why = /watermarkUrl|name|NUL/.test(message);
      ensure(!valid('ProjectSettingsInput', text) || why, 'why', message, text);
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
        ensure(same(rest, restBefore), 'only the hosts change', after, text);
        ensure(same(body.project, after), 'reads back', body, after);
        ensure(Math.abs(hosts.length - hostsBefore.length) <= 1, 'one at most', hosts, text);
        ensure(new Set(hosts).size === hosts.length, 'each once', hosts, text);
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
      ensure(now - queued <= sourceCount, 'a job for each source at most', body, text);
      ensure(variantCount % sourceCount === 0, 'counts', body, text);
      return now;
    },
  );

  const presets = each(
    'PresetInput',
    ['PUT', '/presets/card', 200],
    async ({ call, on }) => (await call('GET', `${on}/presets`)).body,
    async (text, { body }, _before, { call, on }) => {
      const { parameters } = JSON.parse(text);
      ensure(same(body.preset, { name: 'card', parameters }), 'as sent', body, text);
      const { body: after } = await call('GET', `${on}/presets`);
      ensure(same(after, { presets: [body.preset] }), 'reads back', after, text);
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
  t.ok((await jobs.countDocuments()) <= asked, 'at most one job for each requested source');
  const total = [...counts.values()].reduce((a, b) => a + b, 0);
  t.comment(`${total} bodies`, Object.fromEntries(counts));
}
