import { canonicalUrl } from '../../../contract/hosts.ts';
import { folderTag, maxFolders, sourceTag } from '../../../pool/inputs.ts';
import type { Project } from '../../../store/projects.ts';
import { hookStates } from '../../../store/purges.ts';
import { callStates } from '../../../store/records.ts';
import { isAllowedHost } from '../../image/access.ts';
import { cdnProjectTag, cdnSourceTag } from '../../image/caching.ts';
import { sourceIdentity } from '../../image/source-url.ts';
import { readSourceUrl, urlRule } from '../hosts-and-urls.ts';
import { itemResult, operation } from '../operation.ts';
import {
  type BodyOf,
  callbackUrl,
  exactlyOneOf,
  named,
  sourceReference,
  strictObject,
} from '../schema.ts';
import { findProject, progressNotFound, reportProjectChange, type Services } from '../services.ts';
import { excerpt, rejectInvalid } from '../validation-messages.ts';
import { readCallback } from './callbacks.ts';

export const purgeInput = named(
  'PurgeInput',
  {
    type: 'object',
    description: 'Either sources, or all images of the project.',
    properties: {
      sources: {
        type: 'array',
        items: sourceReference,
        minItems: 1,
        maxItems: 100,
        description: `URLs of the changed sources, or their paths on the project's site. \`/*\` at the end stands for all sources in a folder and its subfolders, at most ${maxFolders - 1} folders deep.`,
        examples: [['https://shop.example.com/a.jpg']],
      },
      all: { type: 'boolean', enum: [true], description: 'All images of the project.' },
      callbackUrl,
    },
    allOf: exactlyOneOf('sources', 'all'),
    additionalProperties: false,
  },
  { sources: ['https://shop.example.com/a.jpg'] },
);

const receipt = named(
  'PurgeReceipt',
  strictObject({
    accepted: { type: 'boolean', description: 'Always true.' },
    sourceCount: { type: 'integer', minimum: 0, description: '0 for all images.' },
  }),
  { accepted: true, sourceCount: 1 },
);

const idSchema = {
  type: 'string',
  pattern: '^[0-9]{1,16}$',
} as const;

const status = named(
  'PurgeStatus',
  {
    description: 'Status of a purge.',
    ...strictObject({
      id: idSchema,
      status: {
        type: 'string',
        enum: callStates,
        description:
          '`done` once the purge is in effect everywhere (after two seconds) and any purge hook was called; `failed` if the hook could not be called for a day.',
      },
      sourceCount: { type: 'integer', minimum: 0, description: '0 for all images.' },
      hook: strictObject({
        status: { type: 'string', enum: hookStates },
        reason: { type: 'string', description: 'Why the last call failed; empty if it succeeded.' },
      }),
      createdAt: { type: 'string', format: 'date-time' },
    }),
  },
  {
    id: '1795167092000',
    status: 'done',
    sourceCount: 1,
    hook: { status: 'done', reason: '' },
    createdAt: '2026-11-20T09:31:32.000Z',
  },
);

export const purgeOperations = {
  purgeProjectImages: operation({
    method: 'POST',
    path: '/projects/{projectId}/purge',
    summary: 'Purge images',
    description:
      'Purges the cached images of sources, or all images of the project. Within 2 seconds, no process that reaches the store serves an image made from bytes fetched before the purge. Name sources by the URL in image URLs, not by a URL to which it redirects. The watermark URL purges all images with the watermark. The `Location` header contains the path at which to read the progress; its last segment is the `purgeId`.',
    input: purgeInput,
    maxBodyBytes: 1_048_576,
    status: 202,
    result: itemResult('purge', receipt),
    hasLocation: true,
    handle: async ({ path, input, locate }, services) => {
      const { id, sourceCount } = await purgeImages(services, path.projectId, input);
      locate(`/projects/${path.projectId}/purges/${id}`);
      return { accepted: true, sourceCount };
    },
  }),
  getProjectPurge: operation({
    method: 'GET',
    path: '/projects/{projectId}/purges/{purgeId}',
    parameters: { purgeId: { schema: idSchema, example: status.example.id } },
    summary: 'Read the progress of a purge',
    description:
      'Returns the status of a purge from the last day. The id is the last segment of the `Location` header of its response. A project keeps the last 1,000 purges.',
    result: itemResult('purge', status),
    handle: async ({ path: { projectId, purgeId } }, services) => {
      await findProject(services, projectId);
      const purge = await services.purges.find(projectId, purgeId);
      return purge ?? progressNotFound('purge_not_found', 'purge', purgeId);
    },
  }),
};

/**
 * Purges the images of sources, or all images of a project.
 * @returns the id for querying the progress, and the number of sources, 0 for all images
 */
export async function purgeImages(
  services: PurgeServices & Pick<Services, 'guard' | 'callbacks'>,
  id: string,
  input: BodyOf<typeof purgeInput>,
): Promise<{ readonly id: string; readonly sourceCount: number }> {
  const project = await findProject(services, id);
  const identify = (url: URL) => sourceIdentity(url, project.freshness);
  const watermarkTag = project.watermarkUrl && sourceTag(identify(new URL(project.watermarkUrl)));
  const errors: string[] = [];
  /** The tags in CDNs, by the service's own tags. */
  const sources = new Map<string, string>();
  for (const [index, text] of (input.sources ?? []).entries()) {
    const given = readSourceUrl(text, project);
    const source = given && identify(given);
    const folder = source === null ? null : readFolder(source);
    // The watermark's host need not be on the allowlist.
    const isUsed =
      source !== null &&
      (isAllowedHost(project, source.hostname) || sourceTag(source) === watermarkTag);
    const isTooDeep = folder !== null && folder.split('/').length - 3 > maxFolders;
    const rule =
      source === null
        ? urlRule
        : isTooDeep
          ? `must be at most ${maxFolders - 1} folders deep`
          : 'must be on an allowed host, or the watermark';
    if (source === null || !isUsed || isTooDeep) {
      errors.push(`sources[${index}] (${excerpt(text)}) ${rule}`);
    } else if (folder === null) sources.set(sourceTag(source), cdnSourceTag(id, source));
    // CDNs know no tags of folders.
    else sources.set(folderTag(folder), cdnProjectTag(id));
  }
  rejectInvalid(errors);
  const callbackUrl = await readCallback(input.callbackUrl, id, services);
  const tags = input.sources === undefined ? null : [...sources.keys()];
  const cdnTags = [...sources.values()];
  const change = () => services.projects.purge(id, tags);
  const purgeId = await purgeWith(services, id, tags && cdnTags, change);
  if (callbackUrl !== null) {
    const callback = { projectId: id, url: callbackUrl, subject: 'purge', id: purgeId } as const;
    await services.callbacks?.add(callback).catch(() => {});
  }
  return { id: purgeId, sourceCount: sources.size };
}

/** Returns the canonical URL of a folder, which a source that ends with `/*` names, or null. */
function readFolder(source: URL): string | null {
  const { origin, pathname, search } = canonicalUrl(source);
  return search === '' && pathname.endsWith('/*') ? origin + pathname.slice(0, -1) : null;
}

type PurgeServices = Pick<Services, 'projects' | 'purges' | 'callsPurgeHook' | 'onChange'>;

/**
 * Makes a change that purges a project's images, and notifies the CDN. After the change the purge
 * is in effect, so the following steps must not fail.
 *
 * @param cdnTags tags of the purged sources; null for all images
 * @returns the purge id
 * @throws ServiceError project_not_found
 */
export async function purgeWith(
  services: PurgeServices,
  projectId: string,
  cdnTags: readonly string[] | null,
  change: () => Promise<Project | null>,
): Promise<string> {
  const { purges, callsPurgeHook } = services;
  const ofProject = cdnProjectTag(projectId);
  const job = { projectId, tags: cdnTags ?? [ofProject] };
  const hook = callsPurgeHook ? await purges.hold(job, ofProject) : null;
  const { revision } = await reportProjectChange(services, projectId, change());
  const id = String(revision);
  // If this fails, the hook runs later.
  const confirmed = purges.confirm(id, { projectId, sourceCount: cdnTags?.length ?? 0, hook });
  await confirmed.catch(() => {});
  return id;
}
