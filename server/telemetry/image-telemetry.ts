import { type ErrorCode, ServiceError } from '../../contract/errors.ts';
import {
  type Stage,
  type StageAttributes,
  type StageName,
  type StageObserver,
  stageNames,
} from '../../pool/stages.ts';
import type { DeliveryHost } from '../../store/delivery-host.ts';
import type { Project } from '../../store/projects.ts';
import type { Activity } from '../usage/activity/activity.ts';
import type { FailedRequest } from '../usage/activity/slice.ts';
import type {
  KindCounts,
  RequestCounter,
  RequestCounts,
  RequestKind,
  Tier,
} from '../usage/request-counts.ts';
import type { UsageRecorder } from '../usage/usage.ts';
import type { UsageTotals } from '../usage/usage-totals.ts';
import type { ImageFailure } from './event-logs.ts';
import type { HistogramSeries, MetricsRegistry } from './registry.ts';
import type { RequestTelemetry } from './tracing.ts';

interface ImageRequest extends RequestTelemetry {
  readonly id: string;
  readonly signal: AbortSignal;
  readonly path: string;
  readonly query: string;
}

/** Returns a failed request's source, URL and message without secrets. */
export type RedactRequest = (
  request: Pick<ImageRequest, 'path' | 'query'> & {
    /** Null if the URL is invalid. */
    readonly source: Pick<URL, 'href'> | null;
    /** The requested delivery host. */
    readonly host: Pick<DeliveryHost, 'urls'> | null;
    readonly error: Pick<ServiceError, 'code' | 'message'>;
  },
) => Pick<FailedRequest, 'source' | 'url' | 'message'>;

/** Metrics, traces and log lines of image requests. */
export class ImageTelemetry {
  readonly usage: UsageTotals;
  readonly activity: Activity;
  readonly redactRequest: RedactRequest;
  readonly #registry: MetricsRegistry;
  readonly #stages: Readonly<Record<StageName, HistogramSeries>>;
  readonly #onFailure: (failure: ImageFailure) => void;
  /** The stage that threw an error. Requests that share work get the same error. */
  readonly #failedIn = new WeakMap<object, StageName>();

  constructor(
    registry: MetricsRegistry,
    { totals, activity }: Pick<UsageRecorder, 'totals' | 'activity'>,
    onFailure: (failure: ImageFailure) => void,
    redactRequest: RedactRequest,
  ) {
    this.redactRequest = redactRequest;
    this.#registry = registry;
    this.usage = totals;
    this.activity = activity;
    this.#onFailure = onFailure;
    const histograms = stageNames.map((name) => [name, registry.histogram('stageDuration', name)]);
    this.#stages = Object.fromEntries(histograms);
  }

  /** Records a repeated request that the memory cache serves, with its bytes. */
  hit(
    request: RequestTelemetry,
    counts: RequestCounts,
    subject: RequestCounter,
    bytes: number,
  ): void {
    request.tier = 'memory';
    request.shownUrl = subject.source;
    this.activity.delivered(subject, bytes);
    if (request.trace !== null) request.trace.project = counts.project;
    this.usage.list(counts);
    counts.live.tiers.memory += 1;
    counts.live.bytes += bytes;
  }

  observe(request: ImageRequest): ObservedRequest {
    return new ObservedRequest(this, request);
  }

  failed(error: ServiceError, thrown: unknown, context: FailureContext): void {
    const { code } = error;
    const stage = this.#findStage(thrown) ?? stageOfCode[code] ?? 'request';
    this.#registry.increment('failures', code, stage);
    this.#onFailure({ ...context, stage, code });
  }

  /** Returns the stage that threw an error or its cause. */
  #findStage(thrown: unknown): StageName | undefined {
    if (!(thrown instanceof Error)) return undefined;
    return this.#failedIn.get(thrown) ?? this.#findStage(thrown.cause);
  }

  stageEnded(
    name: StageName,
    { format = 'none' }: StageAttributes,
    ms: number,
    error: unknown,
  ): void {
    this.#stages[name].observe(ms / 1_000);
    if (name === 'transform') {
      this.#registry.histogram('transformDuration', format).observe(ms / 1_000);
    }
    // Keep the first stage, which is the innermost. Errors from other processes have no stage.
    if (name === 'coalesce') return;
    if (error instanceof Error && !this.#failedIn.has(error)) this.#failedIn.set(error, name);
  }
}

/** Stages of errors from another process, or from outside any stage. */
const stageOfCode: Partial<Record<ErrorCode, StageName | 'admission'>> = {
  overloaded: 'admission',
  source_unreachable: 'fetch',
  source_timeout: 'fetch',
  transform_timeout: 'transform',
};

type FailureContext = Omit<ImageFailure, 'stage' | 'code'>;

/** Observes an image request other than a repeated hit. */
export class ObservedRequest implements StageObserver {
  readonly #telemetry: ImageTelemetry;
  readonly #request: ImageRequest;
  readonly #startedAt = performance.now();
  #project: string | null = null;
  #source: Pick<URL, 'href' | 'hostname'> | null = null;
  /** The project's counts, or null before the project is found. */
  #counts: RequestCounts | null = null;
  /** The known project of a URL that might be invalid, for recording its failures. */
  named: Project | null = null;
  /** The delivery host, whose language the URL is in. */
  host: DeliveryHost | null = null;
  /** Whether the URL lacks a valid signature. */
  isUnsigned = false;
  /** Activity includes live requests, and prewarming failures. */
  kind: RequestKind = 'live';

  constructor(telemetry: ImageTelemetry, request: ImageRequest) {
    this.#telemetry = telemetry;
    this.#request = request;
  }

  begin(name: StageName, attributes = noAttributes, beganAt = performance.now()): Stage {
    const span = this.#request.trace?.stage(name, attributes, beganAt) ?? null;
    const ended = (attributes: StageAttributes, error: unknown, at: number): void => {
      this.#telemetry.stageEnded(name, attributes, at - beganAt, error);
      if (name === 'transform') {
        this.#count((counts) => {
          counts.renders += 1;
          counts.renderMs += at - beganAt;
        });
      }
      span?.end(attributes, error, at);
    };
    return {
      headers: span?.headers ?? noHeaders,
      end: (attributes = noAttributes, at = performance.now()) => ended(attributes, null, at),
      fail: (error, at = performance.now()) => ended(noAttributes, error, at),
    };
  }

  /** Sets the URL's project, which might not exist, and source. */
  addressed(project: string, source: Pick<URL, 'href' | 'hostname'>): void {
    this.#project = project;
    this.#source = source;
  }

  /** Notes that the URL's project exists. */
  found(counts: RequestCounts): void {
    this.#counts = counts;
    if (this.#request.trace !== null) this.#request.trace.project = this.#project;
  }

  /**
   * Returns an observer of work that continues after the response, and counts as background work.
   */
  later(): ObservedRequest {
    const { id, route, signal, path, query } = this.#request;
    const own = { trace: null, tier: 'none', shownUrl: '' } as const;
    const request: ImageRequest = { id, route, signal, path, query, ...own };
    const later = new ObservedRequest(this.#telemetry, request);
    later.#project = this.#project;
    later.#source = this.#source;
    later.named = this.named;
    later.host = this.host;
    later.#counts = this.#counts;
    later.kind = 'background';
    return later;
  }

  delivered(tier: Tier): void {
    this.#request.tier = tier;
    this.#count(({ tiers }) => {
      tiers[tier] += 1;
    });
    if (tier !== 'miss' || this.kind !== 'live' || this.#counts === null) return;
    this.#telemetry.activity.countMiss(this.#counts.project, performance.now() - this.#startedAt);
  }

  /** @param bytes size of the image body */
  sent(subject: RequestCounter, bytes: number): void {
    this.#request.shownUrl = subject.source;
    if (this.kind === 'live') this.#telemetry.activity.delivered(subject, bytes);
    this.#count((counts) => {
      counts.bytes += bytes;
    });
  }

  /** Waits for the work. Records and rethrows its error. */
  async untilDone(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      this.#count(({ tiers }) => {
        tiers.none += 1;
      });
      const isRefused = error instanceof ServiceError && error.code === 'signature_invalid';
      if ((this.isUnsigned || isRefused) && this.kind === 'live' && this.#counts !== null) {
        this.#telemetry.activity.countUnsigned(this.#counts.project);
      }
      if (!this.#request.signal.aborted) this.failed(error);
      throw error;
    }
  }

  /** Changes the project's counts, if the project is found. */
  #count(change: (counts: KindCounts) => void): void {
    if (this.#counts === null) return;
    this.#telemetry.usage.list(this.#counts);
    change(this.#counts[this.kind]);
  }

  /** Records an error, for which the client gets an error response or another image. */
  failed(error: unknown): void {
    const { id, path, query } = this.#request;
    const sourceHost = this.#source?.hostname ?? null;
    const failure = ServiceError.of(error);
    const shown = this.#telemetry.redactRequest({
      path,
      query,
      source: this.#source,
      host: this.host,
      error: failure,
    });
    const context = {
      requestId: id,
      project: this.#project,
      host: sourceHost,
      cause: shown.message,
    };
    this.#telemetry.failed(failure, error, context);
    const project = this.#counts?.project ?? this.named?._id;
    if (project === undefined || this.kind === 'console') return;
    const { code, status } = failure;
    const { resolution_hint: hint } = failure.toBody();
    this.#request.shownUrl = shown.url;
    this.#telemetry.activity.failed(project, { code, status, ...shown, hint, requestId: id });
  }
}

const noHeaders: Readonly<Record<string, string>> = {};
const noAttributes: StageAttributes = {};
