import { createHmac } from 'node:crypto';
import { promises as dns } from 'node:dns';
import { ServiceError } from '../contract/errors.ts';
import { version } from '../contract/package.ts';
import { webhookKey } from '../contract/secrets.ts';
import { createConnector } from '../pool/source/connect.ts';
import type { AddressGuard } from '../pool/source/guard.ts';
import { MeteredClient } from '../pool/source/metered-client.ts';

/** Aborting a request of undici does not end an attempt to connect; this limit does. */
const connectTimeoutMs = 5_000;
/** For the whole request: receivers should respond first and work afterwards. */
const timeoutMs = 10_000;
/** Maximum bytes read from a response, which is not used. */
const maxResponseBytes = 16_384;
const maxHeaderBytes = 16_384;

/**
 * A failed request. Clients can read the message, so it contains neither an address nor the URL,
 * which can be secret. The cause can contain both.
 */
class PostFailed extends Error {
  override readonly name = 'PostFailed';

  constructor(what: string, cause?: unknown) {
    super(`The receiver ${what}.`, { cause });
  }
}

export interface Post {
  /** The same in every attempt, so that receivers can ignore repetitions. */
  readonly id: string;
  readonly url: URL;
  /** JSON. */
  readonly body: string;
  /** `whsec_` and the key in Base64. */
  readonly secret: string;
  readonly signal: AbortSignal;
  /** Restricts the addresses that a client's URL can resolve to; null for an operator's URL. */
  readonly guard: AddressGuard | null;
}

/** Headers of a request, with its signature (https://www.standardwebhooks.com). */
export function signedHeaders(
  { id, body, secret }: Pick<Post, 'id' | 'body' | 'secret'>,
  now: number,
): Record<string, string> {
  const seconds = Math.floor(now / 1_000);
  const signature = createHmac('sha256', webhookKey(secret))
    .update(`${id}.${seconds}.${body}`)
    .digest('base64');
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1,${signature}`,
  };
}

/**
 * Sends a signed POST without following redirects.
 *
 * @throws PostFailed unless the response status is between 200 and 299
 */
export async function post({ url, signal, guard, ...signed }: Post): Promise<void> {
  await guard?.checkFetched(url);
  const client = new MeteredClient(url.origin, {
    maxHeaderSize: maxHeaderBytes,
    connect: createConnector(
      (host, port) => guard?.findAddresses(host, port) ?? dns.lookup(host, { all: true }),
      connectTimeoutMs,
    ),
  });
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const { statusCode, body } = await client.request({
      method: 'POST',
      path: url.pathname + url.search,
      headers: {
        'content-type': 'application/json',
        'user-agent': `image-delivery/${version}`,
        ...signedHeaders(signed, Date.now()),
      },
      body: signed.body,
      signal: AbortSignal.any([signal, timeout]),
      onInfo: () => client.budget.countInformational(),
    });
    await body.dump({ limit: maxResponseBytes }).catch(() => {});
    if (statusCode < 200 || statusCode > 299) throw new PostFailed(`returned ${statusCode}`);
  } catch (error) {
    // The guard's errors have messages for clients.
    const isKnown = error instanceof PostFailed || error instanceof ServiceError;
    if (isKnown || signal.aborted) throw error;
    const what = timeout.aborted ? `did not answer within ${timeoutMs} ms` : 'cannot be reached';
    throw new PostFailed(what, error);
  } finally {
    await client.destroy();
  }
}
