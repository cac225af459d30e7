import type { Test } from 'tap';
import { together } from '../../store/servers.ts';
import type { Answer, Control } from './control.ts';

const each = <T>(count: number, call: (index: number) => Promise<T>): Promise<T[]> =>
  together(Array.from({ length: count }, (_, index) => () => call(index)));

/** Statuses of the calls that exceed a limit, or that a store on a busy machine is too slow for. */
const refusals = [400, 429, 503];

function succeeded(t: Test, answers: readonly Answer[], status: number): Answer[] {
  const others = answers.filter((answer) => answer.status !== status);
  t.same(
    others.filter(({ status }) => !refusals.includes(status)).map(({ body }) => body),
    [],
    'the other calls are refused',
  );
  for (const { status, body, headers } of others) {
    if (status !== 429) continue;
    t.match([body.code, headers['retry-after']], ['rate_limited', /^\d+$/]);
    break;
  }
  return answers.filter((answer) => answer.status === status);
}

/** Checks that concurrent calls exceed no limit. */
async function limits(t: Test, { call, project }: Control): Promise<void> {
  const hosts = Array.from({ length: 980 }, (_, index) => `h${index}.example`);
  const id = await project(hosts);
  const on = `/projects/${id}`;
  const names = Array.from({ length: 110 }, (_, index) => `n${index}`);
  const put = (plural: string, json: object) => (name: string) =>
    call('PUT', `${on}/${plural}/${plural === 'origins' ? `${name}.example` : name}`, { json });
  const kinds = [
    ['layers', 50, 60, put('layers', { text: { words: 'Sale' } })],
    ['presets', 100, 110, put('presets', { parameters: { w: 4 } })],
    ['origins', 20, 40, put('origins', { headers: { authorization: 'Bearer x' } })],
  ] as const;
  for (const [plural, limit, count, send] of kinds) {
    succeeded(t, await each(count, (index) => send(names[index] ?? '')), 200);
    let last = 200;
    // Repeat rejected calls up to the limit.
    for (const name of names) {
      if (last === 400) break;
      last = (await send(name)).status;
    }
    t.equal((await call('GET', `${on}/${plural}`)).body[plural].length, limit, plural);
  }

  const add = (index: number) =>
    call('POST', `${on}/domains`, { json: { host: `new${index}.example` } });
  succeeded(t, await each(40, add), 200);
  t.ok((await call('GET', on)).body.project.allowedOrigins.length <= 1_000, 'hosts');

  const keys = async () => {
    const { body } = await call('GET', `${on}/keys`);
    return body.keys.filter(({ revokedAt }: { revokedAt: unknown }) => revokedAt === null).length;
  };
  const create = () => call('POST', `${on}/keys`, { json: { name: 'burst' } });
  const made = succeeded(t, await each(110, create), 201).length;
  t.ok(made > 0 && made <= 100, `${made} keys`);
  t.equal(await keys(), made, 'no key remains of a refused call');
}

/** Checks that every secret in a response is valid. */
async function secrets(t: Test, { call, project, store }: Control): Promise<void> {
  for (let round = 0; round < 5; round += 1) {
    const id = await project();
    const answers = await each(6, () => call('POST', `/projects/${id}/signing/secrets`));
    const returned = succeeded(t, answers, 201).map(({ body }) => body.signing.secret);
    const { signingSecret, previousSigningSecret } = (await store.projects.find(id)) ?? {};
    const valid = [signingSecret, previousSigningSecret];
    t.ok(returned.length > 0);
    t.same(
      returned.filter((secret) => !valid.includes(secret)),
      [],
      'no returned secret is lost',
    );
  }
}

/** Checks that parts created during their project's deletion do not remain. */
async function deletion(t: Test, { call, project, store }: Control): Promise<void> {
  for (let round = 0; round < 5; round += 1) {
    const id = await project();
    const create = () => call('POST', `/projects/${id}/keys`, { json: { name: 'late' } });
    const [deleted] = await Promise.all([call('DELETE', `/projects/${id}`), each(10, create)]);
    t.equal(deleted.status, 204);
    t.same(await store.keys.ofProject(id), [], 'no key of the project remains');
  }
}

/** Checks that a burst of purges does not delay another project's calls. */
async function purges(t: Test, { call, project }: Control): Promise<void> {
  const [own, other] = [await project(), await project()];
  const timed = async () => {
    const at = performance.now();
    const { status } = await call('PATCH', `/projects/${other}/settings`, {
      json: { maxWidth: 9 },
    });
    t.equal(status, 200, 'a call of another project succeeds');
    return performance.now() - at;
  };
  const median = (values: readonly number[]) =>
    values.toSorted((a, b) => a - b)[values.length >> 1];
  const repeat = async (isOver: () => boolean) => {
    const times: number[] = [];
    do times.push(await timed());
    while (!isOver());
    return times;
  };
  let left = 10;
  const idle = await repeat(() => --left === 0);
  const json = { sources: ['http://127.0.0.1/a.jpg'] };
  const startedAt = performance.now();
  let over = false;
  const sent = each(200, () => call('POST', `/projects/${own}/purge`, { json })).finally(() => {
    over = true;
  });
  const busy = await repeat(() => over);
  const seconds = (performance.now() - startedAt) / 1_000;
  const accepted = succeeded(t, await sent, 202);
  t.ok(accepted.length > 0);
  t.comment(
    `200 purges: ${accepted.length} accepted, ${seconds.toFixed(1)} s; a neighbour's call takes ${median(idle)?.toFixed(0)} ms before, ${median(busy)?.toFixed(0)} ms meanwhile, at most ${Math.max(...busy).toFixed(0)} ms`,
  );
}

/** Sends a project's calls concurrently. */
export async function parallel(t: Test, control: Control): Promise<void> {
  await t.test('exceeds no limit', (t) => limits(t, control));
  await t.test('returns only valid secrets', (t) => secrets(t, control));
  await t.test('leaves no trace of a deleted project', (t) => deletion(t, control));
  await t.test("leaves time for other projects during a project's purges", (t) =>
    purges(t, control),
  );
}
