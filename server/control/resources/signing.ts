import { ServiceError } from '../../../contract/errors.ts';
import type { Project } from '../../../store/projects.ts';
import { checkSource, signImageUrl, signingSecrets } from '../../image/access.ts';
import { siteAtHost } from '../../image/site.ts';
import { resolveSource } from '../../image/source-url.ts';
import { itemResult, operation, optional } from '../operation.ts';
import { type BodyOf, named, strictObject } from '../schema.ts';
import { findProject, reportProjectChange, type Services } from '../services.ts';
import { invalidRequest } from '../validation-messages.ts';

const ttl = {
  type: ['integer', 'null'],
  minimum: 60,
  maximum: 2_592_000,
  description: 'Maximum lifetime of a signed URL in seconds; null for no limit.',
  examples: [3_600],
} as const;

const fields = {
  required: { type: 'boolean', description: 'Whether image URLs require a signature.' },
  ttlSeconds: ttl,
  secretCount: {
    type: 'integer',
    minimum: 0,
    maximum: 2,
    description: 'Number of valid secrets: 2 while a secret is being replaced.',
  },
} as const;

const signing = named(
  'Signing',
  { description: "A project's URL signing, without its secrets.", ...strictObject(fields) },
  { required: true, ttlSeconds: 3_600, secretCount: 1 },
);

const newSecret = named(
  'NewSigningSecret',
  {
    description: 'A secret that signs URLs. No operation returns it again.',
    ...strictObject({ ...fields, secret: { type: 'string' } }),
  },
  { ...signing.example, secret: 'Jt3mVb0o2fK1c5wq8y6l4R7nZx9hGdPeUaSiTkQvMjE' },
);

const secretInput = named(
  'SigningSecretInput',
  {
    type: 'object',
    properties: {
      ttlSeconds: {
        ...ttl,
        description: `${ttl.description} Only for the first secret, or with replaceAll.`,
      },
      replaceAll: {
        type: 'boolean',
        description:
          'Revokes all previous secrets and their signed URLs at once. Otherwise the last secret stays valid until you revoke it.',
      },
    },
    additionalProperties: false,
  },
  { replaceAll: true, ttlSeconds: 3_600 },
);

const urlInput = named(
  'SignedUrlInput',
  {
    type: 'object',
    properties: {
      url: {
        type: 'string',
        maxLength: 8_192,
        description:
          'An image URL of the project, its path and query starting with `/img`, or a delivery host URL.',
        examples: [
          '/img/https%3A%2F%2Fshop.example.com%2Fa.jpg?project=prj_32gx1acb9wtykf3m&w=800',
        ],
      },
      validFor: {
        type: 'integer',
        minimum: 1,
        maximum: 2_592_000,
        description: "Seconds; defaults to the project's ttlSeconds or an hour.",
        examples: [600],
      },
    },
    required: ['url'],
    additionalProperties: false,
  },
  {
    url: '/img/https%3A%2F%2Fshop.example.com%2Fa.jpg?project=prj_32gx1acb9wtykf3m&w=800',
    validFor: 600,
  },
);

const signedUrl = named(
  'SignedUrl',
  strictObject({
    url: { type: 'string', description: 'The URL with `exp` and `sig` appended.' },
    expiresAt: { type: 'string', format: 'date-time' },
  }),
  {
    url: '/img/https%3A%2F%2Fshop.example.com%2Fa.jpg?project=prj_32gx1acb9wtykf3m&w=800&exp=1795167692&sig=6S6sYQh1',
    expiresAt: '2026-11-20T09:41:32.000Z',
  },
);

function toBody(project: Project): BodyOf<typeof signing> {
  const { requireSignedUrls: required, signedUrlTtlSeconds: ttlSeconds } = project;
  return { required, ttlSeconds, secretCount: signingSecrets(project).length };
}

/**
 * Signing requires a key for all projects: the secret gives access to every size and source of the
 * project.
 */
export const signingOperations = {
  getProjectSigning: operation({
    method: 'GET',
    path: '/projects/{projectId}/signing',
    summary: 'Read the signing settings',
    description: 'Contains no secrets. Requires a key for all projects.',
    scope: 'all-projects',
    result: itemResult('signing', signing),
    handle: async ({ path }, services) => toBody(await findProject(services, path.projectId)),
  }),
  createSigningSecret: operation({
    method: 'POST',
    path: '/projects/{projectId}/signing/secrets',
    summary: 'Require signatures, or replace the secret',
    description:
      'Returns a new secret, once. After the first secret, the project accepts only signed URLs, within two seconds. After another secret, both are valid until the previous secret is revoked. Requires a write key for all projects.',
    scope: 'all-projects',
    input: optional(secretInput),
    status: 201,
    result: itemResult('signing', newSecret),
    handle: async ({ path: { projectId }, input }, services) => {
      const project = await createSigningSecret(services, projectId, input ?? {});
      return { ...toBody(project), secret: project.signingSecret ?? '' };
    },
  }),
  revokePreviousSigningSecret: operation({
    method: 'DELETE',
    path: '/projects/{projectId}/signing/secrets/previous',
    summary: 'Revoke the previous secret',
    description:
      'Rejects URLs signed with the previous secret, within two seconds. If there is no previous secret, nothing changes. Requires a write key for all projects.',
    scope: 'all-projects',
    result: itemResult('signing', signing),
    handle: async ({ path: { projectId } }, services) => {
      const change = services.projects.revokePreviousSecret(projectId);
      return toBody(await reportProjectChange(services, projectId, change));
    },
  }),
  stopRequiringSignatures: operation({
    method: 'DELETE',
    path: '/projects/{projectId}/signing',
    summary: 'Accept unsigned image URLs',
    description: 'Deletes the secrets. Requires a write key for all projects.',
    scope: 'all-projects',
    result: itemResult('signing', signing),
    handle: async ({ path: { projectId } }, services) => {
      const change = services.projects.stopRequiringSignatures(projectId);
      return toBody(await reportProjectChange(services, projectId, change));
    },
  }),
  signProjectUrl: operation({
    method: 'POST',
    path: '/projects/{projectId}/signed-urls',
    summary: 'Sign an image URL',
    description:
      'Signs with the current secret. Intended for single URLs, such as in a console; backends sign their URLs themselves. Requires a write key for all projects.',
    scope: 'all-projects',
    input: urlInput,
    result: itemResult('signedUrl', signedUrl),
    handle: async ({ path, input }, services) =>
      signUrl(await findProject(services, path.projectId), services.baseUrl, input),
  }),
};

/**
 * Creates a secret. The first secret makes the project require signatures; another one stays valid
 * beside the previous secret, or replaces all with `replaceAll`.
 *
 * @throws ServiceError project_not_found, invalid_request
 */
export async function createSigningSecret(
  services: Pick<Services, 'projects' | 'onChange'>,
  projectId: string,
  { ttlSeconds, replaceAll = false }: BodyOf<typeof secretInput>,
): Promise<Project> {
  const before = await findProject(services, projectId);
  const changed = () => invalidRequest('the secrets have just changed; try again');
  if (before.signingSecret === null || replaceAll) {
    const ttl = ttlSeconds === undefined ? before.signedUrlTtlSeconds : ttlSeconds;
    const change = services.projects.requireSignatures(projectId, ttl, ({ signingSecret }) => {
      if (signingSecret !== null && !replaceAll) throw changed();
    });
    return reportProjectChange(services, projectId, change);
  }
  if (ttlSeconds !== undefined) {
    throw invalidRequest('ttlSeconds is only for the first secret, or with replaceAll');
  }
  if (signingSecrets(before).length === 2) {
    throw invalidRequest('the project has two valid secrets; revoke the previous one first');
  }
  const rotated = await services.projects.rotateSecret(before);
  if (rotated === null) throw changed();
  services.onChange(rotated);
  return rotated;
}

/**
 * Signs a URL with the current secret, for an hour or the project's shorter limit by default.
 *
 * @throws ServiceError invalid_request, also if the project does not allow the URL's source
 */
export function signUrl(
  project: Project,
  baseUrl: string,
  input: BodyOf<typeof urlInput>,
): BodyOf<typeof signedUrl> {
  const { signingSecret: secret, signedUrlTtlSeconds } = project;
  if (secret === null) throw invalidRequest('the project has no secret yet');
  const longest = signedUrlTtlSeconds ?? Number.POSITIVE_INFINITY;
  const { url, validFor = Math.min(3_600, longest) } = input;
  if (validFor > longest) throw invalidRequest(`validFor must be at most ${longest}`);
  const exp = Math.floor(Date.now() / 1_000) + validFor;
  let signed: string | null;
  try {
    signed = signImageUrl(url, {
      projectId: project._id,
      siteAt: (host) => siteAtHost(project, host),
      secret,
      exp,
      basePath: new URL(baseUrl).pathname,
      check: ({ source }) => checkSource(project, resolveSource(source, project.origin)),
    });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw invalidRequest(`url is not an image URL that the project delivers. ${error.message}`);
  }
  if (signed === null) throw invalidRequest('url must be an image URL of the project');
  return { url: signed, expiresAt: new Date(exp * 1_000).toISOString() };
}
