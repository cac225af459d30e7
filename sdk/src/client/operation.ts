import { operations } from '../generated/operations.ts';

export type OperationId = keyof typeof operations;

/** An operation of the control plane. */
export interface Operation {
  readonly id: OperationId;
  readonly method: string;
  /** Below the prefix; each name in braces is one path segment. */
  readonly path: string;
  /** Names of the query parameters. */
  readonly query: readonly string[];
  readonly hasBody: boolean;
  /** The response body's field that contains the result; null if the response has no body. */
  readonly result: string | null;
  /** Whether the result is a paged list. */
  readonly isPaged: boolean;
  readonly hasLocation: boolean;
}

/** An entry in the generated table; inapplicable fields are absent. */
interface Entry {
  readonly method: string;
  readonly path: string;
  readonly query?: readonly string[];
  readonly body?: 'required' | 'optional';
  readonly result?: string;
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
  Object.entries<Entry>(operations).map(
    ([id, { method, path, query, body, result, isPaged, hasLocation }]) => ({
      id: id as OperationId,
      method,
      path,
      query: query ?? [],
      hasBody: body !== undefined,
      result: result ?? null,
      isPaged: isPaged ?? false,
      hasLocation: hasLocation ?? false,
    }),
  );

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

export const hasInput = ({ path, query, hasBody }: Operation): boolean =>
  path.includes('{') || query.length > 0 || hasBody;
