import type { BackoffStrategy, Job } from 'agenda';
import type { Logger } from '../contract/log.ts';
import type { Settings } from '../contract/settings/table.ts';
import type { PurgeHookJob } from '../store/purge-hooks.ts';
import type { WorkerMetrics } from './metrics.ts';
import { post } from './post.ts';

export type WebhookSettings = Pick<Settings, 'purgeHookUrl' | 'hookSecret'>;

/** Maximum concurrent requests, in each worker. */
export const webhookConcurrency = 4;
/** 5 s, 10 s, 20 s … up to an hour: about a day in all. */
const retries = { firstMs: 5_000, maxMs: 3_600_000, attempts: 32 };

/** A webhook that the settings of this worker do not allow. */
export class WebhookNotConfigured extends Error {
  override readonly name = 'WebhookNotConfigured';
}

export const webhookBackOff: BackoffStrategy = ({ attempt, error }) => {
  if (error instanceof WebhookNotConfigured || attempt > retries.attempts) return null;
  return Math.min(retries.firstMs * 2 ** (attempt - 1), retries.maxMs);
};

export interface PurgeHookOptions {
  readonly webhooks: WebhookSettings;
  readonly log: Logger;
  readonly metrics: Pick<WorkerMetrics, 'webhookEnded'>;
}

/** Tells a CDN what was purged, by requests to the URL of the settings. */
export class PurgeHook {
  readonly #options: PurgeHookOptions;

  constructor(options: PurgeHookOptions) {
    this.#options = options;
  }

  async send(job: Job<PurgeHookJob>, signal: AbortSignal): Promise<void> {
    const { webhooks, log, metrics } = this.#options;
    const { purgeHookUrl, hookSecret } = webhooks;
    const { projectId, tags } = job.attrs.data;
    const id = String(job.attrs._id);
    const logFields = { job: id, project: projectId };
    try {
      if (purgeHookUrl === null || hookSecret === null) {
        throw new WebhookNotConfigured('SERVICE_PURGE_HOOK_URL is not set for this worker.');
      }
      const url = new URL(purgeHookUrl);
      await post({ id, url, body: JSON.stringify({ tags }), secret: hookSecret, signal });
      metrics.webhookEnded('done');
      log.info(logFields, 'the purge hook is called');
    } catch (error) {
      if (!signal.aborted) {
        metrics.webhookEnded('failed');
        log.warn({ ...logFields, err: error }, 'the purge hook could not be called');
      }
      throw error;
    }
  }
}
