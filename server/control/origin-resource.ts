import { canonicalAuthority } from '../../contract/hosts.ts';
import { originHeadersRule, readOriginHeaders } from '../../contract/origin-headers.ts';
import { parseS3Location, type S3Location } from '../../contract/s3-location.ts';
import { bucketUrl } from '../../pool/s3/object-url.ts';
import type { AddressGuard } from '../../pool/source/guard.ts';
import type { Keyring } from '../../store/keyring.ts';
import { originField } from '../../store/project-origin.ts';
import type { Project, Projects } from '../../store/projects.ts';
import type { Origins } from '../origins/origins.ts';
import { type ProjectTarget, sealOrigin } from '../origins/sealed-origin.ts';
import { privateHostError } from './hosts-and-urls.ts';
import { rejectInvalid } from './invalid.ts';
import { NamedResource, type NamedResourceEnvironment } from './named-resource.ts';
import type { Body } from './schemas.ts';

const hostRule = 'must be a host name without wildcard, with an optional port';

export type OriginResource = NamedResource<Body<'ProjectOriginInput'>, Body<'ProjectOrigin'>>;

export interface OriginsResourceEnvironment extends NamedResourceEnvironment {
  readonly projects: Pick<Projects, 'find' | 'setOrigin' | 'removeOrigin'>;
  readonly guard: AddressGuard;
  readonly keyring: Keyring;
  readonly origins: Pick<Origins, 'isOperators'>;
}

/** The private origins of projects, by host. Clients can write their secrets, but not read them. */
export function originResource(environment: OriginsResourceEnvironment): OriginResource {
  const { projects, guard, keyring, origins } = environment;
  return new NamedResource(environment, {
    plural: 'origins',
    limit: 20,
    readName: readHost,
    checkInput: (input, host, projectId) => {
      if (keyring.isEmpty) {
        rejectInvalid(['origins need SERVICE_ENCRYPTION_KEYS, which the operator has not set']);
      }
      if (origins.isOperators(projectId, host)) {
        rejectInvalid([`the operator has configured the origin of ${host}`]);
      }
      readTarget(host, input, guard);
    },
    set: (projectId, host, input) => {
      const target = readTarget(host, input, guard);
      const location = input.s3?.location ?? null;
      return projects.setOrigin(projectId, sealOrigin(keyring, projectId, host, target, location));
    },
    unset: (projectId, host) => projects.removeOrigin(projectId, host),
    names: (project) => Object.values(project.origins ?? {}).map(({ host }) => host),
    find: originBody,
  });
}

/** @throws ServiceError invalid_request */
function readTarget(
  host: string,
  { headers, s3 }: Body<'ProjectOriginInput'>,
  guard: AddressGuard,
): ProjectTarget {
  const hostError = privateHostError(new URL(`https://${host}/`), guard);
  if (hostError !== null) rejectInvalid([`host ${hostError}`]);
  if (headers !== undefined && s3 !== undefined) {
    rejectInvalid(['either headers or s3 is allowed, not both']);
  }
  if (s3 !== undefined) {
    const { accessKeyId, secretAccessKey } = s3;
    return { kind: 's3', location: readLocation(s3.location, guard), accessKeyId, secretAccessKey };
  }
  const read = readOriginHeaders(Object.entries(headers ?? {}));
  if (read === null) rejectInvalid([`headers ${originHeadersRule}`]);
  return { kind: 'headers', headers: read ?? {} };
}

function readHost(text: string): string {
  const host = canonicalAuthority(text);
  if (host === null) rejectInvalid([`host ${hostRule}`]);
  return host ?? '';
}

/** Parses a location, and refuses endpoints from which a project could not fetch a source either. */
function readLocation(text: string, guard: AddressGuard): S3Location {
  let location: S3Location;
  try {
    location = parseS3Location(text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return rejectInvalid([`s3.location is not valid: ${error.message}`]);
  }
  const url = bucketUrl(location);
  const error = privateHostError(url, guard);
  if (error !== null) rejectInvalid([`the endpoint of s3.location ${error}`]);
  if (url.protocol !== 'https:' && !guard.isPrivateSource(url)) {
    rejectInvalid(['the endpoint of s3.location must be an https URL']);
  }
  return location;
}

/** @param host of `names` */
function originBody({ origins = {} }: Project, host: string): Body<'ProjectOrigin'> {
  const origin = origins[originField(host)];
  if (origin === undefined) throw new Error('the project has no origin of this host');
  const { headers, location, updatedAt } = origin;
  return { host, headers: [...headers], location, updatedAt: updatedAt.toISOString() };
}
