import { type Agent, type IncomingHttpHeaders, request } from 'node:http';
import { buffer as readBody } from 'node:stream/consumers';
import { loadSettings } from '../../../contract/settings/load.ts';
import { joinStore, type Store } from '../../../store/open.ts';
import { until } from '../../until.ts';
import { picture, startTestOrigin } from '../origin.ts';
import { type json, type Service, type ServiceOptions, startService } from '../service.ts';
import { ResponseValidator } from './response-validator.ts';

export const rootKey = 'sk_root-key-of-the-tests';
/** The base URL in responses; tests use another address. */
export const baseUrl = 'https://img.shop.test/x';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  // Untyped: tests check it, as in `json`.
  readonly body: Awaited<ReturnType<typeof json>>;
}

export interface Call {
  /** null to send no key; the root key if absent. */
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent unchanged, with the JSON content type unless the headers contain another. */
  readonly body?: string | Uint8Array;
  readonly agent?: Agent;
}

/** A service with a root key, and a client of its control plane that checks every response. */
export interface Control {
  readonly service: Service;
  /** Rejects when the response does not conform to the served OpenAPI document. */
  call(method: string, path: string, call?: Call): Promise<Answer>;
  /** Creates a project through the control plane. */
  project(allowedOrigins?: readonly string[]): Promise<string>;
  /** Returns the secret of a new key. */
  issue(projectId: string | null, access: 'read' | 'write'): Promise<string>;
  /** The service's own store. */
  readonly store: Store;
  /** URLs of valid watermarks. */
  readonly watermarks: readonly string[];
}

export const prefix = '/api/sdk/v1';

/**
 * Returns the path of a `Location` below the API prefix, or '' if it does not start with the base
 * URL's path and that prefix.
 */
export function locatedPath({ headers }: Answer): string {
  const [nothing, path] = (headers.location ?? '').split(new URL(baseUrl).pathname + prefix);
  return nothing === '' ? (path ?? '') : '';
}

interface Test {
  teardown(action: () => Promise<unknown>): void;
}

export async function startControl(
  t: Test,
  environment: Readonly<Record<string, string>> = {},
  options: ServiceOptions = {},
): Promise<Control> {
  const service = await startService(t, {
    ...options,
    environment: {
      SERVICE_ROOT_API_KEY: rootKey,
      SERVICE_API_RATE_LIMIT: '1000000',
      SERVICE_BASE_URL: `${baseUrl}/`,
      SERVICE_ENCRYPTION_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}`,
      ...environment,
    },
  });
  const validator = await ResponseValidator.of(service.url);
  const origin = await startTestOrigin({ teardown: (action) => t.teardown(async () => action()) });
  const image = await picture(8, 8, 'png');
  const paths = Array.from({ length: 40 }, (_, index) => `/watermark/${index}.png`);
  for (const path of paths) origin.serve(path, image);
  const store = await joinStore(loadSettings(service.environment));
  t.teardown(() => store.close());
  const call: Control['call'] = async (method, path, options = {}) => {
    let answer = await send(service.port, method, prefix + path, options);
    for (let left = mostRetries; left > 0 && isRetryable(method, path, answer); left--) {
      answer = await send(service.port, method, prefix + path, options);
    }
    check(answer, path);
    if (method !== 'HEAD') validator.check(method, prefix + path, answer.status, answer.body);
    return answer;
  };
  return {
    service,
    call,
    store,
    watermarks: paths.map((path) => origin.url + path),
    async project(allowedOrigins = []) {
      const input = { name: 'Shop', origin: 'http://127.0.0.1/', allowedOrigins };
      const { status, body } = await until('a project', async () => {
        const answer = await call('POST', '/projects', { json: input });
        return answer.body?.code !== 'store_unavailable' && answer;
      });
      if (status !== 201) throw new Error(`no project: ${status} ${JSON.stringify(body)}`);
      return body.project.id;
    },
    async issue(projectId, access) {
      const { _id: orgId } = await store.organisations.default();
      const { secret } = await store.keys.issue({ name: 'test', orgId, projectId, access });
      return secret;
    },
  };
}

const mostRetries = 10;

/**
 * Returns true for responses that clients repeat: on a busy machine many simultaneous writes miss
 * the store's deadline.
 */
const isRetryable = (method: string, path: string, { status, body }: Answer) =>
  (['PUT', 'PATCH', 'DELETE'].includes(method) || path.endsWith('/domains')) &&
  status === 503 &&
  body?.code === 'store_unavailable';

/** Checks the headers that every response needs. */
function check({ headers, status }: Answer, path: string): void {
  const expected = {
    'content-type': status === 204 ? undefined : 'application/json',
    'content-length': status === 204 ? undefined : headers['content-length'],
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  };
  for (const [name, value] of Object.entries(expected)) {
    if (headers[name] !== value) throw new Error(`${path} ${status}: ${name} ${headers[name]}`);
  }
  if (!/^\w+-\w+-\w+$/.test(String(headers['x-request-id']))) {
    throw new Error(`${path} ${status} has no request id`);
  }
}

/** Returns the pid of the responding process, which starts the request id. */
export function findProcess({ headers }: Answer): number {
  return Number.parseInt(String(headers['x-request-id']).split('-')[0] ?? '', 36);
}

const bodyHeaders = (body: string | Uint8Array) => ({
  'content-type': 'application/json',
  'content-length': String(Buffer.byteLength(body)),
});

/**
 * Sends a request, on a new connection unless an agent is passed. Returns the body parsed as JSON
 * if possible, otherwise as a Buffer.
 */
export function send(port: number, method: string, path: string, call: Call): Promise<Answer> {
  const { key = rootKey, agent = false } = call;
  const sent = call.json === undefined ? call.body : JSON.stringify(call.json);
  const headers: Record<string, string> = {
    ...(key === null ? {} : { authorization: `Bearer ${key}` }),
    ...(sent === undefined ? {} : bodyHeaders(sent)),
    ...call.headers,
  };
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, method, path, headers, agent });
    outgoing.once('error', reject);
    outgoing.once('response', (response) => {
      const { statusCode: status = 0, headers } = response;
      readBody(response).then((bytes) => {
        const isJson = headers['content-type'] === 'application/json' && bytes.length > 0;
        resolve({ status, headers, body: isJson ? JSON.parse(bytes.toString()) : bytes });
      }, reject);
    });
    outgoing.end(sent);
  });
}
