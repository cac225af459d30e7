import type { HttpEngineSetting } from '../../contract/settings/table.ts';
import type { StartHttpServer } from './engine.ts';
import { loadUws } from './uws-library.ts';

/** The HTTP engine that a front end took. */
export interface ChosenServer {
  readonly engine: 'uws' | 'node';
  /** The package and version of uWebSockets.js. */
  readonly release?: string;
  /** Why uWebSockets.js is not used although the setting would prefer it. */
  readonly because?: string;
}

/** The engine that the setting names is unavailable on this machine. */
export class HttpServerUnavailable extends Error {}

const remedy =
  'use Node 22 or 20 on Linux with glibc, macOS or Windows, or leave SERVICE_HTTP_ENGINE at auto';

/**
 * The engine of the setting; the other one is not loaded.
 * @throws EngineUnavailable
 */
export async function chooseHttpServer(
  setting: HttpEngineSetting,
): Promise<{ readonly taken: ChosenServer; readonly start: StartHttpServer }> {
  const uws = setting === 'node' ? null : loadUws();
  if (uws !== null && typeof uws !== 'string') {
    const { UwsEngine: UwsServer } = await import('./uws-engine.ts');
    return {
      taken: { engine: 'uws', release: uws.release },
      start: (host) => new UwsEngine(host, uws),
    };
  }
  if (setting === 'uws') throw new HttpServerUnavailable(`${uws}; ${remedy}`);
  const { NodeEngine: NodeServer } = await import('./node-engine.ts');
  return {
    taken: { engine: 'node', ...(uws === null ? {} : { because: uws }) },
    start: (host) => new NodeEngine(host),
  };
}
