import { containerCredentials } from './container-credentials.ts';
import type { CredentialSource, Credentials, Environment } from './credential-source.ts';
import { instanceCredentials } from './instance-credentials.ts';
import { webIdentityCredentials } from './web-identity-credentials.ts';

const variableCredentials: CredentialSource = async (environment) => {
  const {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: token,
  } = environment;
  if (!accessKeyId || !secretAccessKey) return null;
  return {
    accessKeyId,
    secretAccessKey,
    sessionToken: token || null,
    expiresAt: Number.POSITIVE_INFINITY,
  };
};

/**
 * In the AWS clients' order. The last source needs no configuration, so it is tried if no other is
 * configured.
 */
const sources: readonly CredentialSource[] = [
  variableCredentials,
  webIdentityCredentials,
  containerCredentials,
  instanceCredentials,
];

/** Requests new credentials this long before the old ones expire: AWS provides them by then. */
const refreshBeforeMs = 5 * 60_000;
/** Stops using credentials this long before they expire, because a request takes time. */
const unusedBeforeMs = 30_000;
/** Minimum time between two requests, even for credentials that expire earlier. */
const retryAfterMs = 5_000;

interface Current {
  readonly credentials: Credentials;
  /** Unix ms. */
  readonly renewAt: number;
  readonly usableUntil: number;
}

/**
 * This process's S3 credentials, from environment variables, a web identity, a container or an
 * instance. Sends at most one request for them at a time. Renews them before they expire; after a
 * failure it pauses for some seconds.
 */
export class CredentialChain {
  readonly #environment: Environment;
  readonly #region: string;
  readonly #now: () => number;
  #current: Current | null = null;
  #requested: Promise<Credentials> | null = null;
  #failure: { readonly error: unknown; readonly at: number } | null = null;

  /**
   * @param environment such as `process.env`
   * @param region of the bucket, and of STS unless a variable names another
   * @param now Unix ms
   */
  constructor(environment: Environment, region: string, now: () => number = Date.now) {
    this.#environment = environment;
    this.#region = region;
    this.#now = now;
  }

  /** @throws Error without secrets, if there are no credentials or their source fails */
  async get(): Promise<Credentials> {
    const current = this.#current;
    if (current === null || this.#now() >= current.usableUntil) return this.#request();
    // A failed renewal is harmless while the old credentials are valid.
    if (this.#now() >= current.renewAt) this.#request().catch(() => {});
    return current.credentials;
  }

  #request(): Promise<Credentials> {
    if (this.#requested !== null) return this.#requested;
    const failure = this.#failure;
    if (failure !== null && this.#now() - failure.at < retryAfterMs) {
      return Promise.reject(failure.error);
    }
    this.#requested = this.#find().finally(() => {
      this.#requested = null;
    });
    return this.#requested;
  }

  async #find(): Promise<Credentials> {
    try {
      for (const source of sources) {
        const found = await source(this.#environment, this.#region);
        if (found === null) continue;
        this.#current = this.#received(found);
        this.#failure = null;
        return found;
      }
      throw new Error('no credentials for S3 are configured');
    } catch (error) {
      this.#failure = { error, at: this.#now() };
      throw error;
    }
  }

  /**
   * Uses short-lived credentials for nine tenths of their lifetime, and renews them after half of
   * it.
   */
  #received(credentials: Credentials): Current {
    const now = this.#now();
    const lifetimeMs = credentials.expiresAt - now;
    const renewAfterMs = Math.max(lifetimeMs - refreshBeforeMs, lifetimeMs / 2);
    const usableMs = Math.max(lifetimeMs - unusedBeforeMs, 0.9 * lifetimeMs);
    return {
      credentials,
      renewAt: now + Math.max(retryAfterMs, renewAfterMs),
      usableUntil: now + Math.max(retryAfterMs, usableMs),
    };
  }
}
