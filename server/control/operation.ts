import type { ErrorCode } from '../../contract/errors.ts';
import type { ApiKey } from '../../store/keys.ts';
import type { List, PageQuery } from './list.ts';
import type { NamedSchema, PathParameter, QueryParameter } from './schema.ts';
import type { Services } from './services.ts';

/** The names in braces of a path. */
type NamesIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never;

/** The body of a request, and whether it may be omitted. */
export type Input<T> = NamedSchema<T> & { readonly isOptional?: boolean };

export const optional = <T>(input: NamedSchema<T>): Input<T | null> => ({
  ...input,
  isOptional: true,
});

/** The body of a successful response: an object with one field. */
export interface Result<T> {
  readonly field: string;
  readonly schema: NamedSchema<unknown>;
  /** Whether the field is an array of the schema. */
  readonly isList: boolean;
  /** Of the field. */
  readonly example: T;
}

export const one = <T>(field: string, schema: NamedSchema<T>): Result<T> => ({
  field,
  schema,
  isList: false,
  example: schema.example,
});

export const listOf = <T>(field: string, schema: NamedSchema<T>): Result<readonly T[]> => ({
  field,
  schema,
  isList: true,
  example: [schema.example],
});

/** A response in CSV (RFC 4180). */
export class Csv {
  readonly text: string;

  /** @param rows the first one is the header; no field needs quotes */
  constructor(rows: readonly (readonly (string | number)[])[]) {
    this.text = rows.map((row) => `${row.join(',')}\r\n`).join('');
  }
}

/** A request that passed every check except the existence of its project. */
export interface Call<Path extends string = string, Body = unknown> {
  readonly key: ApiKey;
  /** The decoded segments of the path. */
  readonly path: Readonly<Record<NamesIn<Path>, string>>;
  /** Valid by the schema of the input; null without a body. */
  readonly input: Body;
  /** As in the request. */
  readonly query: string;
  /** Of an operation with pages: the one that the client asks for; null for the whole list. */
  readonly page: PageQuery | null;
  readonly accept: string;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
  /** Sets the `Location` of the response. @param path below the prefix */
  readonly locate: (path: `/${string}`) => void;
}

/**
 * One operation of the control plane. Its route, checks, rate limit, and its part of the OpenAPI document and of the
 * SDK are derived from it. Keys that may only read can use those with the method GET.
 */
export interface Operation<Path extends string = string, Body = unknown, Answer = unknown> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the prefix; each name in braces is one path segment. */
  readonly path: Path;
  readonly summary: string;
  readonly description: string;
  /** The names in braces other than `projectId`. */
  readonly parameters?: Readonly<Record<string, PathParameter>>;
  /** Requires a key for all projects, or a root key: what it changes is the operator's. Default: any key. */
  readonly scope?: 'all-projects' | 'root';
  readonly input?: Input<Body>;
  /** Default: 64 KiB. */
  readonly maxBodyBytes?: number;
  readonly query?: Readonly<Record<string, QueryParameter>>;
  /** The client may ask for pages of the list. */
  readonly isPaged?: boolean;
  /** The schema of the cursors of pages; default: any text. */
  readonly cursor?: object;
  /** Default: 200. */
  readonly status?: 201 | 202 | 204;
  /** Null for a response without a body: 204. */
  readonly result: Result<Answer> | null;
  /** It waits for an origin, so it changes the project without waiting for its turn. */
  readonly waitsForOrigin?: true;
  /** The response has the `Location` of the request's progress, and its last segment is the id. */
  readonly hasLocation?: true;
  /** Codes of errors whose statuses not every operation has. */
  readonly errors?: readonly ErrorCode[];
  /** An example, if the client may choose CSV. */
  readonly csv?: Csv;
  handle(call: Call<Path, Body>, services: Services): Promise<NoInfer<Answer> | List | Csv>;
}

/** Every name in braces must have its schema. */
type WithParameters<Path extends string> = [Exclude<NamesIn<Path>, 'projectId'>] extends [never]
  ? unknown
  : { readonly parameters: Readonly<Record<Exclude<NamesIn<Path>, 'projectId'>, PathParameter>> };

/** Checks that an operation is complete, and that its handler fits its path and its schemas. */
export const operation = <const Path extends string, Body = null, Answer = unknown>(
  definition: Operation<Path, Body, Answer> & WithParameters<Path>,
): Operation<Path, Body, Answer> => definition;
