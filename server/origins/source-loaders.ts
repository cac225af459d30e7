import { hash } from 'node:crypto';
import { ServiceError } from '../../contract/errors.ts';
import type { Logger } from '../../contract/log.ts';
import { createLogThrottle } from '../../contract/log-limit.ts';
import { type OriginEntry, originKey } from '../../contract/origins.ts';
import { CredentialChain } from '../../pool/s3/credentials.ts';
import { folderLoader } from '../../pool/source/folder-loader.ts';
import { s3Loader } from '../../pool/source/s3-loader.ts';
import {
  type FindLoader,
  headerLoader,
  type SourceLoader,
} from '../../pool/source/source-loader.ts';
import type { Keyring } from '../../store/keyring.ts';
import { itemOfHost, type ProjectOrigin } from '../../store/project.ts';
import type { Project } from '../../store/projects.ts';
import { isAllowedHost } from '../image/access.ts';
import { openOrigin, type ProjectTarget } from './sealed-origin.ts';

interface SourceLoadersOptions {
  /** The operator's origins, of SERVICE_ORIGINS. */
  readonly entries: readonly OriginEntry[];
  readonly keyring: Keyring;
  readonly log: Pick<Logger, 'error'>;
}

const logEveryMs = 60_000;
const maxLogged = 10_000;

/**
 * Loads sources of private origins: the operator's, for projects that allow the host, and each
 * project's. The operator's take precedence.
 */
export class SourceLoaders {
  readonly #environment: SourceLoadersOptions;
  readonly #entries: ReadonlyMap<string, SourceLoader>;
  /** Loaders of decrypted origins, by stored form. */
  readonly #opened = new WeakMap<ProjectOrigin, SourceLoader>();
  readonly #mayLog = createLogThrottle(logEveryMs, maxLogged);

  constructor(environment: SourceLoadersOptions) {
    this.#environment = environment;
    this.#entries = new Map(
      environment.entries.map((entry) => [originKey(entry), loaderOfEntry(entry)]),
    );
  }

  /** Returns whether the operator has configured a host for a project. */
  isOperators(projectId: string, host: string): boolean {
    return this.#findEntry(projectId, host) !== undefined;
  }

  /** Returns a project's loaders. @param latest returns its latest known state */
  of(latest: () => Project): FindLoader {
    return (url) => {
      const project = latest();
      const entry = this.#findEntry(project._id, url.host);
      // Check again here, because the allowlist does not apply to watermarks.
      if (entry !== undefined && isAllowedHost(project, url.hostname)) return entry;
      const stored = itemOfHost(project.origins, url.host);
      return stored === undefined ? null : this.#open(project._id, stored);
    };
  }

  #findEntry(projectId: string, host: string): SourceLoader | undefined {
    if (this.#entries.size === 0) return undefined;
    const ofProject = this.#entries.get(originKey({ host, projectId }));
    return ofProject ?? this.#entries.get(originKey({ host, projectId: null }));
  }

  #open(projectId: string, stored: ProjectOrigin): SourceLoader {
    const known = this.#opened.get(stored);
    if (known !== undefined) return known;
    // Differs after every change, because the initialisation vector is random.
    const identity = `${projectId} ${hash('sha256', stored.sealed)}`;
    const target = openOrigin(this.#environment.keyring, projectId, stored);
    const loader =
      target === null
        ? this.#undecryptable(identity, projectId, stored.host)
        : loaderOfTarget(identity, target);
    this.#opened.set(stored, loader);
    return loader;
  }

  #undecryptable(identity: string, project: string, host: string): SourceLoader {
    return {
      identity,
      fetch: async () => {
        if (this.#mayLog(`${project} ${host}`)) {
          const text = 'decrypting origin failed: key not in SERVICE_ENCRYPTION_KEYS';
          this.#environment.log.error({ project, host }, text);
        }
        const text = `The configuration of ${host} cannot be decrypted; its key is missing.`;
        throw new ServiceError('source_unreachable', text);
      },
    };
  }
}

function loaderOfEntry(entry: OriginEntry): SourceLoader {
  const { target } = entry;
  const identity = originKey(entry);
  switch (target.kind) {
    case 'folder':
      return folderLoader(identity, target.folder);
    case 'headers':
      return headerLoader(identity, target.headers);
    case 's3': {
      const { location } = target;
      const chain = new CredentialChain(location.region);
      return s3Loader(identity, { location, credentials: () => chain.get(), trusted: true });
    }
  }
}

/**
 * Returns the loader of a project's origin. It uses the project's credentials, and never the
 * machine's.
 */
function loaderOfTarget(identity: string, target: ProjectTarget): SourceLoader {
  if (target.kind === 'headers') return headerLoader(identity, target.headers);
  const { location, accessKeyId, secretAccessKey } = target;
  const credentials = { accessKeyId, secretAccessKey };
  return s3Loader(identity, { location, credentials: async () => credentials, trusted: false });
}
