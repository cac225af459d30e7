import type { ServiceError } from '../../contract/errors.ts';
import type { ClientConnections } from './connection-limit.ts';
import type { HttpRequest, HttpResponse } from './request.ts';

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

/** The part of the app that HTTP servers use. */
export interface HttpApp {
  /** Whether responses close their connections. */
  readonly closing: boolean;
  /** Counts a new request and returns its id; `onEnd` must follow. */
  begin(): string;
  /** Responds to a request, synchronously or later. */
  handle(request: HttpRequest): void;
  /**
   * Called at the end of each request; `status` is null if the client disconnected before the
   * response.
   */
  onEnd(request: HttpRequest, status: number | null, ms: number): void;
  /** Returns the response to a request that does not reach a handler. */
  errorResponse(error: ServiceError): HttpResponse;
  /** Returns the error for a method that a path does not allow. */
  refusal(method: string, path: string): ServiceError;
}

export type StartHttpServer = (app: HttpApp) => HttpServer;
