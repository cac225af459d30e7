import { Client } from 'undici';
import { backgroundHeader, backgroundToken } from '../contract/background-token.ts';
import type { JobCounts } from '../store/jobs.ts';
import type { WarmRequest } from './variants.ts';

/** What came of a request. */
type Outcome =
  | { readonly kind: 'done' }
  /** `passing`: worth another attempt a little later; `all`: the same for every variant now. */
  | {
      readonly kind: 'failed';
      readonly reason: string;
      readonly passing: boolean;
      readonly all: boolean;
    };

/** Thrown when not all of a job's variants are warm. */
export class WarmingFailed extends Error {
  override readonly name = 'WarmingFailed';
  /** Whether trying again can help. */
  readonly passing: boolean;

  constructor(message: string, passing: boolean) {
    super(message);
    this.passing = passing;
  }
}

export interface Warming {
  /** The service's address. */
  readonly baseUrl: string;
  readonly secret: string;
  /** Ends the warming between two requests. */
  readonly signal: AbortSignal;
  readonly onProgress: (counts: JobCounts) => Promise<void>;
}

/** A background request may wait long for its turn, but not for ever. */
const requestTimeoutMs = 5 * 60_000;
const passingStatuses = new Set([429, 500, 502, 503, 504]);
/** Statuses that speak of the service or the source, and not of the variant. */
const commonStatuses = new Set([403, 404, 413, 415, 422, 429, 502, 503, 504]);
/** This much of an error's body is read. */
const errorBytes = 16_384;
/** A 504 of one variant: another may be quicker to make. */
const slowVariant = 'transform_timeout';

/**
 * Asks the service for each variant of one source, one after the other over one connection, which
 * leads to one front end, so that the source is fetched once.
 * @throws WarmingFailed with the first reasons
 */
export async function warm(requests: readonly WarmRequest[], warming: Warming): Promise<JobCounts> {
  const { origin, pathname } = new URL(warming.baseUrl);
  const client = new Client(origin, {
    pipelining: 1,
    headersTimeout: requestTimeoutMs,
    bodyTimeout: requestTimeoutMs,
  });
  const total = requests.length;
  const failures: { reason: string; passing: boolean }[] = [];
  let done = 0;
  try {
    for (const request of requests) {
      if (warming.signal.aborted) throw new WarmingFailed('The worker was stopped.', true);
      const outcome = await ask(client, pathname.replace(/\/$/, ''), request, warming);
      if (outcome.kind === 'done') done += 1;
      else {
        const { reason, passing, all } = outcome;
        failures.push({ reason: `${request.label}: ${reason}`, passing });
        if (all) break;
      }
      await warming.onProgress({ done, failed: failures.length, total });
    }
  } finally {
    await client.destroy();
  }
  const failed = total - done;
  await warming.onProgress({ done, failed, total });
  if (failed === 0) return { done, failed, total };
  const reasons = failures.slice(0, 3).map(({ reason }) => reason);
  const passing = failures.some((failure) => failure.passing);
  throw new WarmingFailed(
    `${failed} of ${total} variants are not warm. ${reasons.join(' ')}`,
    passing,
  );
}

async function ask(
  client: Client,
  basePath: string,
  { target, accept }: WarmRequest,
  { secret, signal }: Warming,
): Promise<Outcome> {
  try {
    // The token is for what the service sees; a path of the base URL belongs to a proxy before it.
    const headers = { accept, [backgroundHeader]: backgroundToken(secret, target, Date.now()) };
    const path = basePath + target;
    const { statusCode, body } = await client.request({ method: 'GET', path, headers, signal });
    if (statusCode === 200) {
      await body.dump({ limit: Number.MAX_SAFE_INTEGER });
      return { kind: 'done' };
    }
    const { code, words } = readError(await beginningOf(body));
    return {
      kind: 'failed',
      reason: `${statusCode} ${words}`,
      passing: passingStatuses.has(statusCode),
      all: commonStatuses.has(statusCode) && code !== slowVariant,
    };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { kind: 'failed', reason, passing: true, all: true };
  }
}

/** What an error body says: the service's own in a few words, a proxy's as far as it goes. */
function readError(text: string): { readonly code: unknown; readonly words: string } {
  try {
    const { code, message } = JSON.parse(text);
    if (typeof code === 'string') return { code, words: `${code}: ${message}`.slice(0, 300) };
  } catch {
    // Not JSON, so not the service's.
  }
  return { code: null, words: text.slice(0, 100) };
}

/** A body's beginning; the service's own errors are never longer. */
async function beginningOf(body: AsyncIterable<Buffer>): Promise<string> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of body) {
    pieces.push(piece);
    length += piece.length;
    if (length >= errorBytes) break;
  }
  return Buffer.concat(pieces).toString('utf8');
}
