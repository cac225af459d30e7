import { Agent } from 'node:http';
import fc, { type Arbitrary } from 'fast-check';
import t from 'tap';
import { faultsOf, type InputName } from '../../../server/control/validate.ts';
import { type Answer, type Control, startControl } from './control.ts';

/** A property stops by itself when it has had its time, whatever the machine is busy with. */
const within = { numRuns: 700, interruptAfterTimeLimit: 4_000 };

const word = fc.stringMatching(/^[a-z]{1,8}$/);
const host = fc.oneof(
  { weight: 6, arbitrary: word.map((name) => `${name}.example`) },
  { weight: 1, arbitrary: word.map((name) => `*.${name}.EXAMPLE.`) },
  fc.constantFrom('bücher.example', '127.0.0.1', 'intranet', '10.0.0.1', '[::1]', 'a:80', '', '*'),
  fc.domain(),
  fc.string({ unit: 'binary' }),
);
const url = fc.oneof(
  { weight: 40, arbitrary: word.map((name) => `https://a.example/${name}`) },
  fc.webUrl({ withFragments: true, withQueryParameters: true }),
  fc.constantFrom('ftp://a.example/', 'http://10.0.0.1/', 'https:a.example', 'http://[', 'x:y', ''),
  fc.string(),
);
const integer = (minimum: number, maximum: number) =>
  fc.oneof(
    { weight: 40, arbitrary: fc.integer({ min: minimum, max: maximum }) },
    fc.constantFrom(minimum, maximum, minimum - 1, maximum + 1, -0, 1e308, 50.5, 2 ** 53),
  );
const name = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 82 }),
  fc.string({ unit: 'binary' }),
);
const position = fc.constantFrom('center', 'north', 'southwest', 'middle');

/** Objects of these fields, each of them now and then missing or something else altogether. */
const bodyOf = (fields: Readonly<Record<string, Arbitrary<unknown>>>): Arbitrary<unknown> => {
  const spoilt = Object.entries(fields).map(([field, arbitrary]) => [
    field,
    fc.oneof({ weight: 40, arbitrary }, fc.jsonValue({ maxDepth: 2 })),
  ]);
  const record = fc.record(Object.fromEntries(spoilt), { requiredKeys: [] });
  const extra = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2 });
  return fc.oneof(
    { weight: 12, arbitrary: record },
    { weight: 2, arbitrary: fc.tuple(record, extra).map(([a, b]) => ({ ...a, ...b })) },
    fc.jsonValue({ maxDepth: 3 }),
  );
};

const bodies = {
  CreateProjectInput: bodyOf({
    name,
    origin: url,
    allowedOrigins: fc.array(host, { maxLength: 4 }),
  }),
  ProjectSettingsInput: bodyOf({
    autoFormat: fc.boolean(),
    defaultQuality: integer(30, 100),
    defaultDpr: integer(1, 3),
    defaultFit: fc.constantFrom('contain', 'cover', 'fill', 'inside', 'outside', 'Cover'),
    maxWidth: integer(0, 10_000),
    stripMetadata: fc.boolean(),
    watermarkEnabled: fc.boolean(),
    watermarkUrl: url,
    watermarkPosition: position,
    watermarkOpacity: integer(1, 100),
    watermarkScale: integer(1, 100),
    watermarkMargin: integer(0, 500),
  }),
  PrewarmInput: bodyOf({
    src: url,
    sources: fc.array(url, { maxLength: 21 }),
    widths: fc.array(integer(1, 5_000), { maxLength: 11 }),
    formats: fc.array(fc.constantFrom('auto', 'avif', 'webp', 'jpeg', 'png', 'gif'), {
      maxLength: 6,
    }),
    quality: integer(30, 100),
    fit: fc.constantFrom('contain', 'cover', 'fill', 'inside', 'outside'),
    dpr: integer(1, 3),
  }),
  DomainInput: bodyOf({ host }),
} satisfies Record<InputName, Arbitrary<unknown>>;

/** A body as its text, now and then with a few characters lost, doubled or put in. */
const textOf = (body: Arbitrary<unknown>): Arbitrary<string> =>
  fc.oneof(
    { weight: 12, arbitrary: body.map((value) => JSON.stringify(value)) },
    fc
      .tuple(
        body,
        fc.nat(),
        fc.nat(2),
        fc.constantFrom('', '"', '{', ',', '\u0000', '\\u0000', '9e999'),
      )
      .map(([value, at, lost, put]) => {
        const text = JSON.stringify(value);
        const place = at % (text.length + 1);
        // As the bytes that are sent, should a pair of surrogates have been cut.
        return (text.slice(0, place) + put + text.slice(place + lost)).toWellFormed();
      }),
  );

const valid = (input: InputName, text: string): boolean => {
  try {
    return faultsOf(input, JSON.parse(text)).length === 0;
  } catch {
    return false;
  }
};

function insist(holds: boolean, what: string, ...of: unknown[]): void {
  if (!holds) throw new Error(`${what}: ${of.map((one) => JSON.stringify(one)).join(' ')}`);
}

t.test(
  'whatever is sent, the answer is documented, and what was accepted reads back',
  async (t) => {
    const control: Control = await startControl(t);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    t.teardown(() => agent.destroy());
    // Every answer's status and body is held against the specification in there.
    const call: Control['call'] = (method, path, options) =>
      control.call(method, path, { agent, ...options });
    const on = `/projects/${await control.project(['a.example', '*.a.example'])}`;
    const read = async (path = on) => (await call('GET', path)).body.project;
    const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
    const counts = new Map<string, number>();

    /** Sends many bodies of a kind; each answer must be a success or 400, and pass the check. */
    const each = async (
      input: InputName,
      method: string,
      path: string,
      success: number,
      check: (text: string, answer: Answer) => Promise<void>,
    ) => {
      const property = fc.asyncProperty(textOf(bodies[input]), async (text) => {
        const answer = await call(method, path, { body: text });
        const key = `${method} ${input} ${answer.status}`;
        counts.set(key, (counts.get(key) ?? 0) + 1);
        insist([success, 400].includes(answer.status), 'a documented status', answer, text);
        if (answer.status === success) insist(valid(input, text), 'accepted is valid', text);
        else insist(/^.{1,5000}$/su.test(answer.body.message), 'says why', answer.body, text);
        await check(text, answer);
      });
      await t.resolves(fc.assert(property, within), `${method} ${input}`);
    };

    await each('CreateProjectInput', 'POST', '/projects', 201, async (text, { status, body }) => {
      if (status !== 201) return;
      const { project } = body;
      const sent = JSON.parse(text);
      insist(
        project.name === sent.name && project.origin === sent.origin,
        'as sent',
        project,
        sent,
      );
      insist(project.allowedOrigins.length > 0, 'its origin is allowed', project);
      insist(same(await read(`/projects/${project.id}`), project), 'reads back', project);
    });

    let before = await read();
    await each(
      'ProjectSettingsInput',
      'PATCH',
      `${on}/settings`,
      200,
      async (text, { status, body }) => {
        const after = await read();
        if (status === 200) {
          const sent = JSON.parse(text);
          if (sent.maxWidth === 0) sent.maxWidth = null;
          if (sent.watermarkUrl === '') sent.watermarkUrl = null;
          insist(
            same(after, { ...before, ...sent }),
            'is what it was, and what was sent',
            after,
            sent,
          );
          insist(same(body.project, after), 'reads back', body, after);
        } else {
          insist(same(after, before), 'nothing changes', after, text);
          // What the schema lets pass is refused for the watermark's address alone.
          insist(
            !valid('ProjectSettingsInput', text) || /watermarkUrl|name|NUL/.test(body.message),
            'why',
            body,
            text,
          );
        }
        before = after;
      },
    );

    for (const [method, path] of [
      ['POST', `${on}/domains`],
      ['DELETE', `${on}/domains`],
    ] as const) {
      before = await read();
      await each('DomainInput', method, path, 200, async (text, { status, body }) => {
        const after = await read();
        const { allowedOrigins: hosts, ...rest } = after;
        const { allowedOrigins: hostsBefore, ...restBefore } = before;
        insist(same(rest, restBefore), 'only the hosts change', after, text);
        insist(status === 200 || same(hosts, hostsBefore), 'refused changes nothing', after, text);
        insist(status !== 200 || same(body.project, after), 'reads back', body, after);
        insist(Math.abs(hosts.length - hostsBefore.length) <= 1, 'one at most', hosts, text);
        insist(new Set(hosts).size === hosts.length, 'each once', hosts, text);
        before = after;
      });
    }

    await call('POST', `${on}/domains`, { json: { host: 'a.example' } });
    const jobs = control.store.db.collection('jobs');
    let queued = await jobs.estimatedDocumentCount();
    await each('PrewarmInput', 'POST', `${on}/prewarm`, 202, async (text, { status, body }) => {
      const now = await jobs.estimatedDocumentCount();
      const added = now - queued;
      queued = now;
      if (status === 202) {
        const { sourceCount, variantCount } = body.prewarm;
        insist(added <= sourceCount && variantCount % sourceCount === 0, 'counts', body, text);
      } else insist(added === 0, 'refused queues nothing', text);
    });

    t.same(before, { ...(await read()), allowedOrigins: before.allowedOrigins });
    for (const [key, least] of [
      ['POST CreateProjectInput 201', 30],
      ['PATCH ProjectSettingsInput 200', 30],
      ['POST DomainInput 200', 50],
      ['DELETE DomainInput 200', 50],
      ['POST PrewarmInput 202', 20],
    ] as const) {
      t.ok((counts.get(key) ?? 0) >= least, `${key}: ${counts.get(key)}`);
      t.ok((counts.get(key.replace(/\d+$/, '400')) ?? 0) >= 20, `and some of 400`);
    }
    const total = [...counts.values()].reduce((a, b) => a + b, 0);
    t.comment(`${total} bodies`, Object.fromEntries(counts));
    t.same(
      control.service.log.filter(({ level }) => Number(level) >= 50),
      [],
      'no trouble',
    );
  },
);
