import type { Settings } from '../../contract/settings/table.ts';
import type { StartHttpServer } from './app.ts';
import type { ClientConnections } from './connection-limit.ts';
import { loadUws } from './uws-library.ts';

/** A front end's HTTP server, as shown in logs. */
export interface ChosenServer {
  /** The matching value of SERVICE_HTTP_ENGINE. */
  readonly engine: 'uws' | 'node';
  /** The package and version of uWebSockets.js. */
  readonly release?: string;
  /** The reason for not using uWebSockets.js, if the setting prefers it. */
  readonly because?: string;
}

const remedy =
  'use Node 22 or 20 on macOS or on Linux with glibc, or leave SERVICE_HTTP_ENGINE at auto';

/**
 * Loads only the HTTP server that the setting selects. Returns the reason if it does not work on
 * this machine.
 */
export async function chooseHttpServer(
  setting: Settings['httpEngine'],
  connections: ClientConnections,
): Promise<{ readonly chosen: ChosenServer; readonly start: StartHttpServer } | string> {
  const uws = setting === 'node' ? null : loadUws();
  if (uws !== null && typeof uws !== 'string') {
    const { UwsServer } = await import('./uws-server.ts');
    return {
      chosen: { engine: 'uws', release: uws.release },
      start: (app) => new UwsServer(app, uws, connections),
    };
  }
  if (setting === 'uws') return `${uws}; ${remedy}`;
  const { NodeServer } = await import('./node-server.ts');
  return {
    chosen: uws === null ? { engine: 'node' } : { engine: 'node', because: uws },
    start: (app) => new NodeServer(app, connections),
  };
}
