import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { HttpEngineSetting } from '../../contract/settings/table.ts';
import type { StartEngine } from './engine.ts';

export interface ChosenEngine {
  readonly name: 'uws' | 'node';
  readonly start: StartEngine;
  /** Why uWebSockets.js is not used although the setting would prefer it. */
  readonly because?: string;
}

/** The engine that the setting names is unavailable on this machine. */
export class EngineUnavailable extends Error {}

const remedy =
  'use Node 20 on Linux with glibc, macOS or Windows, or leave SERVICE_HTTP_ENGINE at auto';

/**
 * Why uWebSockets.js cannot serve, or null. The package is not imported for this check: where its
 * binary does not load, it prints warnings and falls back to an incomplete implementation in
 * JavaScript, which fails on every request.
 */
export function uwsFailure(): string | null {
  const failure = (why: string): string =>
    `uWebSockets.js has no native binary for Node ${process.versions.node} on ${process.platform}-${process.arch} that loads: ${why}`;
  if (process.env['UWS_USE_FALLBACK'] !== undefined) return failure('UWS_USE_FALLBACK is set');
  const file = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
  try {
    const main = import.meta.resolve('uWebSockets.js');
    // The folders of the npm package and of the upstream release.
    const binary = [`../binaries/${file}`, `./${file}`]
      .map((path) => fileURLToPath(new URL(path, main)))
      .find((path) => existsSync(path));
    if (binary === undefined) return failure(`there is no ${file}`);
    // A binary for another C library exists but does not load.
    const { SSLApp } = createRequire(main)(binary);
    return typeof SSLApp === 'function' ? null : failure('it is incomplete');
  } catch (error) {
    return failure(error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error));
  }
}

/**
 * The engine of the setting; the other one is not imported.
 * @throws EngineUnavailable
 */
export async function chooseEngine(setting: HttpEngineSetting): Promise<ChosenEngine> {
  const failure = setting === 'node' ? null : uwsFailure();
  if (setting === 'uws' && failure !== null) throw new EngineUnavailable(`${failure}; ${remedy}`);
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
