import { Client } from 'undici';
import { backgroundHeader, backgroundToken } from '../store/background-token.ts';
import type { JobCounts } from '../store/jobs.ts';
import type { WarmRequest } from './variants.ts';

/** What came of a request. */
type Outcome =
  | { readonly kind: 'done' }
  /** Worth another attempt a little later. */
  | { readonly kind: 'passing'; readonly reason: string }
  /** The same the next time; `all`: for every variant of the source. */
  | { readonly kind: 'final'; readonly reason: string; readonly all: boolean };

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
/** Statuses that speak of the source and not of the variant. */
const sourceStatuses = new Set([403, 404, 413, 415, 422]);

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
      const target = `${pathname.replace(/\/$/, '')}${request.target}`;
      const outcome = await ask(client, target, request.accept, warming);
      if (outcome.kind === 'done') done += 1;
      else {
        const passing = outcome.kind === 'passing';
        failures.push({ reason: `${request.label}: ${outcome.reason}`, passing });
        if (outcome.kind === 'final' && outcome.all) break;
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
  path: string,
  accept: string,
  { secret, signal }: Warming,
): Promise<Outcome> {
  try {
    const headers = { accept, [backgroundHeader]: backgroundToken(secret, path, Date.now()) };
    const { statusCode, body } = await client.request({ method: 'GET', path, headers, signal });
    if (statusCode === 200) {
      await body.dump({ limit: Number.MAX_SAFE_INTEGER });
      return { kind: 'done' };
    }
    const reason = `${statusCode} ${reasonOf(await body.text())}`;
    if (passingStatuses.has(statusCode)) return { kind: 'passing', reason };
    return { kind: 'final', reason, all: sourceStatuses.has(statusCode) };
  } catch (error) {
    return { kind: 'passing', reason: error instanceof Error ? error.message : String(error) };
  }
}

/** What an error body says: the service's own in a few words, a proxy's as far as it goes. */
function reasonOf(text: string): string {
  try {
    const { code, message } = JSON.parse(text);
    return `${code}: ${message}`.slice(0, 300);
  } catch {
    return text.slice(0, 100);
  }
}
