import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { ServiceError } from '../../contract/errors.ts';
import type { Logger } from '../../contract/log.ts';
import { type OriginEntry, originKey } from '../../contract/origins.ts';
import type { Credentials } from '../../pool/s3/credential-source.ts';
import type { CredentialChain } from '../../pool/s3/credentials.ts';
import { folderOrigin } from '../../pool/source/folder-origin.ts';
import { headerOrigin } from '../../pool/source/header-origin.ts';
import type { Origin, OriginOf } from '../../pool/source/origin.ts';
import { s3Origin } from '../../pool/source/s3-origin.ts';
import type { Keyring } from '../../store/keyring.ts';
import { originField, type ProjectOrigin } from '../../store/project-origin.ts';
import type { Project } from '../../store/projects.ts';
import { allows } from '../image/access.ts';
import { openOrigin, type ProjectTarget } from './sealed-origin.ts';

export interface OriginsEnvironment {
  /** The operator's origins, of SERVICE_ORIGINS. */
  readonly entries: readonly OriginEntry[];
  readonly keyring: Keyring;
  readonly log: Pick<Logger, 'error'>;
}

const logEveryMs = 60_000;
const maxLogged = 10_000;

/**
 * The private origins: those of the operator, for projects whose allowlist has the host, and those of each project.
 * The operator's take precedence.
 */
export class Origins {
  readonly #environment: OriginsEnvironment;
  readonly #entries: ReadonlyMap<string, Origin>;
  /** Decrypted origins, by their stored form. */
  readonly #opened = new WeakMap<ProjectOrigin, Origin>();
  readonly #logged = new LRUCache<string, true>({ max: maxLogged, ttl: logEveryMs });

  constructor(environment: OriginsEnvironment) {
    this.#environment = environment;
    this.#entries = new Map(
      environment.entries.map((entry) => [originKey(entry), originOfEntry(entry)]),
    );
  }

  /** Whether the operator has configured a host for a project. */
  isOperators(projectId: string, host: string): boolean {
    return this.#entryOf(projectId, host) !== undefined;
  }

  /** The origins of a project. @param latest returns its latest known state */
  of(latest: () => Project): OriginOf {
    return (url) => {
      const project = latest();
      const entry = this.#entryOf(project._id, url.host);
      // Checked here also because the allowlist does not apply to watermarks.
      if (entry !== undefined && allows(project, url.hostname)) return entry;
      const stored = project.origins?.[originField(url.host)];
      return stored === undefined ? null : this.#open(project._id, stored);
    };
  }

  #entryOf(projectId: string, host: string): Origin | undefined {
    if (this.#entries.size === 0) return undefined;
    const ofProject = this.#entries.get(originKey({ host, projectId }));
    return ofProject ?? this.#entries.get(originKey({ host, projectId: null }));
  }

  #open(projectId: string, stored: ProjectOrigin): Origin {
    const known = this.#opened.get(stored);
    if (known !== undefined) return known;
    // Differs after every change, because the initialisation vector is random.
    const identity = `${projectId} ${hash('sha256', stored.sealed)}`;
    const target = openOrigin(this.#environment.keyring, projectId, stored);
    const origin =
      target === null
        ? this.#undecryptable(identity, projectId, stored.host)
        : originOfTarget(identity, target);
    this.#opened.set(stored, origin);
    return origin;
  }

  #undecryptable(identity: string, project: string, host: string): Origin {
    return {
      identity,
      fetch: async () => {
        const key = `${project} ${host}`;
        if (!this.#logged.has(key)) {
          this.#logged.set(key, true);
          const text = 'an origin cannot be decrypted: its key is not in SERVICE_ENCRYPTION_KEYS';
          this.#environment.log.error({ project, host }, text);
        }
        const text = `The configuration of ${host} cannot be decrypted; its key is missing.`;
        throw new ServiceError('source_unreachable', text);
      },
    };
  }
}

function originOfEntry(entry: OriginEntry): Origin {
  const { target } = entry;
  const identity = originKey(entry);
  switch (target.kind) {
    case 'folder':
      return folderOrigin(identity, target.folder);
    case 'headers':
      return headerOrigin(identity, target.headers);
    case 's3': {
      const { location } = target;
      const credentials = machineCredentials(location.region);
      return s3Origin(identity, { location, credentials, trusted: true });
    }
  }
}

/** The credentials of this machine. Their module is loaded at the first request. */
function machineCredentials(region: string): () => Promise<Credentials> {
  let chain: Promise<CredentialChain> | null = null;
  return async () => {
    chain ??= import('../../pool/s3/credentials.ts').then(
      ({ CredentialChain }) => new CredentialChain(process.env, region),
    );
    return (await chain).get();
  };
}

/** The origin of a project, with the project's credentials, and never those of the machine. */
function originOfTarget(identity: string, target: ProjectTarget): Origin {
  if (target.kind === 'headers') return headerOrigin(identity, target.headers);
  const { location, accessKeyId, secretAccessKey } = target;
  const credentials = {
    accessKeyId,
    secretAccessKey,
    sessionToken: null,
    expiresAt: Number.POSITIVE_INFINITY,
  };
  return s3Origin(identity, { location, credentials: async () => credentials, trusted: false });
}
