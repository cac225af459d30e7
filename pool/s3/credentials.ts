import { containerCredentials } from './container-credentials.ts';
import type { CredentialSource, Credentials, Environment } from './credential-source.ts';
import { instanceCredentials } from './instance-credentials.ts';
import { webIdentityCredentials } from './web-identity-credentials.ts';

export type { Credentials } from './credential-source.ts';

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

/** In the order of the AWS clients. The last one is asked wherever no other one is configured. */
const sources: readonly CredentialSource[] = [
  variableCredentials,
  webIdentityCredentials,
  containerCredentials,
  instanceCredentials,
];

/** New credentials are requested this long before the end of the old ones, as AWS has them ready by then. */
const refreshBeforeMs = 5 * 60_000;
/** Old credentials are used until then, for requests that take some time. */
const unusedBeforeMs = 30_000;
const retryAfterMs = 5_000;

/**
 * The credentials of this process for S3: of variables, a web identity, a container or an instance. They are
 * requested once at a time and renewed before they expire, and a failure is remembered for some seconds.
 */
export class CredentialChain {
  readonly #environment: Environment;
  readonly #region: string;
  readonly #now: () => number;
  #current: Credentials | null = null;
  #requested: Promise<Credentials> | null = null;
  #failure: { readonly error: unknown; readonly at: number } | null = null;

  /**
   * @param environment such as `process.env`
   * @param region of the bucket, in which a web identity is exchanged if no variable names another one
   * @param now Unix ms
   */
  constructor(environment: Environment, region: string, now: () => number = Date.now) {
    this.#environment = environment;
    this.#region = region;
    this.#now = now;
  }

  /** @throws Error without secrets, when there are none or their source fails */
  async get(): Promise<Credentials> {
    const current = this.#current;
    const remainingMs = (current?.expiresAt ?? 0) - this.#now();
    if (current === null || remainingMs < unusedBeforeMs) return this.#request();
    // An outage of their source must not matter before they expire.
    if (remainingMs < refreshBeforeMs) this.#request().catch(() => {});
    return current;
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
        this.#current = found;
        this.#failure = null;
        return found;
      }
      throw new Error('no credentials for S3 are configured');
    } catch (error) {
      this.#failure = { error, at: this.#now() };
      throw error;
    }
  }
}
