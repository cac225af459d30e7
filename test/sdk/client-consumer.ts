import {
  ApiError,
  type Client,
  type ClientOptions,
  ConnectionError,
  createClient,
  type ErrorCode,
  type PrewarmStatus,
  type Project,
  TimeoutError,
  type Usage,
} from '../../sdk/src/client/index.ts';
import type { ImageUrls } from '../../sdk/src/index.ts';

/**
 * An integrator's program, which is only compiled. Each expected error marks a mistake that the
 * types detect.
 */
export async function consume(options: ClientOptions, images: ImageUrls): Promise<void> {
  const client: Client = createClient({ ...options, retries: { count: 1 }, timeoutMs: 5_000 });
  const { signal } = new AbortController();

  const projects: readonly Project[] = await client.listProjects({ signal });
  const [{ id: projectId } = { id: '' }] = projects;
  for await (const { name } of client.iterate('listProjects', {}, { signal })) {
    name satisfies string;
  }
  // @ts-expect-error This operation returns no list.
  client.iterate('getProject', { projectId });
  const maxWidth: number | null = (await client.getProject({ projectId }, { signal })).maxWidth;
  const usage: Usage = await client.getProjectUsage({ projectId, from: '2026-11-01' });
  const csv: string = await client.getProjectUsage({ projectId, format: 'csv' });
  await client.updateProjectSettings({
    projectId,
    maxWidth: maxWidth ?? 2_000,
    defaultFit: 'inside',
  });
  await client.putProjectPreset({ projectId, presetName: 'card', parameters: { w: 40 } });
  await client.removeProjectDomain({ projectId, host: 'a.example' });
  const { prewarmId, sourceCount } = await client.prewarmProjectImages({ projectId, src: csv });
  const status: PrewarmStatus = await client.waitForPrewarm({ projectId, prewarmId }, { signal });
  const purgeId: string | null = (await client.purgeProjectImages({ projectId, all: true }))
    .purgeId;
  for (const prewarm of await client.warm(images.picture(csv)))
    await client.waitForPrewarm(prewarm);
  const ok: boolean =
    (await client.getHealth()).ok &&
    (await client.getLiveness()).ok &&
    (await client.getReadiness({ signal })).ready;

  (await client.deleteProject({ projectId, force: true })) satisfies undefined;

  // @ts-expect-error A field of the path is missing.
  await client.getProject({});
  // @ts-expect-error A field of the body is missing.
  await client.createProject({ name: 'Shop' });
  // @ts-expect-error A field that does not exist.
  await client.updateProjectSettings({ projectId, defaultQualty: 70 });
  // @ts-expect-error A wrong type.
  await client.updateProjectSettings({ projectId, defaultQuality: '70' });
  // @ts-expect-error A wrong word.
  await client.updateProjectSettings({ projectId, defaultFit: 'squeeze' });
  // @ts-expect-error An operation that does not exist.
  await client.deleteProjects({ projectId });
  // @ts-expect-error The host is missing.
  await client.removeProjectDomain({ projectId });
  // @ts-expect-error The result can be null.
  await client.getProjectPurge({ projectId, purgeId });
  // @ts-expect-error A field of the result that does not exist.
  status.variants satisfies number;
  // @ts-expect-error The key is missing.
  createClient({ baseUrl: 'https://img.example.com' });
  // @ts-expect-error The client exposes no key.
  client.apiKey satisfies string;

  try {
    await client.listProjects();
  } catch (error) {
    if (error instanceof ApiError) {
      const {
        requestId,
        retryAfter,
        hint,
      }: Record<'requestId' | 'hint', string | null> & {
        retryAfter: number | null;
      } = error;
      const code: ErrorCode = error.code;
      // Editors complete listed codes, and the types allow other codes.
      if (code === 'project_not_found' || code === 'a_later_code') throw [requestId, hint];
      throw [error.status satisfies number, retryAfter];
    }
    if (error instanceof ConnectionError) throw error.code satisfies 'connection_lost';
    if (error instanceof TimeoutError) throw error.timeoutMs satisfies number;
  }
  throw [usage.total.requests, sourceCount, ok];
}
