import { exponential, type Job, when } from 'agenda';
import type { Logger } from '../contract/log.ts';
import { projectWebhookSecret } from '../contract/secrets.ts';
import type { Settings } from '../contract/settings/table.ts';
import type { AddressGuard } from '../pool/source/guard.ts';
import type { CallbackJob } from '../store/callbacks.ts';
import { callbackJobName, purgeHookJobName } from '../store/jobs.ts';
import type { Store } from '../store/open.ts';
import type { PurgeHookJob } from '../store/purges.ts';
import type { WorkerMetrics } from './metrics.ts';
import { type Post, post } from './post.ts';

export interface WebhookSettings extends Pick<Settings, 'purgeHookUrl' | 'hookSecret'> {
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

/** A webhook that no number of attempts could send. */
class WebhookImpossible extends Error {
  override readonly name = 'WebhookImpossible';
}

/** The longer a call has run, the longer it is likely to continue. */
const computePause = (ageMs: number): number =>
  Math.min(pollInterval.maxMs, Math.max(pollInterval.minMs, ageMs / 4));

/** 5 s, 10 s, 20 s … up to an hour: about a day in all. */
export const webhookBackOff = when(
  ({ error }) => !(error instanceof WebhookImpossible),
  exponential({ delay: 5_000, maxDelay: 3_600_000, maxRetries: 32 }),
);

export interface WebhooksOptions {
  readonly webhooks: WebhookSettings;
  readonly store: Pick<Store, 'projects' | 'prewarms' | 'purges'>;
  readonly log: Logger;
  readonly metrics: Pick<WorkerMetrics, 'webhookEnded'>;
}

type Request = Pick<Post, 'url' | 'body' | 'secret' | 'guard'>;

/** Sends the webhooks of the queue. */
export class Webhooks {
  readonly #options: WebhooksOptions;

  constructor(options: WebhooksOptions) {
    this.#options = options;
  }

  /** Notifies a CDN of purged images. */
  callHook(job: Job<PurgeHookJob>, signal: AbortSignal): Promise<void> {
    const { purgeHookUrl, hookSecret: secret } = this.#options.webhooks;
    const { tags } = job.attrs.data;
    return this.#send(job, signal, async () => {
      if (purgeHookUrl === null || secret === null) {
        throw new WebhookImpossible('SERVICE_PURGE_HOOK_URL is not set for this worker.');
      }
      // An operator's URL can use a private address.
      const url = new URL(purgeHookUrl);
      return { url, body: JSON.stringify({ tags }), secret, guard: null };
    });
  }

  /** Notifies a client that its call has ended; before that, the job waits again. */
  callBack(job: Job<CallbackJob>, signal: AbortSignal): Promise<void> {
    const { webhooks, store } = this.#options;
    const { guard, hookSecret } = webhooks;
    const { projectId, url, subject, id } = job.attrs.data;
    return this.#send(job, signal, async () => {
      if (hookSecret === null) {
        throw new WebhookImpossible('SERVICE_HOOK_SECRET is not set for this worker.');
      }
      // The job was added while its project was being deleted.
      if ((await store.projects.findOrganisation(projectId)) === null) {
        throw new WebhookImpossible('The project does not exist any more.');
      }
      const records = subject === 'prewarm' ? store.prewarms : store.purges;
      const call = await records.find(projectId, id);
      if (call === null) throw new WebhookImpossible('The call is not remembered any more.');
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
        secret: projectWebhookSecret(hookSecret, projectId),
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
    const { log, metrics } = this.#options;
    const id = String(attrs._id);
    const logFields = { job: id, kind: attrs.name, project: attrs.data.projectId };
    try {
      const request = await prepare();
      if (request === null) return;
      await post({ ...request, id, signal });
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
