import type { ServiceError } from '../../contract/errors.ts';
import type { HttpRequest, HttpResponse } from './request.ts';

/** An HTTP server library behind the app: it owns the sockets and the protocol. */
export interface HttpEngine {
  /** Shares the port with the other processes that listen on it. False when it can't. */
  listen(host: string, port: number): Promise<boolean>;
  /** Accepts no more connections; those that are open stay until they are idle or answered. */
  stopListening(): void;
}

/** What the app is to an engine. */
export interface EngineHost {
  /** Whether answers are to end their connections. */
  readonly closing: boolean;
  /** Counts a request that has come, and names it; `over` has to follow. */
  begin(): string;
  /** Answers a request, now or later. */
  handle(request: HttpRequest): void;
  /** A request is answered, or its client left before: then `status` is null. */
  over(request: HttpRequest, status: number | null, ms: number): void;
  /** The answer to what is refused before there is a handler for it. */
  errorResponse(failure: ServiceError): HttpResponse;
  /** Why a method that the engine's parser does not know is refused at a path. */
  refusal(method: string, path: string): ServiceError;
}

export type StartEngine = (host: EngineHost) => HttpEngine;
