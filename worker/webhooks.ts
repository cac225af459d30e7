import { createHmac } from 'node:crypto';
import { promises as dns } from 'node:dns';
import { exponential, type Job, when } from 'agenda';
import { ServiceError } from '../contract/errors.ts';
import type { Logger } from '../contract/log.ts';
import { projectWebhookSecret, webhookKey } from '../contract/secrets.ts';
import type { Settings } from '../contract/settings/table.ts';
import { createConnector } from '../pool/source/connect.ts';
import type { AddressGuard } from '../pool/source/guard.ts';
import { MeteredClient } from '../pool/source/metered-client.ts';
import { parseRetryAfter } from '../pool/source/response-headers.ts';
import type { CallbackJob } from '../store/callbacks.ts';
import { callbackJobName, purgeHookJobName } from '../store/jobs.ts';
import type { Store } from '../store/open.ts';
import type { PurgeHookJob } from '../store/purges.ts';
import type { WorkerMetrics } from './metrics.ts';

export interface WebhookSettings
  extends Pick<Settings, 'purgeHookUrl' | 'hookSecrets' | 'userAgent'> {
  /** Restricts the addresses that clients' URLs can resolve to. */
  readonly guard: AddressGuard;
}

/**
 * Maximum concurrent requests per kind and worker: in total, per project and per receiver. An
 * unresponsive receiver blocks only its share. All purge hook calls share a receiver.
 */
export const webhookConcurrency = {
  [purgeHookJobName]: { all: 8, project: 4, receiver: 8 },
  [callbackJobName]: { all: 32, project: 8, receiver: 4 },
} as const;
/** Limits for the pause between checks whether a call has ended. */
const pollInterval = { minMs: 1_000, maxMs: 60_000 };

/** A webhook that no number of attempts could send, or that its receiver does not want. */
class WebhookImpossible extends Error {
  override readonly name = 'WebhookImpossible';
}

/** The longer a call has run, the longer it is likely to continue. */
const computePause = (ageMs: number): number =>
  Math.min(pollInterval.maxMs, Math.max(pollInterval.minMs, ageMs / 4));

/** 5 s, 10 s, 20 s … up to an hour: about a day in all. */
const backOff = exponential({ delay: 5_000, maxDelay: 3_600_000, maxRetries: 32 });

/** Waits as long as the receiver demands, if that is longer. */
export const webhookBackOff = when(
  ({ error }) => !(error instanceof WebhookImpossible),
  (context) => {
    const { error } = context;
    const pauseMs = backOff(context);
    return pauseMs && Math.max(pauseMs, error instanceof PostFailed ? error.retryAfterMs : 0);
  },
);

export interface WebhooksOptions {
  readonly webhooks: WebhookSettings;
  readonly store: Pick<Store, 'projects' | 'prewarms' | 'purges'>;
  readonly log: Logger;
  readonly metrics: Pick<WorkerMetrics, 'webhookEnded'>;
}

type Request = Pick<Post, 'url' | 'body' | 'secrets' | 'guard'>;

/** Sends the webhooks of the queue. */
export class Webhooks {
  readonly #options: WebhooksOptions;

  constructor(options: WebhooksOptions) {
    this.#options = options;
  }

  /** Notifies a CDN of purged images. */
  callHook(job: Job<PurgeHookJob>, signal: AbortSignal): Promise<void> {
    const { purgeHookUrl, hookSecrets: secrets } = this.#options.webhooks;
    const { tags } = job.attrs.data;
    return this.#send(job, signal, async () => {
      if (purgeHookUrl === null) {
        throw new WebhookImpossible('SERVICE_PURGE_HOOK_URL is not set for this worker.');
      }
      // An operator's URL can use a private address.
      const url = new URL(purgeHookUrl);
      return { url, body: JSON.stringify({ tags }), secrets, guard: null };
    });
  }

  /** Notifies a client that its call has ended; before that, the job waits again. */
  callBack(job: Job<CallbackJob>, signal: AbortSignal): Promise<void> {
    const { webhooks, store } = this.#options;
    const { guard, hookSecrets } = webhooks;
    const { projectId, url, subject, id } = job.attrs.data;
    return this.#send(job, signal, async () => {
      if (hookSecrets.length === 0) {
        throw new WebhookImpossible('SERVICE_HOOK_SECRET is not set for this worker.');
      }
      // The job was added while its project was being deleted.
      if ((await store.projects.findOrganisation(projectId)) === null) {
        throw new WebhookImpossible('The project no longer exists.');
      }
      const records = subject === 'prewarm' ? store.prewarms : store.purges;
      const call = await records.find(projectId, id);
      if (call === null) throw new WebhookImpossible('The record of this webhook has expired.');
      if (call.status === 'accepted') {
        // Not by an error: the job has not failed.
        job.schedule(new Date(Date.now() + computePause(Date.now() - Date.parse(call.createdAt))));
        return null;
      }
      const body = JSON.stringify({
        type: `${subject}.${call.status}`,
        timestamp: new Date().toISOString(),
        data: { projectId, ...call },
      });
      return {
        url: new URL(url),
        body,
        secrets: hookSecrets.map((secret) => projectWebhookSecret(secret, projectId)),
        guard,
      };
    });
  }

  /**
   * @param prepare returns the request, or null if it is too early; rejects if the request is
   *   impossible
   */
  async #send(
    { attrs }: Job<PurgeHookJob | CallbackJob>,
    signal: AbortSignal,
    prepare: () => Promise<Request | null>,
  ): Promise<void> {
    const { log, metrics, webhooks } = this.#options;
    const id = String(attrs._id);
    const logFields = { job: id, kind: attrs.name, project: attrs.data.projectId };
    try {
      const request = await prepare();
      if (request === null) return;
      await post({ ...request, userAgent: webhooks.userAgent, id, signal });
      metrics.webhookEnded(attrs.name, 'done');
      log.info(logFields, 'webhook sent');
    } catch (error) {
      if (!signal.aborted) {
        metrics.webhookEnded(attrs.name, 'failed');
        log.warn({ ...logFields, err: error }, 'sending webhook failed');
      }
      throw error;
    }
  }
}

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

  /** The receiver's Retry-After, or 0. */
  readonly retryAfterMs: number;

  constructor(what: string, { cause, retryAfter = 0 }: { cause?: unknown; retryAfter?: number }) {
    super(`The receiver ${what}.`, { cause });
    this.retryAfterMs = 1_000 * retryAfter;
  }
}

export interface Post {
  /** The same in every attempt, so that receivers can ignore repetitions. */
  readonly id: string;
  readonly url: URL;
  /** JSON. */
  readonly body: string;
  /** Each signs: `whsec_` and the key in Base64. */
  readonly secrets: readonly string[];
  readonly userAgent: string;
  readonly signal: AbortSignal;
  /** Restricts the addresses that a client's URL can resolve to; null for an operator's URL. */
  readonly guard: AddressGuard | null;
}

/** Headers of a request, with its signatures (https://www.standardwebhooks.com). */
export function signedHeaders(
  { id, body, secrets }: Pick<Post, 'id' | 'body' | 'secrets'>,
  now: number,
): Record<string, string> {
  const seconds = Math.floor(now / 1_000);
  const sign = (secret: string) =>
    createHmac('sha256', webhookKey(secret)).update(`${id}.${seconds}.${body}`).digest('base64');
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': secrets.map((secret) => `v1,${sign(secret)}`).join(' '),
  };
}

/**
 * Sends a signed POST without following redirects.
 *
 * @throws PostFailed unless the response status is between 200 and 299; WebhookImpossible for 410,
 *   which ends the attempts
 */
export async function post({ url, signal, guard, userAgent, ...signed }: Post): Promise<void> {
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
    const { statusCode, headers, body } = await client.request({
      method: 'POST',
      path: url.pathname + url.search,
      headers: {
        'content-type': 'application/json',
        'user-agent': userAgent,
        ...signedHeaders(signed, Date.now()),
      },
      body: signed.body,
      signal: AbortSignal.any([signal, timeout]),
      onInfo: () => client.budget.countInformational(),
    });
    await body.dump({ limit: maxResponseBytes }).catch(() => {});
    if (statusCode === 410) {
      throw new WebhookImpossible('The receiver returned 410, so it wants no more attempts.');
    }
    if (statusCode < 200 || statusCode > 299) {
      const retryAfter = parseRetryAfter(headers['retry-after'], Date.now()) ?? 0;
      throw new PostFailed(`returned ${statusCode}`, { retryAfter });
    }
  } catch (error) {
    // The guard's errors have messages for clients.
    const isKnown = [PostFailed, WebhookImpossible, ServiceError].some(
      (known) => error instanceof known,
    );
    if (isKnown || signal.aborted) throw error;
    const what = timeout.aborted ? `did not answer within ${timeoutMs} ms` : 'cannot be reached';
    throw new PostFailed(what, { cause: error });
  } finally {
    await client.destroy();
  }
}
