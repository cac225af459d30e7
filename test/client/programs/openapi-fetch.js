// @ts-check
import createClient from 'openapi-fetch';

/**
 * An integrator's program. Its types come only from the served OpenAPI document: `checkClients`
 * generates `schema.d.ts` next to a copy of this file.
 * @typedef {import('./schema.d.ts').paths} Paths
 * @typedef {import('./schema.d.ts').components['schemas']} Schemas
 */

/**
 * Returns a response's data, or throws an ApiError.
 * @template T
 * @param {{ data?: T, error?: Schemas['ApiError'], response: Response }} answer
 * @returns {T}
 */
function must({ data, error, response }) {
  if (data !== undefined) return data;
  throw new Error(`${response.status} ${error?.code}: ${error?.message} ${error?.resolution_hint}`);
}

/**
 * Returns the id at the end of a response's Location.
 * @param {Response} response
 */
const locatedId = ({ headers }) => headers.get('location')?.split('/').at(-1) ?? '';

/**
 * Calls every operation.
 * @param {string} baseUrl
 * @param {string} key
 * @param {string} source URL of a 40 × 30 image
 */
export async function drive(baseUrl, key, source) {
  /** @type {import('openapi-fetch').Client<Paths>} */
  const client = createClient({ baseUrl, headers: { authorization: `Bearer ${key}` } });

  const { project } = must(
    await client.POST('/api/sdk/v1/projects', {
      body: { name: 'My shop', origin: 'https://shop.example.com/', allowedOrigins: ['127.0.0.1'] },
    }),
  );
  const params = { path: { projectId: project.id } };
  const { projects } = must(await client.GET('/api/sdk/v1/projects'));
  const read = must(await client.GET('/api/sdk/v1/projects/{projectId}', { params }));
  const changed = must(
    await client.PATCH('/api/sdk/v1/projects/{projectId}/settings', {
      params,
      body: { defaultQuality: 70, defaultFit: 'inside', maxWidth: 2_000 },
    }),
  );
  const { configuration } = must(
    await client.GET('/api/sdk/v1/projects/{projectId}/configuration', { params }),
  );
  const added = must(
    await client.POST('/api/sdk/v1/projects/{projectId}/domains', {
      params,
      body: { host: 'cdn.example.com' },
    }),
  );
  const queued = await client.POST('/api/sdk/v1/projects/{projectId}/prewarm', {
    params,
    body: { sources: [source], widths: [400, 800], formats: ['webp'] },
  });
  const { prewarm } = must(queued);
  const progress = must(
    await client.GET('/api/sdk/v1/projects/{projectId}/prewarms/{prewarmId}', {
      params: { path: { ...params.path, prewarmId: locatedId(queued.response) } },
    }),
  );
  const purged = await client.POST('/api/sdk/v1/projects/{projectId}/purge', {
    params,
    body: { all: true },
  });
  must(
    await client.GET('/api/sdk/v1/projects/{projectId}/purges/{purgeId}', {
      params: { path: { ...params.path, purgeId: locatedId(purged.response) } },
    }),
  );
  const removed = must(
    await client.DELETE('/api/sdk/v1/projects/{projectId}/domains', {
      params: { ...params, query: { host: 'cdn.example.com' } },
    }),
  );
  const removedByBody = must(
    await client.DELETE('/api/sdk/v1/projects/{projectId}/domains', {
      params,
      body: { host: 'shop.example.com' },
    }),
  );
  const named = { params: { path: { ...params.path, presetName: 'card' } } };
  const card = must(
    await client.PUT('/api/sdk/v1/projects/{projectId}/presets/{presetName}', {
      ...named,
      body: { parameters: { w: 40, fit: 'cover', flip: true } },
    }),
  );
  must(await client.GET('/api/sdk/v1/projects/{projectId}/presets/{presetName}', named));
  must(await client.GET('/api/sdk/v1/projects/{projectId}/presets', { params }));
  const { presets } = must(
    await client.DELETE('/api/sdk/v1/projects/{projectId}/presets/{presetName}', named),
  );
  must(
    await client.PUT('/api/sdk/v1/projects/{projectId}/limits', {
      params,
      body: { rendersPerDay: 1_000, bytesPerDay: null },
    }),
  );
  const { limits } = must(await client.GET('/api/sdk/v1/projects/{projectId}/limits', { params }));
  const used = must(
    await client.GET('/api/sdk/v1/projects/{projectId}/usage', {
      params: { ...params, query: { from: '2026-11-01', to: '2026-11-22', format: 'json' } },
    }),
  );
  if (typeof used === 'string') throw new Error('CSV');
  const picture = await client.GET('/img/{source}', {
    params: {
      path: { source },
      query: { project: project.id, w: 40, fmt: 'webp', blur: 2.5, flip: true, dpr: 'auto' },
    },
    parseAs: 'blob',
  });
  const facts = await client.GET('/img/{source}', {
    params: {
      path: { source },
      query: { project: project.id, fmt: 'json', crop: '0,0,20,10', sharpen: '' },
    },
  });
  if (!(facts.data instanceof Object) || !('output' in facts.data)) throw new Error('no facts');

  const renamed = must(
    await client.PATCH('/api/sdk/v1/projects/{projectId}', { params, body: { name: 'Old shop' } }),
  );
  const deletion = await client.DELETE('/api/sdk/v1/projects/{projectId}', {
    params: { ...params, query: { force: true } },
  });
  if (deletion.response.status !== 204) throw new Error(deletion.error?.code);

  const { error } = await client.GET('/api/sdk/v1/projects/{projectId}', {
    params: { path: { projectId: 'prj_0000000000000000' } },
  });
  const { data: health } = await client.GET('/api/health');

  // Compare each type with the expected type.
  /** @type {string} */
  const newName = renamed.project.name;
  /** @type {number | null} */
  const maxWidth = changed.project.maxWidth;
  /** @type {string[]} */
  const hosts = added.project.allowedOrigins;
  /** @type {boolean} */
  const accepted = prewarm.accepted;
  /** @type {'accepted' | 'done' | 'failed'} */
  const status = progress.prewarm.status;
  /** @type {'contain' | 'cover' | 'fill' | 'inside' | 'outside'} */
  const fit = changed.project.defaultFit;
  /** @type {number | null} */
  const rendersPerDay = limits.rendersPerDay;
  /** @type {number} */
  const days = used.usage.days.length;
  /** @type {string | undefined} */
  const code = error?.code;
  /** @type {boolean | undefined} */
  const ok = health?.ok;
  return {
    id: project.id,
    listed: projects.map(({ id }) => id),
    name: read.project.name,
    newName,
    maxWidth,
    fit,
    template: configuration.transformUrlTemplate,
    hosts,
    accepted,
    variants: prewarm.variantCount,
    status,
    rendersPerDay,
    days,
    preset: card.preset.parameters.w,
    presets,
    left: [removed.project.allowedOrigins, removedByBody.project.allowedOrigins],
    type: picture.response.headers.get('content-type'),
    width: facts.data.output.width,
    code,
    ok,
  };
}
