/** Header names in lower case with their values. */
export type Headers = ReadonlyArray<readonly [name: string, value: string]>;

export interface HttpResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array | string | null;
}

/** One request and the way to answer it, without the server library's rules about lifetimes. */
export interface HttpRequest {
  /** Names this request in logs and in `x-request-id`. */
  readonly id: string;
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PATCH' | 'DELETE' | 'PUT' | 'OPTIONS' | 'OTHER';
  /** The undecoded path, as it was sent. */
  readonly path: string;
  /** The undecoded query without `?`; empty when there is none. */
  readonly query: string;
  /** The value of a header named in lower case, or ''. Only before the handler's first await. */
  header(name: string): string;
  /**
   * The whole body, or null when it has more bytes than that. To be called before the handler's
   * first await; rejects when the client leaves.
   */
  readBody(maxBytes: number): Promise<Uint8Array | null>;
  /** Aborts when the client leaves before it was answered. */
  readonly signal: AbortSignal;
  /** Answers; does nothing when the client has left or was answered already. */
  respond(response: HttpResponse): void;
}

/** Answers an request, at once or later; whatever it throws becomes the service's error body. */
export type Handler = (request: HttpRequest) => void | Promise<void>;
