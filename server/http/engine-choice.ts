import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { HttpEngineSetting } from '../../contract/settings/table.ts';
import type { StartEngine } from './engine.ts';

export interface ChosenEngine {
  readonly name: 'uws' | 'node';
  readonly start: StartEngine;
  /** Why it is not the one that would have been preferred. */
  readonly because?: string;
}

/** The engine that the settings insist on cannot be had here. */
export class EngineUnavailable extends Error {}

const wayOut =
  'use Node 20 on Linux with glibc, macOS or Windows, or leave SERVICE_HTTP_ENGINE at auto';

/**
 * Why uWebSockets.js cannot serve, or null. It is not imported to find out: where its binary does
 * not load, the package of the npm registry prints warnings and puts an incomplete implementation
 * in JavaScript in its place, which fails on every request.
 */
export function uwsFailure(): string | null {
  const failure = (why: string): string =>
    `uWebSockets.js has no native binary for Node ${process.versions.node} on ${process.platform}-${process.arch} that loads: ${why}`;
  if (process.env['UWS_USE_FALLBACK'] !== undefined) return failure('UWS_USE_FALLBACK is set');
  const file = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
  try {
    const main = import.meta.resolve('uWebSockets.js');
    // Where the npm package and the upstream release keep them.
    const binary = [`../binaries/${file}`, `./${file}`]
      .map((path) => fileURLToPath(new URL(path, main)))
      .find((path) => existsSync(path));
    if (binary === undefined) return failure(`there is no ${file}`);
    // One built against another C library is there and does not load.
    const { SSLApp } = createRequire(main)(binary);
    return typeof SSLApp === 'function' ? null : failure('it is incomplete');
  } catch (error) {
    return failure(error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error));
  }
}

/**
 * The engine of the setting; what is not used is not imported.
 * @throws EngineUnavailable
 */
export async function chooseEngine(setting: HttpEngineSetting): Promise<ChosenEngine> {
  const failure = setting === 'node' ? null : uwsFailure();
  if (setting === 'uws' && failure !== null) throw new EngineUnavailable(`${failure}; ${wayOut}`);
  if (setting === 'node' || failure !== null) {
    const { NodeEngine } = await import('./node-engine.ts');
    return {
      name: 'node',
      start: (host) => new NodeEngine(host),
      ...(failure === null ? {} : { because: failure }),
    };
  }
  const { UwsEngine } = await import('./uws-engine.ts');
  return { name: 'uws', start: (host) => new UwsEngine(host) };
}
