import { canonicalAuthority } from '../../contract/hosts.ts';
import { originHeadersRule, readOriginHeaders } from '../../contract/origin-headers.ts';
import { parseS3Location, type S3Location } from '../../contract/s3-location.ts';
import { bucketUrl } from '../../pool/s3/object-url.ts';
import type { AddressGuard } from '../../pool/source/guard.ts';
import type { Keyring } from '../../store/keyring.ts';
import { originField, type ProjectOrigin } from '../../store/project-origin.ts';
import type { Project, Projects } from '../../store/projects.ts';
import type { Origins } from '../origins/origins.ts';
import { type ProjectTarget, sealOrigin } from '../origins/sealed-origin.ts';
import { requireProject } from '../project-cache.ts';
import { privateHostError } from './hosts-and-urls.ts';
import { rejectInvalid } from './project-resource.ts';
import type { Body } from './schemas.ts';

/** Limited, because a project is kept in memory with its origins. */
const maxOrigins = 20;
const hostRule = 'must be a host name without wildcard, with an optional port';

export interface OriginsResourceEnvironment {
  readonly projects: Pick<Projects, 'find' | 'setOrigin' | 'removeOrigin'>;
  readonly guard: AddressGuard;
  readonly keyring: Keyring;
  readonly origins: Pick<Origins, 'isOperators'>;
  /** Called right after every change. */
  readonly onChange: (project: Project) => void;
}

/** The private origins of a project. Clients can write their secrets, but not read them. */
export class OriginResource {
  readonly #environment: OriginsResourceEnvironment;

  constructor(environment: OriginsResourceEnvironment) {
    this.#environment = environment;
  }

  async list(projectId: string): Promise<Body<'ProjectOrigin'>[]> {
    return originsOf(await this.#find(projectId));
  }

  /** Creates or replaces the origin of a host. */
  async put(
    projectId: string,
    hostText: string,
    input: Body<'ProjectOriginInput'>,
  ): Promise<Body<'ProjectOrigin'>> {
    const { keyring, origins, projects } = this.#environment;
    const host = readHost(hostText);
    if (keyring.isEmpty) {
      rejectInvalid(['origins need SERVICE_ENCRYPTION_KEYS, which the operator has not set']);
    }
    if (origins.isOperators(projectId, host)) {
      rejectInvalid([`the operator has configured the origin of ${host}`]);
    }
    const target = this.#readTarget(host, input);
    const known = (await this.#find(projectId)).origins ?? {};
    // Concurrent calls may exceed the limit by a few.
    if (Object.keys(known).length >= maxOrigins && !Object.hasOwn(known, originField(host))) {
      rejectInvalid([`a project must not have more than ${maxOrigins} origins`]);
    }
    const origin = sealOrigin(keyring, projectId, host, target, input.s3?.location ?? null);
    this.#changed(projectId, await projects.setOrigin(projectId, origin));
    return originBody(origin);
  }

  /** Succeeds also if the host has no origin. @returns the remaining origins */
  async remove(projectId: string, hostText: string): Promise<Body<'ProjectOrigin'>[]> {
    const host = readHost(hostText);
    const project = await this.#find(projectId);
    if (!Object.hasOwn(project.origins ?? {}, originField(host))) return originsOf(project);
    const changed = await this.#environment.projects.removeOrigin(projectId, host);
    return originsOf(this.#changed(projectId, changed));
  }

  #readTarget(host: string, { headers, s3 }: Body<'ProjectOriginInput'>): ProjectTarget {
    const { guard } = this.#environment;
    const hostError = privateHostError(new URL(`https://${host}/`), guard);
    if (hostError !== null) rejectInvalid([`host ${hostError}`]);
    if (headers !== undefined && s3 !== undefined) {
      rejectInvalid(['either headers or s3 is allowed, not both']);
    }
    if (s3 !== undefined) {
      const { accessKeyId, secretAccessKey } = s3;
      return {
        kind: 's3',
        location: readLocation(s3.location, guard),
        accessKeyId,
        secretAccessKey,
      };
    }
    const read = readOriginHeaders(Object.entries(headers ?? {}));
    if (read === null) rejectInvalid([`headers ${originHeadersRule}`]);
    return { kind: 'headers', headers: read ?? {} };
  }

  async #find(projectId: string): Promise<Project> {
    return requireProject(projectId, await this.#environment.projects.find(projectId));
  }

  #changed(projectId: string, project: Project | null): Project {
    const changed = requireProject(projectId, project);
    this.#environment.onChange(changed);
    return changed;
  }
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

function originBody({ host, headers, location, updatedAt }: ProjectOrigin): Body<'ProjectOrigin'> {
  return { host, headers: [...headers], location, updatedAt: updatedAt.toISOString() };
}

/** In the order of their hosts. */
const originsOf = ({ origins = {} }: Project): Body<'ProjectOrigin'>[] =>
  Object.values(origins)
    .sort((a, b) => (a.host < b.host ? -1 : 1))
    .map(originBody);
