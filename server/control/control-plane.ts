import { ServiceError } from '../../contract/errors.ts';
import type { Network } from '../../contract/networks.ts';
import { Semaphore } from '../../pool/semaphore.ts';
import { withTimeout } from '../../store/outage.ts';
import { clientAddress, clientNetwork } from '../http/forwarded.ts';
import type { HttpRequest } from '../http/request.ts';
import { errorResponse, type Headers, jsonHeaders, uncachedHeaders } from '../http/responses.ts';
import { parseQuery } from '../image/address.ts';
import { storeUnavailable, toStoreFailure } from '../request-errors.ts';
import { type Authentication, authorise, readKey, requireProductAccess } from './authenticate.ts';
import { type Content, type Idempotency, isCreating } from './idempotency.ts';
import { parseJson } from './input.ts';
import { List, readPageQuery } from './list.ts';
import { Csv, type Input, type Operation } from './operation.ts';
import { controlPrefix, findOperation } from './operations.ts';
import type { RateLimit } from './rate-limit.ts';
import type { Services } from './services.ts';
import { invalidRequest } from './validation-messages.ts';

const defaultBodyBytes = 64 * 1024;
/** CSV with a header row (RFC 4180, 3). */
const csvHeaders: Headers = [
  ['content-type', 'text/csv; charset=utf-8; header=present'],
  ...uncachedHeaders,
];

export interface ControlPlaneEnvironment {
  readonly authentication: Authentication;
  readonly rateLimit: RateLimit;
  readonly idempotency: Idempotency;
  /** False while the store is considered unavailable: requests then fail at once. */
  readonly storeAvailable: () => boolean;
  /** Proxies that can name the client in X-Forwarded-For. */
  readonly trustedProxies: readonly Network[];
  /** Called with errors that the client did not cause. */
  readonly onError: (request: HttpRequest, error: unknown) => void;
  readonly services: Services;
}

/** The operations of the OpenAPI document below `/api/sdk/v1`. All run the same checks. */
export class ControlPlane {
  readonly #environment: ControlPlaneEnvironment;
  readonly #mutex = new ProjectMutex();
  /** The path prefix at which clients reach the service, or '' for the root. */
  readonly #basePath: string;

  constructor(environment: ControlPlaneEnvironment) {
    this.#environment = environment;
    this.#basePath = new URL(environment.services.baseUrl).pathname.replace(/\/$/, '');
  }

  /** Handles a request. The order of the checks is part of the interface. */
  async handle(request: HttpRequest): Promise<void> {
    const match = findOperation(request.method, request.path);
    if (match === null) throw new Error(`the router passed ${request.method} ${request.path}`);
    const { operation, path } = match;
    const { input: expected, maxBodyBytes = defaultBodyBytes } = operation;
    const { signal, query, accept } = request;
    const contentType = request.header('content-type');
    const authorization = request.header('authorization');
    const serviceApiKey = request.header('x-service-api-key');
    const idempotencyKey = isCreating(operation) ? request.header('idempotency-key') : '';
    const client = clientNetwork(clientAddress(request, this.#environment.trustedProxies));
    const body = expected === undefined ? null : request.readBody(maxBodyBytes);
    // After a failed check, avoid an unhandled rejection, because the body is not awaited.
    body?.catch(() => {});

    let limitHeaders: Headers = [];
    try {
      const { authentication, rateLimit, idempotency, storeAvailable, services } =
        this.#environment;
      // Check the key before the store: a missing key is an error in any case.
      const secret = readKey(authorization, serviceApiKey);
      if (!storeAvailable()) throw storeUnavailable();
      const credential = await authentication.authenticate(secret, client);
      const { key } = credential;
      // Do this before the other checks: every response to a valid key includes the rate limit
      // headers.
      const limit = await withTimeout(rateLimit.consume(key._id));
      limitHeaders = limit.headers;
      requireProductAccess(credential);
      if (limit.failure !== null) throw limit.failure;
      await authorise(key, operation, path['projectId'] ?? null, services.projects);
      let input: unknown = null;
      const bytes = await body;
      if (expected !== undefined) {
        parseQuery(query, 'invalid_request');
        if (bytes === null) throw invalidRequest(`The body has more than ${maxBodyBytes} bytes`);
        input = await readInput(expected, bytes, contentType);
      }
      const page = operation.isPaged ? readPageQuery(query) : null;
      let location: Headers = [];
      const locate = (path: string) => {
        location = [['location', this.#basePath + controlPrefix + path]];
      };
      const call = { key, path, input, query, page, accept, signal, locate };
      const handle = () => {
        // The store might have become unavailable while the call waited for its turn.
        if (!storeAvailable()) throw storeUnavailable();
        return operation.handle(call, services);
      };
      const { projectId } = path;
      const takesTurn = operation.method !== 'GET' && !operation.waitsForOrigin;
      const run = async (): Promise<Content> => {
        const answer =
          takesTurn && projectId !== undefined
            ? await this.#mutex.run(projectId, signal, handle)
            : await handle();
        const links = answer instanceof List ? answer.headers : [];
        const { headers, body } = toContent(operation, answer);
        return { headers: [...headers, ...links, ...location], body };
      };
      const { method, path: target } = request;
      const identity = { secret, keyId: key._id, idempotencyKey };
      const content =
        idempotencyKey === ''
          ? await run()
          : await idempotency.run({ ...identity, request: [method, target, bytes ?? ''] }, run);
      request.respond({
        status: operation.status ?? 200,
        headers: [...content.headers, ...limitHeaders],
        body: content.body,
      });
    } catch (error) {
      const failure = toStoreFailure(error);
      // A client that disconnects while sending the body makes reading fail, which is not worth
      // logging.
      if (failure.code === 'internal_error' && !signal.aborted) {
        this.#environment.onError(request, error);
      }
      const { headers, ...response } = errorResponse(failure);
      request.respond({ ...response, headers: [...headers, ...limitHeaders] });
    }
  }
}

/** Returns the body of a successful response, and the headers that describe it. */
function toContent({ result }: Operation, answer: unknown): Content {
  if (result === null) return { headers: uncachedHeaders, body: null };
  if (answer instanceof Csv) return { headers: csvHeaders, body: answer.text };
  const { field } = result;
  const isList = answer instanceof List;
  const json = isList ? `{"${field}":[${answer.json}]}` : JSON.stringify({ [field]: answer });
  return { headers: jsonHeaders, body: json };
}

/**
 * Returns a request's validated body, or null if it is empty and optional.
 * @throws ServiceError invalid_request with every error
 */
async function readInput(
  expected: Input<unknown>,
  body: Uint8Array,
  contentType: string,
): Promise<unknown> {
  if (body.byteLength === 0) {
    if (expected.isOptional) return null;
    throw invalidRequest('A JSON body is required');
  }
  if (!/^application\/json *(?:; *charset="?utf-8"? *)?$/i.test(contentType)) {
    throw invalidRequest('The content type must be application/json');
  }
  const input = parseJson(body);
  // Loaded with the first body, because compiling the schemas takes time.
  const { requireValid } = await import('./validate.ts');
  requireValid(expected, input);
  return input;
}

/** Maximum calls per project that wait for their turn. */
const maxWaiting = 100;

/**
 * Runs the calls that change a project one at a time per process. Changes that depend on its state
 * then rarely need repeating, and a project's calls use few store connections.
 */
export class ProjectMutex {
  /** The calls include the current one. */
  readonly #projects = new Map<string, { readonly semaphore: Semaphore; calls: number }>();

  /**
   * @param signal aborts when the client disconnects
   * @throws ServiceError rate_limited; or the signal's reason
   */
  async run<T>(projectId: string, signal: AbortSignal, change: () => Promise<T>): Promise<T> {
    const turns = this.#projects.get(projectId) ?? { semaphore: new Semaphore(1), calls: 0 };
    if (turns.calls > maxWaiting) {
      const message = 'Too many changes to the project are waiting.';
      throw new ServiceError('rate_limited', message, undefined, { retryAfter: 1 });
    }
    this.#projects.set(projectId, turns);
    turns.calls += 1;
    try {
      const leave = await turns.semaphore.enter(signal);
      return await change().finally(leave);
    } finally {
      turns.calls -= 1;
      if (turns.calls === 0) this.#projects.delete(projectId);
    }
  }
}
