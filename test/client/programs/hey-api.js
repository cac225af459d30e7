// @ts-check

import { createClient } from './hey-api/client/index.js';
import {
  addProjectDomain,
  createProject,
  deleteProjectPreset,
  getHealth,
  getImage,
  getProject,
  getProjectConfiguration,
  getProjectPreset,
  listProjectPresets,
  listProjects,
  prewarmProjectImages,
  putProjectPreset,
  removeProjectDomain,
  updateProjectSettings,
} from './hey-api/index.js';

/**
 * Runs the program of openapi-fetch.js with the client that `@hey-api/openapi-ts` generates.
 * @param {string} baseUrl
 * @param {string} key
 * @param {string} source
 */
export async function drive(baseUrl, key, source) {
  const client = createClient({ baseUrl, auth: key });
  const must = /** @type {const} */ ({ client, throwOnError: true });

  const {
    data: { project },
  } = await createProject({
    ...must,
    body: { name: 'My shop', origin: 'https://shop.example.com/', allowedOrigins: ['127.0.0.1'] },
  });
  const path = { projectId: project.id };
  const listed = await listProjects(must);
  const read = await getProject({ ...must, path });
  const changed = await updateProjectSettings({
    ...must,
    path,
    body: { defaultQuality: 70, defaultFit: 'inside', maxWidth: 2_000 },
  });
  const { data: described } = await getProjectConfiguration({ ...must, path });
  const added = await addProjectDomain({ ...must, path, body: { host: 'cdn.example.com' } });
  const { data: queued } = await prewarmProjectImages({
    ...must,
    path,
    body: { sources: [source], widths: [400, 800], formats: ['webp'] },
  });
  const removed = await removeProjectDomain({ ...must, path, query: { host: 'cdn.example.com' } });
  const removedByBody = await removeProjectDomain({
    ...must,
    path,
    body: { host: 'shop.example.com' },
  });
  const named = { ...must, path: { ...path, presetName: 'card' } };
  const card = await putProjectPreset({
    ...named,
    body: { parameters: { w: 40, fit: 'cover', flip: true } },
  });
  await getProjectPreset(named);
  await listProjectPresets({ ...must, path });
  const {
    data: { presets },
  } = await deleteProjectPreset(named);
  const picture = await getImage({
    ...must,
    path: { source },
    query: { project: project.id, w: 40, fmt: 'webp', blur: 2.5, flip: true, dpr: 'auto' },
  });
  const facts = await getImage({
    ...must,
    path: { source },
    query: { project: project.id, fmt: 'json', crop: '0,0,20,10', sharpen: '' },
  });
  const { error } = await getProject({ client, path: { projectId: 'prj_0000000000000000' } });
  const { data: health } = await getHealth({ client });

  /** @type {number | null} */
  const maxWidth = changed.data.project.maxWidth;
  /** @type {boolean} */
  const accepted = queued.prewarm.accepted;
  return {
    id: project.id,
    listed: listed.data.projects.map(({ id }) => id),
    name: read.data.project.name,
    maxWidth,
    fit: changed.data.project.defaultFit,
    template: described.configuration.transformUrlTemplate,
    hosts: added.data.project.allowedOrigins,
    accepted,
    variants: queued.prewarm.variantCount,
    preset: card.data.preset.parameters.w,
    presets,
    left: [removed.data.project.allowedOrigins, removedByBody.data.project.allowedOrigins],
    type: picture.response.headers.get('content-type'),
    width: facts.data.output.width,
    code: error?.code,
    ok: health?.ok,
  };
}
