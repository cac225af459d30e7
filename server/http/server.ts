import type { ClientConnections } from './connection-limit.ts';
import type { HttpApp } from './request.ts';

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

export type StartHttpServer = (app: HttpApp) => HttpServer;
