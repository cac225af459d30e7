import { operations } from '../generated/operations.ts';

export type OperationId = keyof typeof operations;

/** An operation of the control plane. */
export interface Operation {
  readonly id: OperationId;
  readonly method: string;
  /** Below the prefix; each name in braces is one path segment. */
  readonly path: string;
  /** The names of the query's parameters. */
  readonly query: readonly string[];
  readonly hasBody: boolean;
  /** The field of the response's body that has the result; null for a response without a body. */
  readonly result: string | null;
  /** The result is a list, which can be asked for in pages. */
  readonly isPaged: boolean;
  readonly hasLocation: boolean;
}

/** An entry of the generated table, in which a field that does not apply is absent. */
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

/** Whether a POST may take effect twice. Every other method may. */
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
 * Whether a call may take effect twice without harm, so that it can be repeated when it is unknown whether
 * it took effect. With a `callbackUrl` the receiver would get a callback of each.
 */
export function isRepeatable({ id, method }: Operation, input: Input): boolean {
  if (method !== 'POST') return true;
  return repeatablePosts[id as PostId] && input['callbackUrl'] === undefined;
}

/** The fields of the path, the query and the body of a call, whose names differ. */
export type Input = Readonly<Record<string, unknown>>;

export const hasInput = ({ path, query, hasBody }: Operation): boolean =>
  path.includes('{') || query.length > 0 || hasBody;
