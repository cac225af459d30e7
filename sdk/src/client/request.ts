import { controlPrefix, operations } from '../generated/operations.ts';
import type { Connection } from './connection.ts';
import { type Answer, createError, readObject } from './response.ts';
import type { Request } from './send.ts';

/**
 * Creates a call's request.
 * @throws TypeError for a missing or invalid path field
 */
export function createRequest(
  operation: Operation,
  input: Input,
  connection: Connection,
): Request<unknown> {
  const { id, method, query: names = [] } = operation;
  const sent = new Set(names);
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    sent.add(name);
    return segment(id, name, input[name]);
  });
  const parameters = new URLSearchParams();
  for (const name of names) {
    if (input[name] !== undefined) parameters.set(name, String(input[name]));
  }
  const query = parameters.toString();
  const fields = Object.entries(input).filter(([name]) => !sent.has(name));
  const body =
    operation.body && fields.length > 0 ? JSON.stringify(Object.fromEntries(fields)) : null;
  const headers: Record<string, string> = {
    accept: 'application/json',
    authorization: connection.authorization,
  };
  if (body !== null) headers['content-type'] = 'application/json';
  return {
    operation: id,
    method,
    target: controlPrefix + path + (query === '' ? '' : `?${query}`),
    headers,
    body,
    isRepeatable: isRepeatable(operation, input),
    read: (answer) => readResult(operation, answer, connection),
  };
}

/** A list's page, and the cursor for the next page; null for the last page. */
export interface Page {
  readonly items: readonly unknown[];
  readonly cursor: string | null;
}

/** Creates a page's request. @param cursor null for the first page */
export function createPageRequest(
  operation: Operation,
  input: Input,
  cursor: string | null,
  connection: Connection,
): Request<Page> {
  const request = createRequest(operation, input, connection);
  const query = new URLSearchParams({ limit: String(pageItems), ...(cursor && { cursor }) });
  return {
    ...request,
    target: `${request.target}?${query}`,
    read: (answer) => ({
      items: request.read(answer) as readonly unknown[],
      cursor: nextCursor(answer.headers.get('link')),
    }),
  };
}

const pageItems = 100;

/** The cursor in the reference to the next page (RFC 8288), or null. */
function nextCursor(link: string | null): string | null {
  const [, query = ''] = /<[^<>?]*\?([^<>]*)>; rel="next"/.exec(link ?? '') ?? [];
  return new URLSearchParams(query).get('cursor');
}

/** A segment of dots, even if encoded, would be resolved and change the path. */
function segment(operation: string, name: string, value: unknown): string {
  if (typeof value !== 'string' || /^\.{0,2}$/.test(value)) {
    throw new TypeError(`${operation} needs ${name}, a string that is neither empty nor only dots`);
  }
  return encodeURIComponent(value);
}

function readResult(operation: Operation, answer: Answer, connection: Connection): unknown {
  const { id, result, hasLocation } = operation;
  const { status, headers, text } = answer;
  if (status === 204 && result === undefined) return undefined;
  if (status >= 200 && status < 300 && result !== undefined) {
    const isCsv = /^text\/csv\b/i.test(headers.get('content-type') ?? '');
    if (id === 'getProjectUsage' && isCsv && text !== null) return text;
    const value = readObject(answer)?.[result];
    if (value !== undefined && !hasLocation) return value;
    const [, located = null] = /([^/?#]+)$/.exec(headers.get('location') ?? '') ?? [];
    // Only a purge can lack a Location; otherwise a proxy has removed the header.
    if (value !== undefined && (located !== null || id === 'purgeProjectImages')) {
      return Object.assign({}, value, { [`${result}Id`]: located });
    }
  }
  throw createError(id, answer, connection);
}

/**
 * Creates a health operation's request, which needs no key. The response counts as a result even if
 * the service is unhealthy.
 */
export function healthRequest(
  operation: string,
  target: string,
  field: string,
  connection: Connection,
): Request<unknown> {
  return {
    operation,
    method: 'GET',
    target,
    headers: { accept: 'application/json' },
    body: null,
    isRepeatable: true,
    read: (answer) => {
      const body = readObject(answer);
      if (typeof body?.[field] === 'boolean') return body;
      throw createError(operation, answer, connection);
    },
  };
}

export type OperationId = keyof typeof operations;

/** An operation of the control plane, as in the generated table; inapplicable fields are absent. */
export interface Operation {
  readonly id: OperationId;
  readonly method: string;
  /** Below the prefix; each name in braces is one path segment. */
  readonly path: string;
  /** Names of the query parameters. */
  readonly query?: readonly string[];
  readonly body?: 'required' | 'optional';
  /** The response body's field that contains the result; absent if the response has no body. */
  readonly result?: string;
  /** Whether the result is a paged list. */
  readonly isPaged?: true;
  readonly hasLocation?: true;
}

type PostId = {
  [Id in OperationId]: (typeof operations)[Id]['method'] extends 'POST' ? Id : never;
}[OperationId];

/** Whether a POST is safe to repeat. Every other method is. */
const repeatablePosts: Readonly<Record<PostId, boolean>> = {
  createProject: false,
  createProjectKey: false,
  createSigningSecret: false,
  signProjectUrl: true,
  addProjectDomain: true,
  prewarmProjectImages: true,
  purgeProjectImages: true,
};

export const operationList = (): readonly Operation[] =>
  Object.entries<Omit<Operation, 'id'>>(operations).map(([id, entry]) => ({
    id: id as OperationId,
    ...entry,
  }));

/**
 * Returns whether a call is safe to repeat, even if it might have taken effect. With a
 * `callbackUrl` the receiver would get a callback for each repetition.
 */
export function isRepeatable({ id, method }: Operation, input: Input): boolean {
  if (method !== 'POST') return true;
  return repeatablePosts[id as PostId] && input['callbackUrl'] === undefined;
}

/** A call's path, query and body fields; their names are distinct. */
export type Input = Readonly<Record<string, unknown>>;

export const hasInput = ({ path, query = [], body }: Operation): boolean =>
  path.includes('{') || query.length > 0 || body !== undefined;
