import { ServiceError } from '../../../contract/errors.ts';
import { canonicalAuthority } from '../../../contract/hosts.ts';
import { originHeadersRule, readOriginHeaders } from '../../../contract/origins.ts';
import { parseS3Location, type S3Location } from '../../../contract/s3-location.ts';
import { bucketUrl } from '../../../pool/s3/object-url.ts';
import type { AddressGuard } from '../../../pool/source/guard.ts';
import { itemOfHost } from '../../../store/project.ts';
import type { Project } from '../../../store/projects.ts';
import { type ProjectTarget, sealOrigin } from '../../origins/sealed-origin.ts';
import { privateHostError } from '../hosts-and-urls.ts';
import { ProjectItems } from '../project-items.ts';
import { type BodyOf, exactlyOneOf, named, secretText, strictObject } from '../schema.ts';
import { invalidRequest } from '../validation-messages.ts';

const hostRule = 'must be a host name without wildcard, with an optional port';

const hostSchema = {
  type: 'string',
  description: 'A host name without wildcard, with its port unless it is 443 or 80.',
} as const;

const origin = named(
  'ProjectOrigin',
  {
    description: "How the service fetches a host's sources; contains no secrets.",
    ...strictObject({
      host: hostSchema,
      headers: {
        type: 'array',
        items: { type: 'string' },
        description: 'Names of the request headers, in lower case.',
      },
      location: {
        type: ['string', 'null'],
        description: 'Bucket that contains the sources; null for an HTTP origin.',
      },
      updatedAt: { type: 'string', format: 'date-time' },
    }),
  },
  {
    host: 'photos.example.com',
    headers: ['authorization'],
    location: null,
    updatedAt: '2026-11-20T09:31:32.000Z',
  },
);

/** The operation checks the headers and the location, with messages that do not repeat a secret. */
const originInput = {
  ...named(
    'ProjectOriginInput',
    {
      type: 'object',
      description: 'Either request headers, or a bucket.',
      properties: {
        headers: {
          type: 'object',
          additionalProperties: { type: 'string', writeOnly: true },
          minProperties: 1,
          maxProperties: 16,
          description:
            'Request headers by name. At most 8 KiB; values consist of visible ASCII characters.',
        },
        s3: {
          ...strictObject({
            location: {
              type: 'string',
              maxLength: 2_048,
              description:
                '`s3://bucket/prefix?region=…` for AWS, or `s3://bucket/prefix?endpoint=https://…` for another service.',
              examples: ['s3://bucket/prefix?region=eu-central-1'],
            },
            accessKeyId: {
              ...secretText,
              maxLength: 256,
              description: 'Access key id of credentials with read-only access to the bucket.',
              examples: ['AKIAEXAMPLE123'],
            },
            secretAccessKey: {
              ...secretText,
              maxLength: 1_024,
              description: 'Secret access key. It is encrypted and never shown again.',
              examples: ['the-secret-of-the-key'],
            },
          }),
          description: 'A bucket, and credentials that can read its objects.',
        },
      },
      allOf: exactlyOneOf('headers', 's3'),
      additionalProperties: false,
    },
    { headers: { Authorization: 'Bearer a-token' } },
  ),
  isSecret: true,
} as const;

type Origin = BodyOf<typeof origin>;
type OriginInput = BodyOf<typeof originInput>;

/** By host. Clients can write the secrets, but not read them. */
const origins = new ProjectItems<OriginInput, Origin, 'guard' | 'keyring' | 'loaders'>({
  singular: 'origin',
  plural: 'origins',
  field: 'origins',
  title: 'private origin',
  parameter: { name: 'host', schema: hostSchema },
  input: originInput,
  body: origin,
  limit: 20,
  readName: readHost,
  checkInput: async (input, host, projectId, services) => {
    if (services.keyring.isEmpty) {
      throw new ServiceError(
        'invalid_request',
        'The service cannot encrypt the credentials of a private source.',
        undefined,
        { hint: 'Ask the operator to set SERVICE_ENCRYPTION_KEYS, then retry.' },
      );
    }
    if (services.loaders.isOperators(projectId, host)) {
      throw invalidRequest(`the operator has configured the origin of ${host}`);
    }
    readTarget(host, input, services.guard);
    if (input.headers !== undefined) await checkPort(host, services.guard);
  },
  set: ({ projects, guard, keyring }, projectId, host, input, check) => {
    const target = readTarget(host, input, guard);
    const location = input.s3?.location ?? null;
    const sealed = sealOrigin(keyring, projectId, host, target, location);
    return projects.setItem(projectId, 'origins', host, sealed, check);
  },
  names: (project) => Object.values(project.origins ?? {}).map(({ host }) => host),
  getName: ({ host }) => host,
  find: originBody,
});

export const originOperations = origins.operations({
  list: 'Hosts with sources in a bucket, or with sources that need request headers. Contains no secrets.',
  put: "Sets the request headers for a host's sources, or the bucket that contains them. They are stored encrypted, and no operation returns them. Sources need the host on the allowlist. Cached images do not change.",
  remove:
    "Returns the remaining origins. Deleting a missing origin is not an error. Afterwards the service fetches the host's sources without headers.",
});

/** @throws ServiceError invalid_request */
function readTarget(
  host: string,
  { headers, s3 }: OriginInput,
  guard: AddressGuard,
): ProjectTarget {
  const hostError = privateHostError(new URL(`https://${host}/`), guard);
  if (hostError !== null) throw invalidRequest(`host ${hostError}`);
  if (s3 !== undefined) {
    const { accessKeyId, secretAccessKey } = s3;
    return { kind: 's3', location: readLocation(s3.location, guard), accessKeyId, secretAccessKey };
  }
  const read = readOriginHeaders(Object.entries(headers ?? {}));
  if (read === null) throw invalidRequest(`headers ${originHeadersRule}`);
  return { kind: 'headers', headers: read };
}

/** Refuses a port that is allowed only on a private network in which the host is not. */
async function checkPort(host: string, guard: AddressGuard): Promise<void> {
  const url = new URL(`https://${host}/`);
  if (url.port === '' || url.hostname.startsWith('[')) return;
  await guard.findAddresses(url.hostname, Number(url.port)).catch((error: unknown) => {
    // The name might not be in the DNS yet.
    if (!(error instanceof ServiceError) || error.code !== 'source_blocked') return;
    throw invalidRequest(`host cannot be used: ${error.message}`);
  });
}

function readHost(text: string): string {
  const host = canonicalAuthority(text);
  if (host === null) throw invalidRequest(`host ${hostRule}`);
  return host;
}

/** Parses a location, and refuses endpoints that the project could not fetch sources from. */
function readLocation(text: string, guard: AddressGuard): S3Location {
  let location: S3Location;
  try {
    location = parseS3Location(text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw invalidRequest(`s3.location is not valid: ${error.message}`);
  }
  const url = bucketUrl(location);
  const error = privateHostError(url, guard);
  if (error !== null) throw invalidRequest(`the endpoint of s3.location ${error}`);
  if (url.protocol !== 'https:' && !guard.isPrivateSource(url)) {
    throw invalidRequest('the endpoint of s3.location must be an https URL');
  }
  return location;
}

/** @param host of `names` */
function originBody(project: Project, host: string): Origin {
  const stored = itemOfHost(project.origins, host);
  if (stored === undefined) throw new Error('the project has no private origin for this host');
  const { headers, location, updatedAt } = stored;
  return { host, headers: [...headers], location, updatedAt: updatedAt.toISOString() };
}
