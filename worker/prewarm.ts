import { Client } from 'undici';
import { backgroundHeader, backgroundToken } from '../contract/secrets.ts';
import type { JobCounts } from '../store/jobs.ts';
import type { PrewarmRequest } from './variants.ts';

interface Failure {
  readonly reason: string;
  /** Whether a later attempt can succeed. */
  readonly retryable: boolean;
  /** All variants of the job would fail. */
  readonly allVariants: boolean;
}

/** Not all variants of a job are warm. */
export class PrewarmFailed extends Error {
  override readonly name = 'PrewarmFailed';
  readonly retryable: boolean;

  constructor(message: string, retryable: boolean) {
    super(message);
    this.retryable = retryable;
  }
}

export interface PrewarmOptions {
  readonly serviceUrl: string;
  readonly secret: string;
  /** Aborts the request in progress and ends the options. */
  readonly signal: AbortSignal;
  readonly onProgress: (counts: JobCounts) => Promise<void>;
}

/** Background requests can wait for a transform thread. */
const requestTimeoutMs = 5 * 60_000;

const retryableStatuses = new Set([429, 500, 502, 503, 504]);
/** Statuses with causes in the service or the source, so that all variants would fail. */
const allVariantsStatuses = new Set([403, 404, 413, 415, 422, 429, 502, 503, 504]);
const maxErrorBytes = 16_384;
/** The code of a 504 caused by the variant itself; other variants can be faster. */
const slowVariantCode = 'transform_timeout';
/** The code of a 429 that lasts until the next day. */
const limitCode = 'usage_limit_reached';

/**
 * Requests all variants of a source in sequence over a single connection, so that the same front
 * end handles them and fetches the source once.
 * @throws PrewarmFailed
 */
export async function warm(
  requests: readonly PrewarmRequest[],
  options: PrewarmOptions,
): Promise<void> {
  const { origin, pathname } = new URL(options.serviceUrl);
  const basePath = pathname.replace(/\/$/, '');
  const timeouts = { headersTimeout: requestTimeoutMs, bodyTimeout: requestTimeoutMs };
  const client = new Client(origin, { pipelining: 1, ...timeouts });
  const total = requests.length;
  const failures: Failure[] = [];
  let done = 0;
  try {
    for (const request of requests) {
      if (options.signal.aborted) throw new PrewarmFailed('The worker was stopped.', true);
      const failure = await requestVariant(client, basePath, request, options);
      if (failure === null) done += 1;
      else failures.push(failure);
      if (failure?.allVariants) break;
      await options.onProgress({ done, failed: failures.length, total });
    }
  } finally {
    await client.destroy();
  }
  const failed = total - done;
  await options.onProgress({ done, failed, total });
  if (failed === 0) return;
  const reasons = failures.slice(0, 3).map(({ reason }) => reason);
  const retryable = failures.some((failure) => failure.retryable);
  throw new PrewarmFailed(
    `${failed} of ${total} variants are not warm. ${reasons.join(' ')}`,
    retryable,
  );
}

async function requestVariant(
  client: Client,
  basePath: string,
  { target, accept, label }: PrewarmRequest,
  { secret, signal }: PrewarmOptions,
): Promise<Failure | null> {
  try {
    // Signs the path that the service receives, because a proxy removes the base URL's path.
    const headers = { accept, [backgroundHeader]: backgroundToken(secret, target, Date.now()) };
    const path = basePath + target;
    const { statusCode, body } = await client.request({ method: 'GET', path, headers, signal });
    // The service responds 204 to marked requests, or 200 if it could not check the mark; a cache between
    // them responds 200.
    if (statusCode === 204 || statusCode === 200) {
      await body.dump({ limit: Number.MAX_SAFE_INTEGER });
      return null;
    }
    const { code, text } = readError(await readStart(body));
    return {
      reason: `${label}: ${statusCode} ${text}`,
      retryable: retryableStatuses.has(statusCode) && code !== limitCode,
      allVariants: allVariantsStatuses.has(statusCode) && code !== slowVariantCode,
    };
  } catch (error) {
    // Clients can read the reason, and the message has addresses.
    const code = error instanceof Error && 'code' in error ? ` (${error.code})` : '';
    const reason = `${label}: the service cannot be reached${code}`;
    return { reason, retryable: true, allVariants: true };
  }
}

/**
 * Returns the code and message of the service's error. Hides other bodies, such as a proxy's,
 * because clients can read the result.
 */
function readError(body: string): { readonly code: unknown; readonly text: string } {
  try {
    const { code, message } = JSON.parse(body);
    if (typeof code === 'string') return { code, text: `${code}: ${message}`.slice(0, 300) };
  } catch {
    // Not JSON: an error of a proxy.
  }
  return { code: null, text: 'not from the service' };
}

/** The first bytes of a body: the service's errors are shorter. */
async function readStart(body: AsyncIterable<Buffer>): Promise<string> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of body) {
    pieces.push(piece);
    length += piece.length;
    if (length >= maxErrorBytes) break;
  }
  return Buffer.concat(pieces).toString('utf8');
}
