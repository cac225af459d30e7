import type { ErrorCode } from '../../contract/errors.ts';
import type { ApiKey } from '../../store/keys.ts';
import type { List, PageQuery } from './list.ts';
import type { NamedSchema, PathParameter, QueryParameter } from './schema.ts';
import type { Services } from './services.ts';

/** The names in braces of a path. */
type NamesIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never;

/** A request body, and whether it is optional. */
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
  /** The field's example. */
  readonly example: T;
}

export const itemResult = <T>(field: string, schema: NamedSchema<T>): Result<T> => ({
  field,
  schema,
  isList: false,
  example: schema.example,
});

export const listResult = <T>(field: string, schema: NamedSchema<T>): Result<readonly T[]> => ({
  field,
  schema,
  isList: true,
  example: [schema.example],
});

/** A response in CSV (RFC 4180). */
export class Csv {
  readonly text: string;

  /** @param rows the first row is the header; no field needs quotes */
  constructor(rows: readonly (readonly (string | number)[])[]) {
    this.text = rows.map((row) => `${row.join(',')}\r\n`).join('');
  }
}

/** A request that passed every check except the existence of its project. */
interface OperationRequest<Path extends string = string, Body = unknown> {
  readonly key: ApiKey;
  /** The decoded path segments. */
  readonly path: Readonly<Record<NamesIn<Path>, string>>;
  /** Valid according to the input schema, or null if there is no body. */
  readonly input: Body;
  /** The query as sent. */
  readonly query: string;
  /** For a paged operation: the requested page, or null for the whole list. */
  readonly page: PageQuery | null;
  readonly accept: string;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
  /** Sets the response's `Location`. @param path below the prefix */
  readonly locate: (path: `/${string}`) => void;
}

/**
 * A control plane operation. Its route, checks, rate limit, and its parts of the OpenAPI document
 * and the SDK derive from it. Read-only keys permit operations with the method GET.
 */
export interface Operation<Path extends string = string, Body = unknown, Answer = unknown> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the prefix; each name in braces is one path segment. */
  readonly path: Path;
  readonly summary: string;
  readonly description: string;
  /** The names in braces other than `projectId`. */
  readonly parameters?: Readonly<Record<string, PathParameter>>;
  /**
   * Requires a key for all projects, or a root key, because the operation changes the operator's
   * data. Default: any key.
   */
  readonly scope?: 'all-projects' | 'root' | undefined;
  readonly input?: Input<Body>;
  /** Default: 64 KiB. */
  readonly maxBodyBytes?: number;
  readonly query?: Readonly<Record<string, QueryParameter>>;
  /** Whether clients can request pages of the list. */
  readonly isPaged?: boolean;
  /** The schema of page cursors; default: any text. */
  readonly cursor?: object;
  /** Default: 200. */
  readonly status?: 201 | 202 | 204;
  /** Null if the response has no body: 204. */
  readonly result: Result<Answer> | null;
  /** Whether it waits for an origin, and so changes the project without waiting for its turn. */
  readonly waitsForOrigin?: true;
  /**
   * Whether the response's `Location` points to the request's progress. Its last segment is the id.
   */
  readonly hasLocation?: true;
  /** Error codes with statuses that are not shared by every operation. */
  readonly errors?: readonly ErrorCode[] | undefined;
  /** An example, if clients can request CSV. */
  readonly csv?: Csv;
  handle(
    call: OperationRequest<Path, Body>,
    services: Services,
  ): Promise<NoInfer<Answer> | List | Csv>;
}

/** Requires a schema for every name in braces. */
type WithParameters<Path extends string> = [Exclude<NamesIn<Path>, 'projectId'>] extends [never]
  ? unknown
  : { readonly parameters: Readonly<Record<Exclude<NamesIn<Path>, 'projectId'>, PathParameter>> };

/** Checks that an operation is complete, and that its handler fits its path and schemas. */
export const operation = <const Path extends string, Body = null, Answer = unknown>(
  definition: Operation<Path, Body, Answer> & WithParameters<Path>,
): Operation<Path, Body, Answer> => definition;
