import { Agent } from 'node:http';
import fc, { type Arbitrary } from 'fast-check';
import type { Test } from 'tap';
import { validationErrors } from '../../../server/control/validate.ts';
import { inputNamed, inputNames } from '../../server/control/inputs.ts';
import type { Answer, Control } from './control.ts';
import { bodiesWith, toText } from './generated.ts';

const isValid = (input: string, text: string): boolean => {
  try {
    return validationErrors(inputNamed(input), JSON.parse(text)).length === 0;
  } catch {
    return false;
  }
};

function ensure(holds: boolean, what: string, ...of: unknown[]): void {
  if (!holds)
    throw new Error(`${what}: ${of.map((argument) => JSON.stringify(argument)).join(' ')}`);
}

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/** Body of a successful response. */
type Body = Answer['body'];

/** An operation to test with generated bodies. */
interface Kind {
  readonly input: string;
  readonly method: string;
  readonly path: string;
  readonly success: number;
  /** The fewest accepted bodies of 400. */
  readonly least: number;
  /** Reads the state that the operation changes, with `GET`. */
  readonly read: (get: (path: string) => Promise<Body>) => Promise<Body>;
  /** Returns true if the state after an accepted body is correct. */
  readonly isRight: (after: Body, answer: Body, sent: Body, before: Body) => boolean;
}

const withoutTime = ({ updatedAt: _, ...origin }: Body) => origin;

/** Gives each kind a separate project and connection, because the kinds run concurrently. */
async function findKinds(control: Control, signed: string): Promise<Kind[]> {
  const newPath = async () => `/projects/${await control.project(['a.example', '*.a.example'])}`;
  const identity = await newPath();
  const settings = await newPath();
  const presets = `${await newPath()}/presets`;
  const layers = `${await newPath()}/layers`;
  const freshness = `${await newPath()}/freshness`;
  const origins = `${await newPath()}/origins`;
  const hosts = `${await newPath()}/hosts`;
  const urlSecrets = `${await newPath()}/url-secrets`;
  const limits = `${await newPath()}/limits`;
  const keys = `${await newPath()}/keys`;
  const signing = `${await newPath()}/signing`;
  const jobs = control.store.db.collection('jobs');
  const domains = (['POST', 'DELETE'] as const).map(async (method): Promise<Kind> => {
    const path = await newPath();
    return {
      input: 'DomainInput',
      method,
      path: `${path}/domains`,
      success: 200,
      least: 50,
      read: async (get) => (await get(path)).project,
      isRight: (after, { project }, _sent, before) => {
        const { allowedOrigins: hosts, ...rest } = after;
        const { allowedOrigins: hostsBefore, ...restBefore } = before;
        const isSet = new Set(hosts).size === hosts.length;
        const isOneStep = Math.abs(hosts.length - hostsBefore.length) <= 1;
        return same(project, after) && same(rest, restBefore) && isSet && isOneStep;
      },
    };
  });
  return [
    {
      input: 'CreateProjectInput',
      method: 'POST',
      path: '/projects',
      success: 201,
      least: 30,
      read: async () => null,
      isRight: (_after, { project }, { name, origin }) =>
        same([project.name, project.origin], [name, origin]) && project.allowedOrigins.length > 0,
    },
    {
      input: 'UpdateProjectInput',
      method: 'PATCH',
      path: identity,
      success: 200,
      least: 20,
      read: async (get) => (await get(identity)).project,
      isRight: (after, { project }, sent, before) => {
        const { allowedOrigins: hosts, ...rest } = after;
        const { allowedOrigins: hostsBefore, ...restBefore } = before;
        const isAdded = hosts.length - hostsBefore.length <= (sent.origin === undefined ? 0 : 1);
        return same(project, after) && same(rest, { ...restBefore, ...sent }) && isAdded;
      },
    },
    {
      input: 'ProjectSettingsInput',
      method: 'PATCH',
      path: `${settings}/settings`,
      success: 200,
      least: 30,
      read: async (get) => (await get(settings)).project,
      isRight: (after, { project }, sent, before) => {
        const changed = { ...before, ...sent };
        if (sent.maxWidth === 0) changed.maxWidth = null;
        if (sent.watermarkUrl === '') changed.watermarkUrl = null;
        return same(after, changed) && same(project, after);
      },
    },
    ...(await Promise.all(domains)),
    {
      input: 'FreshnessInput',
      method: 'PUT',
      path: freshness,
      success: 200,
      least: 20,
      read: (get) => get(freshness),
      isRight: (after, answer, sent) =>
        same(answer, after) && same(answer, { freshness: { ...noFreshness, ...sent } }),
    },
    {
      input: 'ProjectOriginInput',
      method: 'PUT',
      path: `${origins}/a.example`,
      success: 200,
      least: 20,
      read: async (get) => (await get(origins)).origins.map(withoutTime),
      isRight: (after, { origin }, { headers }) =>
        same(after, [withoutTime(origin)]) &&
        same(
          origin.headers,
          Object.keys(headers)
            .map((name) => name.toLowerCase())
            .sort(),
        ),
    },
    {
      input: 'DeliveryHostInput',
      method: 'PUT',
      path: `${hosts}/img.generated.example`,
      success: 200,
      least: 20,
      read: async (get) => (await get(hosts)).hosts.map(withoutTime),
      isRight: (after, { host }, { base = null, urls = 'native' }) =>
        same(after, [withoutTime(host)]) && same([host.base, host.urls], [base, urls]),
    },
    {
      input: 'UrlSecretInput',
      method: 'PUT',
      path: `${urlSecrets}/imgix`,
      success: 200,
      least: 20,
      read: async (get) => (await get(urlSecrets)).urlSecrets.map(withoutTime),
      isRight: (after, { urlSecret }, { secret, keepPrevious }, before) =>
        same(after, [withoutTime(urlSecret)]) &&
        !Object.values(urlSecret).includes(secret) &&
        urlSecret.secretCount <= (keepPrevious ? (before[0]?.secretCount ?? 0) + 1 : 1),
    },
    {
      input: 'LimitsInput',
      method: 'PUT',
      path: limits,
      success: 200,
      least: 20,
      read: (get) => get(limits),
      isRight: (after, answer, sent) =>
        same(answer, after) && same(answer, { limits: { ...noLists, ...sent } }),
    },
    {
      input: 'ProjectKeyInput',
      method: 'POST',
      path: keys,
      success: 201,
      least: 20,
      read: async (get) => (await get(keys)).keys,
      isRight: (after, { key: { secret, ...key } }, { name, access = 'write' }, before) =>
        /^sk_[\w-]{43}$/.test(secret) &&
        same([key.name, key.access], [name, access]) &&
        after.length === before.length + 1 &&
        after.some((candidate: Body) => same(candidate, key)),
    },
    {
      input: 'SigningSecretInput',
      method: 'POST',
      path: `${signing}/secrets`,
      success: 201,
      least: 20,
      read: async (get) => (await get(signing)).signing,
      isRight: (after, { signing: { secret, ...answer } }, { ttlSeconds, replaceAll }, before) =>
        secret.length > 20 &&
        same(after, answer) &&
        same(after, {
          required: true,
          ttlSeconds: ttlSeconds === undefined ? before.ttlSeconds : ttlSeconds,
          secretCount: before.secretCount === 0 || replaceAll ? 1 : 2,
        }),
    },
    {
      input: 'SignedUrlInput',
      method: 'POST',
      path: `/projects/${signed}/signed-urls`,
      success: 200,
      least: 20,
      read: async () => null,
      isRight: (_after, { signedUrl }, { url }) =>
        signedUrl.url.startsWith(`${url}&exp=`) && /&sig=[\w-]{43}$/.test(signedUrl.url),
    },
    {
      input: 'PrewarmInput',
      method: 'POST',
      path: `${await newPath()}/prewarm`,
      success: 202,
      least: 20,
      read: () => jobs.countDocuments(),
      isRight: (after, { prewarm: { sourceCount, variantCount } }, _sent, before) =>
        after - before <= sourceCount && variantCount % sourceCount === 0,
    },
    {
      input: 'PresetInput',
      method: 'PUT',
      path: `${presets}/card`,
      success: 200,
      least: 20,
      read: (get) => get(presets),
      isRight: (after, { preset }, { parameters }) =>
        same(preset, { name: 'card', parameters }) && same(after, { presets: [preset] }),
    },
    {
      input: 'LayerInput',
      method: 'PUT',
      path: `${layers}/badge`,
      success: 200,
      least: 20,
      read: (get) => get(layers),
      // Only the response of the change contains warnings.
      isRight: (after, { layer: { warnings: _, ...layer } }, sent) =>
        same(layer, { name: 'badge', ...sent }) && same(after, { layers: [layer] }),
    },
  ];
}

/** Fields that an input can omit, in the order of responses. */
const noFreshness = {
  sourceAge: null,
  browserAge: null,
  missingAge: null,
  ignoredParameters: null,
};
const noLists = {
  rendersPerDay: null,
  bytesPerDay: null,
  onlyPresets: false,
  widths: null,
  qualities: null,
  unlisted: 'nearest',
};

/**
 * Checks that every input gets a documented response, and that the service stores accepted input.
 * `numRuns` applies per kind of body.
 */
export async function properties(t: Test, control: Control, numRuns: number): Promise<void> {
  const signed = await control.project();
  await control.call('POST', `/projects/${signed}/signing/secrets`, { json: {} });
  const bodies: Record<string, Arbitrary<unknown>> = bodiesWith(control.watermarks, signed);
  t.same(Object.keys(bodies).sort(), [...inputNames].sort(), 'every body is generated');
  const test = async ({ input, method, path, success, least, read, isRight }: Kind) => {
    const name = `${method} ${input}`;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    t.teardown(() => agent.destroy());
    // Each call also checks the response by the OpenAPI document.
    const get = async (target: string) => (await control.call('GET', target, { agent })).body;
    const count = { accepted: 0, rejected: 0 };
    let before = await read(get);
    const property = fc.asyncProperty(toText(bodies[input] ?? fc.constant(null)), async (text) => {
      const { status, body } = await control.call(method, path, { agent, body: text });
      ensure([success, 400].includes(status), 'a documented status', body, text);
      if (status === 400) {
        count.rejected += 1;
        return ensure(/^.{1,5000}$/su.test(body.message), 'a message', body, text);
      }
      count.accepted += 1;
      ensure(isValid(input, text), 'only valid input is accepted', text);
      // Detect changes by earlier rejected bodies too.
      const after = await read(get);
      ensure(isRight(after, body, JSON.parse(text), before), 'as sent', text, before, after, body);
      before = after;
    });
    await t.resolves(fc.assert(property, { numRuns }), name);
    t.same(await read(get), before, `${name}: rejected bodies change nothing`);
    const isVaried = count.accepted >= least && count.rejected >= 20;
    // A short run can consist of rejected bodies only.
    t.ok(isVaried || numRuns < 400, `${name}: ${JSON.stringify(count)}`);
  };
  await Promise.all((await findKinds(control, signed)).map(test));
}
