import { ServiceError } from '../../../contract/errors.ts';
import type { UrlSecret } from '../../../store/project.ts';
import type { Project } from '../../../store/projects.ts';
import { type UrlSecretKind, urlSecretKinds } from '../../../urls/src/index.ts';
import { ProjectItems } from '../project-items.ts';
import { type BodyOf, named, secretText, strictObject } from '../schema.ts';
import { invalidRequest } from '../validation-messages.ts';

const kinds = Object.keys(urlSecretKinds) as UrlSecretKind[];

const kindSchema = {
  type: 'string',
  enum: kinds,
  description: 'Service that signs its URLs with the secret, as in `urls` of a delivery host.',
} as const;

const urlSecret = named(
  'UrlSecret',
  {
    description: "A secret that signs another service's URLs. Responses omit the secret.",
    ...strictObject({
      kind: kindSchema,
      secretCount: {
        type: 'integer',
        minimum: 1,
        maximum: 2,
        description: 'Valid secrets: 2 while one is being replaced.',
      },
      updatedAt: { type: 'string', format: 'date-time' },
    }),
  },
  { kind: 'imgix', secretCount: 1, updatedAt: '2026-11-20T09:31:32.000Z' },
);

const urlSecretInput = {
  ...named(
    'UrlSecretInput',
    {
      type: 'object',
      properties: {
        secret: {
          ...secretText,
          maxLength: 512,
          description:
            "imgix's token, Cloudinary's API secret, thumbor's key, or imgproxy's key in hexadecimal digits.",
          examples: ['FOO123bar'],
        },
        salt: {
          ...secretText,
          maxLength: 512,
          description: "imgproxy's salt in hexadecimal digits; others have none.",
          examples: ['68656c6c6f'],
        },
        keepPrevious: {
          type: 'boolean',
          description: 'Keeps the current secret valid too, until the next change.',
        },
      },
      required: ['secret'],
      additionalProperties: false,
    },
    { secret: 'FOO123bar', keepPrevious: true },
  ),
  isSecret: true,
} as const;

type Secret = BodyOf<typeof urlSecret>;
type UrlSecretInput = BodyOf<typeof urlSecretInput>;

/** By kind. Clients can write the secrets, but not read them. */
export const urlSecrets = new ProjectItems<UrlSecretInput, Secret>({
  singular: 'urlSecret',
  plural: 'urlSecrets',
  field: 'urlSecrets',
  segment: 'url-secrets',
  title: 'URL secret',
  parameter: { name: 'kind', schema: kindSchema },
  input: urlSecretInput,
  body: urlSecret,
  // The secret gives access to every size and source of the project.
  scopes: { read: 'all-projects', write: 'all-projects' },
  limit: kinds.length,
  readName: (text) => {
    const kind = kinds.find((known) => known === text);
    if (kind === undefined) throw invalidRequest(`kind must be one of ${kinds.join(', ')}`);
    return kind;
  },
  checkInput: ({ secret, salt }, kind) => {
    if (!urlSecretKinds[kind as UrlSecretKind].isKeyWithSalt) {
      if (salt !== undefined) throw invalidRequest(`salt is not for secrets of ${kind}`);
    } else if (![secret, salt ?? ''].every((text) => /^(?:[0-9a-f]{2})+$/i.test(text))) {
      throw invalidRequest('secret and salt must be bytes in hexadecimal digits');
    }
  },
  set: ({ projects }, projectId, kind, { secret, salt, keepPrevious }, check) => {
    const stored: UrlSecret = salt === undefined ? { secret } : { secret, salt };
    return projects.setUrlSecret(projectId, kind, stored, keepPrevious, check);
  },
  names: ({ urlSecrets = {} }) => kinds.filter((kind) => urlSecrets[kind] !== undefined),
  getName: ({ kind }) => kind,
  find: secretBody,
});

export const urlSecretOperations = urlSecrets.operations({
  list: 'Lists the services with a URL secret; contains no secrets. Requires a key for all projects.',
  get: 'Returns the time of the last change, but not the secret. Requires a key for all projects.',
  put: "Within two seconds, the project rejects the service's URLs with a wrong signature and, if it requires signatures, unsigned URLs. Requires a write key for all projects.",
  remove:
    "Returns the remaining secrets. Deleting a missing secret is not an error. Without a secret, the project does not check the service's signatures, and rejects its URLs if it requires signatures. Requires a write key for all projects.",
});

/** @throws ServiceError url_secret_not_found */
function secretBody(project: Project, name: string): Secret {
  const kind = kinds.find((known) => known === name);
  const stored = kind && project.urlSecrets?.[kind];
  if (kind === undefined || stored === undefined) {
    const shown = name.slice(0, 40).toWellFormed();
    throw new ServiceError('url_secret_not_found', `The project has no URL secret for ${shown}.`);
  }
  const { valid, updatedAt } = stored;
  return { kind, secretCount: valid.length, updatedAt: updatedAt.toISOString() };
}
