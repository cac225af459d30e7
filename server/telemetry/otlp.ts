import {
  type Context,
  defaultTextMapSetter,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type TextMapGetter,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPExporterBase } from '@opentelemetry/otlp-exporter-base';
import {
  convertLegacyHttpOptions,
  createOtlpHttpExportDelegate,
} from '@opentelemetry/otlp-exporter-base/node-http';
import {
  JsonTraceSerializer,
  ProtobufTraceSerializer,
  TraceExporterMetricsHelper,
} from '@opentelemetry/otlp-transformer';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { ServiceError } from '../../contract/errors.ts';
import type { Logger } from '../../contract/log.ts';
import { type Environment, findProtocol, headersOf } from '../../contract/otlp/environment.ts';
import { createResource, logDiagnostics } from '../../contract/otlp/exporter.ts';
import type { StageAttributes, StageName } from '../../pool/stages.ts';
import type { Tier } from '../usage/request-counts.ts';
import type { RouteName } from './process-metrics.ts';

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const routeTexts: Readonly<Record<RouteName, string>> = {
  image: '/img/*',
  control: '/api/sdk/v1/*',
  health: '/api/health',
  openapi: '/openapi.json',
  console: '/',
  other: '',
};

/** Names of the span attributes, by the semantic conventions if they define a name. */
const attributeNames: Readonly<Record<keyof StageAttributes, string>> = {
  host: 'server.address',
  hit: 'image_delivery.cache.hit',
  role: 'image_delivery.coalesce.role',
  format: 'image_delivery.format',
  width: 'image_delivery.width',
  height: 'image_delivery.height',
  bytes: 'image_delivery.bytes',
};

/** The part of a request that traces use. */
interface TracedRequest {
  readonly id: string;
  readonly method: string;
  /** Returns the values of a repeatable header, joined by commas. */
  headerList(name: string): string;
}

interface TraceSpan {
  /** Headers for a request that belongs to the span (W3C Trace Context). */
  readonly headers: Readonly<Record<string, string>>;
  /** @param error null for success */
  end(attributes: StageAttributes, error: unknown, at: number): void;
}

const headerGetter: TextMapGetter<TracedRequest> = {
  keys: () => ['traceparent', 'tracestate'],
  // An empty header counts as missing. The propagator rejects several traceparent headers, joined by commas.
  get: (request, name) => request.headerList(name) || undefined,
};

/**
 * Sends traces by OTLP over HTTP. The OpenTelemetry packages read its standard variables for the
 * exporter, batches, limits and samplers.
 */
export class Tracing {
  readonly #provider: BasicTracerProvider;
  readonly #tracer: Tracer;
  readonly #propagator = new W3CTraceContextPropagator();

  constructor(environment: Environment, log: Pick<Logger, 'info' | 'warn'>) {
    logDiagnostics(log, 'traces');
    const protocol = findProtocol(environment, 'TRACES');
    const delegate = createOtlpHttpExportDelegate(
      convertLegacyHttpOptions({}, 'TRACES', 'v1/traces', headersOf(protocol)),
      protocol === 'http/json' ? JsonTraceSerializer : ProtobufTraceSerializer,
      'otlp_http_span_exporter',
      TraceExporterMetricsHelper,
      undefined,
    );
    this.#provider = new BasicTracerProvider({
      resource: createResource({ 'process.pid': process.pid }),
      spanProcessors: [new BatchSpanProcessor(new OTLPExporterBase(delegate))],
    });
    this.#tracer = this.#provider.getTracer('image-delivery');
    log.info('sending traces by OTLP');
  }

  begin(request: TracedRequest, route: RouteName): RequestTrace {
    const parent = this.#propagator.extract(ROOT_CONTEXT, request, headerGetter);
    return new RequestTrace(this.#tracer, this.#propagator, parent, request, route);
  }

  /** Sends the ended spans. Never rejects. */
  async close(): Promise<void> {
    await this.#provider.shutdown().catch(() => {});
  }
}

/** A request's trace. Times come from `performance.now()`. */
export class RequestTrace {
  /** The request's project, when it exists. */
  project: string | null = null;
  readonly #tracer: Tracer;
  readonly #propagator: W3CTraceContextPropagator;
  readonly #root: Span;
  readonly #context: Context;
  /** Converts `performance.now()`, whose origin ignores clock corrections, to Unix ms. */
  readonly #offset = Date.now() - performance.now();

  constructor(
    tracer: Tracer,
    propagator: W3CTraceContextPropagator,
    parent: Context,
    { id, method }: TracedRequest,
    route: RouteName,
  ) {
    this.#tracer = tracer;
    this.#propagator = propagator;
    const known = methods.has(method) ? method : '_OTHER';
    const startTime = performance.now() + this.#offset;
    // Leave out the path and the query: they contain the source's URL and signatures.
    const attributes = {
      'http.request.method': known,
      'http.route': routeTexts[route],
      'image_delivery.request_id': id,
    };
    const name = `${known === '_OTHER' ? 'HTTP' : known} ${routeTexts[route]}`;
    this.#root = tracer.startSpan(name, { kind: SpanKind.SERVER, startTime, attributes }, parent);
    this.#context = trace.setSpan(parent, this.#root);
  }

  stage(name: StageName, attributes: StageAttributes, at: number): TraceSpan {
    const kind = name === 'fetch' ? SpanKind.CLIENT : SpanKind.INTERNAL;
    const options = { kind, startTime: at + this.#offset, attributes: toAttributes(attributes) };
    const span = this.#tracer.startSpan(name, options, this.#context);
    const headers: Record<string, string> = {};
    if (name === 'fetch') {
      const context = trace.setSpan(this.#context, span);
      this.#propagator.inject(context, headers, defaultTextMapSetter);
    }
    return {
      headers,
      end: (attributes, error, at) => {
        span.setAttributes(toAttributes(attributes));
        if (error !== null) markFailed(span, ServiceError.of(error).code);
        span.end(at + this.#offset);
      },
    };
  }

  /** @param status null if the client disconnected before the response */
  end(status: number | null, tier: Tier): void {
    const root = this.#root;
    if (this.project !== null) root.setAttribute('image_delivery.project', this.project);
    if (tier !== 'none') root.setAttribute('image_delivery.cache.tier', tier);
    if (status !== null) root.setAttribute('http.response.status_code', status);
    if (status !== null && status >= 500) markFailed(root, String(status));
    root.end(performance.now() + this.#offset);
  }
}

/** Leaves out the error's message, which might quote an origin's response. */
function markFailed(span: Span, type: string): void {
  span.setAttribute('error.type', type);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

const toAttributes = (attributes: StageAttributes): Record<string, string | number | boolean> =>
  Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [
      attributeNames[name as keyof StageAttributes],
      value,
    ]),
  );
