import { unlessAborted } from '../unless-aborted.ts';

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Absent for permanent credentials. */
  readonly sessionToken?: string | undefined;
}

/** Short, because machines outside of EC2 get no response from its metadata service at all. */
const requestTimeoutMs = 1_000;
/** For all sources together: the security token service has no timeout of its own. */
const timeoutMs = 5_000;
/** Minimum time between a failure and the next request. */
const retryAfterMs = 5_000;

/**
 * This process's S3 credentials, from the sources of AWS's own clients: environment variables,
 * profiles, a web identity, a container or an instance. Sends at most one request for them at a
 * time, and renews them in the background before they expire.
 */
export class CredentialChain {
  readonly #region: string;
  #provider: Promise<() => Promise<Credentials>> | null = null;
  #failure: { readonly error: Error; readonly at: number } | null = null;

  /** @param region of the bucket, and of the security token service unless a variable names one */
  constructor(region: string) {
    this.#region = region;
  }

  /** @throws Error without secrets, if there are no credentials or their source fails */
  async get(): Promise<Credentials> {
    const failure = this.#failure;
    if (failure !== null && performance.now() - failure.at < retryAfterMs) throw failure.error;
    try {
      return await unlessAborted(this.#request(), AbortSignal.timeout(timeoutMs));
    } catch (error) {
      // The next request must not wait for one that hangs.
      this.#provider = null;
      this.#failure = { error: withoutResponse(error), at: performance.now() };
      throw this.#failure.error;
    }
  }

  /**
   * Loads AWS's client on the first request, because most deployments do not need it. The package is
   * CommonJS, which a bundle exports as default only.
   */
  async #request(): Promise<Credentials> {
    this.#provider ??= import('@aws-sdk/credential-provider-node').then(({ default: aws }) =>
      aws.defaultProvider({
        clientConfig: { region: process.env['AWS_REGION'] || this.#region },
        timeout: requestTimeoutMs,
        maxRetries: 0,
      }),
    );
    return (await this.#provider)();
  }
}

/** Omits the original error, because a SyntaxError's message quotes part of a response. */
function withoutResponse(error: unknown): Error {
  const { name, message } = error as Error;
  const reason = name === 'CredentialsProviderError' ? message : name;
  return new Error(`no S3 credentials are available: ${reason}`);
}
