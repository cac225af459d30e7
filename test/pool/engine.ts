import type { Test } from 'tap';
import { Engine, type EngineEnvironment } from '../../pool/engine.ts';
import { allFormats } from '../../pool/formats/source-formats.ts';
import type { EngineSettings } from '../../pool/settings.ts';
import { onlyProcess } from '../../pool/single-flight.ts';
import { settings } from './execution/pools.ts';
import { sourceSettings } from './source/origin.ts';

/** Opens an engine, by default without caches, and closes it after the test. */
export function openEngine(
  t: Test,
  changes: Partial<EngineSettings>,
  environment: Partial<EngineEnvironment> = {},
): Engine {
  const engine = new Engine(
    {
      ...settings,
      ...sourceSettings,
      formats: allFormats,
      queue: 10,
      memoryCacheBytes: 0,
      diskCacheFolder: null,
      sharedCache: null,
      sourceMaxBytes: 1e8,
      freshness: { minAge: 1, maxAge: 1, staleIfError: 1 },
      ...changes,
    },
    {
      coalescer: onlyProcess,
      disk: { stored() {}, read() {}, removed() {}, failed() {} },
      onSharedCacheChange() {},
      deploymentSecret: async () => 'of the deployment',
      onMemoryHit() {},
      onRender() {},
      now: Date.now,
      ...environment,
    },
  );
  t.teardown(() => engine.close());
  return engine;
}
