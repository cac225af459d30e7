// @ts-check
import {
  addProjectDomain,
  createProject,
  deleteProjectPreset,
  getGetImageByQueryUrl,
  getHealth,
  getImageByQuery,
  getProject,
  getProjectConfiguration,
  getProjectPreset,
  listProjectPresets,
  listProjects,
  prewarmProjectImages,
  putProjectPreset,
  removeProjectDomain,
  updateProjectSettings,
} from './orval/client.js';

/**
 * Runs the program of openapi-fetch.js with the client that `orval` generates, which contains the
 * service's URL.
 * @param {string} _baseUrl
 * @param {string} key
 * @param {string} source
 */
export async function drive(_baseUrl, key, source) {
  const options = { headers: { authorization: `Bearer ${key}` } };

  const made = await createProject(
    { name: 'My shop', origin: 'https://shop.example.com/', allowedOrigins: ['127.0.0.1'] },
    options,
  );
  if (made.status !== 201) throw new Error(`${made.status} ${made.data.code}`);
  const { project } = made.data;
  const listed = await listProjects({}, options);
  const read = await getProject(project.id, options);
  const changed = await updateProjectSettings(
    project.id,
    { defaultQuality: 70, defaultFit: 'inside', maxWidth: 2_000 },
    options,
  );
  const described = await getProjectConfiguration(project.id, options);
  const added = await addProjectDomain(project.id, { host: 'cdn.example.com' }, options);
  const queued = await prewarmProjectImages(
    project.id,
    { sources: [source], widths: [400, 800], formats: ['webp'] },
    options,
  );
  const removed = await removeProjectDomain(
    project.id,
    undefined,
    { host: 'cdn.example.com' },
    options,
  );
  const removedByBody = await removeProjectDomain(
    project.id,
    { host: 'shop.example.com' },
    undefined,
    options,
  );
  const card = await putProjectPreset(
    project.id,
    'card',
    { parameters: { w: 40, fit: 'cover', flip: true } },
    options,
  );
  await getProjectPreset(project.id, 'card', options);
  await listProjectPresets(project.id, {}, options);
  const presets = await deleteProjectPreset(project.id, 'card', options);
  const picture = await fetch(
    getGetImageByQueryUrl({
      url: source,
      project: project.id,
      w: 40,
      fmt: 'webp',
      blur: 2.5,
      flip: true,
      dpr: 'auto',
    }),
  );
  const facts = await getImageByQuery({
    url: source,
    project: project.id,
    fmt: 'json',
    crop: '0,0,20,10',
    sharpen: '',
  });
  const missing = await getProject('prj_0000000000000000', options);
  const { data: health } = await getHealth();

  if (listed.status !== 200 || read.status !== 200 || changed.status !== 200) throw new Error();
  if (described.status !== 200 || added.status !== 200 || queued.status !== 202) throw new Error();
  if (removed.status !== 200 || removedByBody.status !== 200) throw new Error();
  if (card.status !== 200 || presets.status !== 200) throw new Error();
  if (missing.status !== 404 || facts.status !== 200) throw new Error();
  if (!(facts.data instanceof Object) || !('output' in facts.data)) throw new Error();
  /** @type {number | null} */
  const maxWidth = changed.data.project.maxWidth;
  /** @type {boolean} */
  const accepted = queued.data.prewarm.accepted;
  return {
    id: project.id,
    listed: listed.data.projects.map(({ id }) => id),
    name: read.data.project.name,
    maxWidth,
    fit: changed.data.project.defaultFit,
    template: described.data.configuration.transformUrlTemplate,
    hosts: added.data.project.allowedOrigins,
    accepted,
    variants: queued.data.prewarm.variantCount,
    preset: card.data.preset.parameters.w,
    presets: presets.data.presets,
    left: [removed.data.project.allowedOrigins, removedByBody.data.project.allowedOrigins],
    type: picture.headers.get('content-type'),
    width: facts.data.output.width,
    code: missing.data.code,
    ok: health.ok,
  };
}
