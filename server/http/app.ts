import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../../contract/errors.ts';
import type { ClientConnections } from './connection-limit.ts';
import type { ErrorHeaders, Handler, HttpApp, HttpRequest } from './request.ts';
import { errorResponse, type HttpResponse, MethodNotAllowed, withHeaders } from './responses.ts';

export interface Route {
  /** A path, or a path prefix that ends with `/*`. */
  readonly path: string;
  /** The name in metrics; default: `other`. */
  readonly name?: HttpRequest['route'];
  /** The methods allowed at a path of this route, empty for a path that does not exist. */
  readonly methods: (path: string) => readonly string[];
  /** Called only for these methods. */
  readonly handler: Handler;
  readonly errorHeaders?: ErrorHeaders;
}

/** An HTTP server: it handles the sockets and the protocol for the app. */
export interface HttpServer {
  readonly connections: ClientConnections;
  /**
   * Shares the port with the processes that already listen on it. Resolves with false if it cannot
   * listen.
   */
  listen(host: string, port: number): Promise<boolean>;
  /** Accepts no more connections. Open connections stay until a response closes them. */
  stopListening(): void;
}

export type StartHttpServer = (app: HttpApp) => HttpServer;

interface AppEnvironment {
  /**
   * Called at the end of each request; `status` is null if the client disconnected before the
   * response.
   */
  readonly onEnd: ((request: HttpRequest, status: number | null, ms: number) => void) | null;
  /** Starts a request's trace, after setting its route. */
  readonly trace?: ((request: HttpRequest) => HttpRequest['trace']) | null;
  /** Returns a request's route by its host, taking precedence over the path's route. */
  readonly routeByHost?:
    | ((request: HttpRequest, ofPath: Route | undefined) => Route | undefined)
    | null;
  /** Called before the handler; throws a ServiceError to refuse a request. */
  readonly admit?: ((request: HttpRequest) => void) | null;
  readonly onError: (request: HttpRequest, error: unknown) => void;
  /**
   * Paths that might be meant by a missing path, most likely first; the app ignores paths that do
   * not exist.
   */
  readonly likelyPaths?: (path: string) => readonly string[];
  /** Returns a page to send instead of an error's JSON, or null. */
  readonly errorPage?: (error: ServiceError, request: HttpRequest) => HttpResponse | null;
  /** Returns additional headers for errors of requests with an unreadable path. */
  readonly unreadableErrorHeaders?: ErrorHeaders | null;
}

/** Interval of looking for requests during a drain. */
const pollEveryMs = 20;
/** Grace if no client is connected: a listener takes up to half a second to close. */
const closingListenerMs = 1_000;
/** Longer paths are cut in messages, and get no suggestion. */
const maxPath = 200;

/** Routing, error responses, and the count of requests, over either HTTP server. */
export class App implements HttpApp {
  readonly #routes: readonly { route: Route; prefix: string | null }[];
  readonly #environment: AppEnvironment;
  readonly #idPrefix: string;
  #server: HttpServer | null = null;
  /** Number of requests in progress. */
  open = 0;
  /** Number of requests since the start. */
  #count = 0;
  closing = false;
  #graceMs = Number.POSITIVE_INFINITY;
  #draining: Promise<void> | null = null;
  #drained = false;

  /**
   * @param routes the first match applies
   * @param idPrefix makes request ids unique across processes and restarts
   */
  constructor(routes: readonly Route[], environment: AppEnvironment, idPrefix: string) {
    this.#environment = environment;
    this.#idPrefix = idPrefix;
    this.#routes = routes.map((route) => ({
      route,
      prefix: route.path.endsWith('/*') ? route.path.slice(0, -1) : null,
    }));
  }

  listen(start: StartHttpServer, host: string, port: number): Promise<boolean> {
    this.#server = start(this);
    return this.#server.listen(host, port);
  }

  /**
   * Stops listening. From then on a client that reuses its connection still gets a response, which
   * closes the connection. Resolves when no request is in progress and none has arrived for
   * `graceMs`, or for a second if no client is connected. Later requests get no response: their
   * connections close.
   * @param graceMs a later call can only shorten it
   * @param withinMs resolves after this time even if requests are in progress
   */
  drain(graceMs: number, withinMs: number): Promise<void> {
    this.#graceMs = Math.min(this.#graceMs, graceMs);
    this.#draining ??= this.#drain(withinMs);
    return this.#draining;
  }

  async #drain(withinMs: number): Promise<void> {
    this.#server?.stopListening();
    this.closing = true;
    const deadline = performance.now() + withinMs;
    let idleSince = performance.now();
    let count = this.#count;
    while (performance.now() < deadline) {
      await sleep(pollEveryMs);
      if (this.open > 0 || this.#count !== count) idleSince = performance.now();
      count = this.#count;
      const graceMs =
        this.connections?.open === 0 ? Math.min(this.#graceMs, closingListenerMs) : this.#graceMs;
      if (this.open === 0 && performance.now() - idleSince >= graceMs) break;
    }
    this.#drained = true;
  }

  /** Null before it listens. */
  get connections(): ClientConnections | null {
    return this.#server?.connections ?? null;
  }

  begin(): string {
    this.#count += 1;
    this.open += 1;
    return this.#idPrefix + this.#count.toString(36);
  }

  onEnd(request: HttpRequest, status: number | null, ms: number): void {
    this.open -= 1;
    this.#environment.onEnd?.(request, status, ms);
  }

  handle(request: HttpRequest): void {
    if (this.#drained) return request.drop();
    try {
      const pending = this.#handler(request)(request);
      if (pending !== undefined) pending.catch((error) => this.#fail(request, error));
    } catch (error) {
      this.#fail(request, error);
    }
  }

  errorResponse(error: ServiceError): HttpResponse {
    const createHeaders =
      error instanceof MethodNotAllowed
        ? this.#route(error.path)?.errorHeaders
        : this.#environment.unreadableErrorHeaders;
    const response = errorResponse(error);
    return withHeaders(response, createHeaders?.(error, response) ?? []);
  }

  /** @param host a name that is not a delivery host, or '' for addresses and the own host */
  refusal(method: string, path: string, host = ''): ServiceError {
    const allowed = this.#route(path)?.methods(path) ?? [];
    const on = host === '' ? '' : ` on ${host}, which is not a delivery host`;
    return allowed.length === 0
      ? new ServiceError(
          'endpoint_not_found',
          `${method} ${path.slice(0, maxPath)} does not exist${on}.${this.#suggestion(path)}`,
        )
      : new MethodNotAllowed(method, path, allowed);
  }

  /** Returns a question that suggests an existing path for a missing path, or ''. */
  #suggestion(path: string): string {
    if (path.length > maxPath) return '';
    const likely = this.#environment.likelyPaths?.(path) ?? [];
    const exists = (other: string) => (this.#route(other)?.methods(other) ?? []).length > 0;
    const found = [path.replace(/\/+$/, ''), ...likely].find(exists);
    return found === undefined ? '' : ` Did you mean ${found}?`;
  }

  #handler(request: HttpRequest): Handler {
    const { method, path } = request;
    const { trace = null, admit = null, routeByHost = null } = this.#environment;
    const ofPath = this.#route(path);
    const route = routeByHost === null ? ofPath : routeByHost(request, ofPath);
    request.route = route?.name ?? 'other';
    request.errorHeaders = route?.errorHeaders ?? null;
    admit?.(request);
    if (trace !== null) request.trace = trace(request);
    if (route?.methods(path).includes(method)) return route.handler;
    throw this.refusal(method, path);
  }

  #route(path: string): Route | undefined {
    for (const { route, prefix } of this.#routes) {
      if (prefix === null ? path === route.path : path.startsWith(prefix)) return route;
    }
    return undefined;
  }

  #fail(request: HttpRequest, thrown: unknown): void {
    if (request.signal.aborted) return;
    const error = ServiceError.of(thrown);
    if (error.code === 'internal_error') this.#environment.onError(request, thrown);
    const response = this.#errorPage(error, request) ?? errorResponse(error);
    request.respond(withHeaders(response, request.errorHeaders?.(error, response) ?? []));
  }

  #errorPage(error: ServiceError, request: HttpRequest): HttpResponse | null {
    try {
      return this.#environment.errorPage?.(error, request) ?? null;
    } catch {
      // The page could not be read.
      return null;
    }
  }
}
