import { readFile } from 'node:fs/promises';
import { Agent } from 'undici';
import { parseAddress, parseNetwork, within } from '../../contract/networks.ts';
import { readBody } from './response-body.ts';
import { readXml } from './xml.ts';

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Null for permanent credentials. */
  readonly sessionToken: string | null;
  /** Unix ms; infinite for credentials from environment variables. */
  readonly expiresAt: number;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * One source of credentials. Resolves with null if the environment does not configure it.
 *
 * @param region of the bucket
 * @throws Error without secrets
 */
type CredentialSource = (environment: Environment, region: string) => Promise<Credentials | null>;

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

const stsTimeoutMs = 5_000;

/**
 * Exchanges the token in a file that Kubernetes clusters on AWS mount (IRSA) for a role's
 * credentials.
 */
const webIdentityCredentials: CredentialSource = async (environment, region) => {
  const {
    AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile,
    AWS_ROLE_ARN: role,
    AWS_ROLE_SESSION_NAME: session = 'image-delivery',
    AWS_REGION: stsRegion = region,
    AWS_ENDPOINT_URL_STS: endpoint = stsEndpoint(stsRegion),
  } = environment;
  if (!tokenFile || !role) return null;
  const form = new URLSearchParams({
    Action: 'AssumeRoleWithWebIdentity',
    Version: '2011-06-15',
    RoleArn: role,
    RoleSessionName: session,
    WebIdentityToken: (await readFile(tokenFile, 'utf8')).trim(),
  });
  const answer = await requestCredentials(new URL(endpoint), { form, timeoutMs: stsTimeoutMs });
  const fields = new Map<string, string>();
  readXml(answer, (path, text) => fields.set(path, text));
  const field = (name: string) =>
    fields.get(
      `AssumeRoleWithWebIdentityResponse/AssumeRoleWithWebIdentityResult/Credentials/${name}`,
    );
  return toCredentials(
    field('AccessKeyId'),
    field('SecretAccessKey'),
    field('SessionToken'),
    field('Expiration'),
  );
};

const stsEndpoint = (region: string): string =>
  `https://sts.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}/`;

const ecsOrigin = 'http://169.254.170.2';
/**
 * Loopback, and the addresses of ECS and EKS. Requests to them do not leave the machine, so http is
 * safe.
 */
const localNetworks = ['127.0.0.0/8', '::1', '169.254.170.2', '169.254.170.23', 'fd00:ec2::23']
  .map(parseNetwork)
  .filter((network) => network !== null);
const containerTimeoutMs = 2_000;

/** The credentials of an ECS task, an EKS pod (Pod Identity) or a Greengrass component. */
const containerCredentials: CredentialSource = async (environment) => {
  const {
    AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: relative,
    AWS_CONTAINER_CREDENTIALS_FULL_URI: full,
    AWS_CONTAINER_AUTHORIZATION_TOKEN: token,
    AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: tokenFile,
  } = environment;
  if (!relative && !full) return null;
  const url = relative ? new URL(ecsOrigin + relative) : new URL(String(full));
  if (!isTrusted(url)) {
    throw new Error('AWS_CONTAINER_CREDENTIALS_FULL_URI is http to an address that is not local');
  }
  const authorization = tokenFile ? (await readFile(tokenFile, 'utf8')).trim() : token;
  const headers: CredentialRequest['headers'] = authorization ? { authorization } : {};
  return readCredentials(await requestCredentials(url, { headers, timeoutMs: containerTimeoutMs }));
};

function isTrusted({ protocol, hostname }: URL): boolean {
  if (protocol === 'https:') return true;
  const address = parseAddress(hostname.replace(/^\[(.*)\]$/, '$1'));
  return protocol === 'http:' && address !== null && within(address, localNetworks);
}

/** Short, because machines outside of EC2 get no response at all. */
const instanceTimeoutMs = 1_000;
const tokenSeconds = 21_600;

/** The credentials of an EC2 instance's role, by version 2 of its metadata service (IMDSv2). */
const instanceCredentials: CredentialSource = async (environment) => {
  const {
    AWS_EC2_METADATA_DISABLED: disabled = '',
    AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE: mode = '',
    AWS_EC2_METADATA_SERVICE_ENDPOINT: endpoint,
  } = environment;
  if (disabled.toLowerCase() === 'true') return null;
  const byDefault =
    mode.toLowerCase() === 'ipv6' ? 'http://[fd00:ec2::254]' : 'http://169.254.169.254';
  const url = (path: string) => new URL(path, endpoint || byDefault);
  const token = await requestCredentials(url('/latest/api/token'), {
    method: 'PUT',
    headers: { 'x-aws-ec2-metadata-token-ttl-seconds': String(tokenSeconds) },
    timeoutMs: instanceTimeoutMs,
  });
  const options = {
    headers: { 'x-aws-ec2-metadata-token': token.trim() },
    timeoutMs: instanceTimeoutMs,
  };
  const roles = url('/latest/meta-data/iam/security-credentials/');
  const [role = ''] = (await requestCredentials(roles, options)).split('\n');
  const path = `${roles.pathname}${encodeURIComponent(role.trim())}`;
  return readCredentials(await requestCredentials(url(path), options));
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

/** Responses of services that issue credentials have about 2 KB. */
const maxResponseBytes = 65_536;
const formType = 'application/x-www-form-urlencoded';

interface CredentialRequest {
  readonly method?: 'GET' | 'PUT';
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as the body of a POST. */
  readonly form?: URLSearchParams;
  readonly timeoutMs: number;
}

/**
 * Returns the response body from a service that issues credentials. The request bypasses proxies,
 * follows no redirect and keeps no connection open.
 *
 * @throws Error with the status, but without the body and the URL's query, which can be secret
 */
async function requestCredentials(
  url: URL,
  { method = 'GET', headers = {}, form, timeoutMs }: CredentialRequest,
): Promise<string> {
  const dispatcher = new Agent({ pipelining: 0, connect: { timeout: timeoutMs } });
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const { statusCode, body } = await dispatcher.request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: form === undefined ? method : 'POST',
      headers: form === undefined ? headers : { ...headers, 'content-type': formType },
      body: form?.toString() ?? null,
      signal,
    });
    if (statusCode !== 200) throw new Error(`${url.origin}${url.pathname} returned ${statusCode}`);
    return (await readBody(body, maxResponseBytes)).toString();
  } finally {
    await dispatcher.destroy();
  }
}

/**
 * Reads credentials from the JSON that containers and instances receive.
 *
 * @throws Error for other texts
 */
function readCredentials(text: string): Credentials {
  const fields = parsed(text);
  return toCredentials(
    fields['AccessKeyId'],
    fields['SecretAccessKey'],
    fields['Token'],
    fields['Expiration'],
  );
}

/** @throws Error if a value is missing */
function toCredentials(
  id: unknown,
  secret: unknown,
  token: unknown,
  expiration: unknown,
): Credentials {
  const expiresAt = Date.parse(String(expiration));
  const areTexts = [id, secret, token].every((text) => typeof text === 'string' && text !== '');
  if (!areTexts || Number.isNaN(expiresAt)) throw new Error('the response has no credentials');
  return {
    accessKeyId: String(id),
    secretAccessKey: String(secret),
    sessionToken: String(token),
    expiresAt,
  };
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // Drops the original error, because a SyntaxError's message quotes part of the text.
  }
  throw new Error('the response is not a JSON object');
}
