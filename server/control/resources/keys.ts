import { keyIdPattern } from '../../../store/identifiers.ts';
import { type ApiKey, keyAccesses } from '../../../store/keys.ts';
import { List } from '../list.ts';
import { itemResult, listResult, operation } from '../operation.ts';
import { type BodyOf, named, strictObject } from '../schema.ts';
import { findProject } from '../services.ts';
import { invalidRequest } from '../validation-messages.ts';

/** Maximum valid keys per project. */
const maxKeys = 100;

const keyId = {
  type: 'string',
  pattern: keyIdPattern.source,
  description: '`key_` and 16 base-36 characters.',
} as const;

const fields = {
  id: keyId,
  name: { type: 'string' },
  access: { type: 'string', enum: keyAccesses },
  createdAt: { type: 'string', format: 'date-time' },
  revokedAt: {
    type: ['string', 'null'],
    format: 'date-time',
    description: 'When the key was revoked; null for a valid key.',
  },
} as const;

const key = named(
  'ProjectKey',
  { description: 'An API key of one project, without its secret.', ...strictObject(fields) },
  {
    id: 'key_1lezyi1nozlj0yy3',
    name: 'shop backend',
    access: 'read',
    createdAt: '2026-11-20T09:31:32.000Z',
    revokedAt: null,
  },
);

const newKey = named(
  'NewProjectKey',
  {
    description: 'An API key of one project. No operation returns its secret again.',
    ...strictObject({
      ...fields,
      secret: { type: 'string', description: '`sk_` and 43 base64url characters.' },
    }),
  },
  { ...key.example, secret: 'sk_0F8a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6e7f8a9b0' },
);

const keyInput = named(
  'ProjectKeyInput',
  {
    type: 'object',
    properties: {
      name: {
        type: 'string',
        minLength: 1,
        maxLength: 80,
        description: 'User of the key.',
        examples: ['shop backend'],
      },
      access: {
        type: 'string',
        enum: keyAccesses,
        description:
          '`write`, the default of the API, can change the project; `read` can only read it.',
      },
    },
    required: ['name'],
    additionalProperties: false,
  },
  { name: 'shop backend', access: 'read' },
);

const toBody = ({ _id, name, access, createdAt, revokedAt }: ApiKey): BodyOf<typeof key> => ({
  id: _id,
  name,
  access,
  createdAt: createdAt.toISOString(),
  revokedAt: revokedAt?.toISOString() ?? null,
});

const getId = ({ id }: BodyOf<typeof key>): string => id;

/**
 * A project's keys. Managing them requires a key for all projects: with the project's own key, a
 * thief could create another key that outlives the stolen key's revocation.
 */
export const keyOperations = {
  listProjectKeys: operation({
    method: 'GET',
    path: '/projects/{projectId}/keys',
    summary: "List a project's keys",
    description:
      'Lists the keys limited to this project, including revoked keys, ordered by id. Requires a key for all projects.',
    scope: 'all-projects',
    isPaged: true,
    result: listResult('keys', key),
    handle: async ({ path: { projectId }, page }, services) => {
      await findProject(services, projectId);
      return List.of((await services.keys.ofProject(projectId)).map(toBody), getId, page);
    },
  }),
  createProjectKey: operation({
    method: 'POST',
    path: '/projects/{projectId}/keys',
    summary: 'Create a project key',
    description: `Returns the secret, once. A project has at most ${maxKeys} valid keys. Requires a write key for all projects.`,
    scope: 'all-projects',
    input: keyInput,
    status: 201,
    result: itemResult('key', newKey),
    handle: async ({ path: { projectId }, input }, { projects, keys }) => {
      const { _id, orgId } = await findProject({ projects }, projectId);
      const { name, access = 'write' } = input;
      const { key, secret } = await keys.issue({ name, orgId, projectId: _id, access });
      // Count afterwards, because other processes might create keys too, or delete the project with
      // its keys.
      try {
        await findProject({ projects }, projectId);
        if ((await keys.countValid(_id)) > maxKeys) {
          throw invalidRequest(`a project must not have more than ${maxKeys} valid keys`);
        }
      } catch (error) {
        await keys.delete(key._id);
        throw error;
      }
      return { ...toBody(key), secret };
    },
  }),
  revokeProjectKey: operation({
    method: 'DELETE',
    path: '/projects/{projectId}/keys/{keyId}',
    parameters: { keyId: { schema: keyId, example: key.example.id } },
    summary: 'Revoke a project key',
    description:
      "Takes effect within two seconds and returns the project's keys. Revoking a missing key is not an error. Requires a write key for all projects.",
    scope: 'all-projects',
    result: listResult('keys', key),
    handle: async ({ path: { projectId, keyId } }, services) => {
      if (!keyIdPattern.test(keyId)) {
        throw invalidRequest(
          'the id of the key must be key_ and 16 characters from 0 to 9 and a to z',
        );
      }
      await findProject(services, projectId);
      await services.keys.revoke(keyId, projectId);
      return (await services.keys.ofProject(projectId)).map(toBody);
    },
  }),
};
