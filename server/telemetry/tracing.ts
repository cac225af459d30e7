import type { StageAttributes, StageName } from '../../pool/stages.ts';
import type { Tier } from './busiest-projects.ts';
import type { RouteName } from './request-metrics.ts';

/** A span of a trace in progress. Times are those of `performance.now()`. */
export interface TraceSpan {
  /** The headers that make a request a part of the trace (W3C Trace Context). */
  readonly headers: Readonly<Record<string, string>>;
  /** @param error what ended it, or null */
  end(facts: StageAttributes, error: unknown, at: number): void;
}

/** What is known of a request at its end. */
export interface RequestFacts {
  /** Null when the client left before the response. */
  readonly status: number | null;
  readonly tier: Tier;
}

/** The trace of one request. */
export interface RequestTrace {
  /** The request's project, once it is known to exist. */
  project: string | null;
  stage(name: StageName, facts: StageAttributes, at: number): TraceSpan;
  end(facts: RequestFacts): void;
}

/** What traces need to know of a request. */
export interface TracedRequest {
  readonly id: string;
  readonly method: string;
  /** The values of a header that may be sent several times, joined by commas. */
  headerList(name: string): string;
}

/** The fields of a request that its handling sets for metrics and traces. */
export interface RequestTelemetry {
  route: RouteName;
  /** The cache tier of the image. */
  tier: Tier;
  /** Null when the request is not traced. */
  trace: RequestTrace | null;
}

export interface Tracing {
  begin(request: TracedRequest, route: RouteName): RequestTrace;
  /** Sends the spans that have ended. Never rejects. */
  close(): Promise<void>;
}
