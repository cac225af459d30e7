import type { Test } from 'tap';
import { onlyProcess } from '../../pool/coalescer.ts';
import { Engine, type EngineEnvironment, type EngineSettings } from '../../pool/engine.ts';
import { transformSettings } from './execution/pools.ts';
import { sourceSettings } from './source/origin.ts';

/** Opens an engine, by default without caches, and closes it after the test. */
export function openEngine(
  t: Test,
  changes: Partial<EngineSettings>,
  environment: Partial<EngineEnvironment> = {},
): Engine {
  const engine = new Engine(
    {
      ...sourceSettings,
      ...transformSettings,
      poolQueue: 10,
      memoryCacheBytes: 0,
      processes: 1,
      diskCacheBytes: 0,
      sourceMaxBytes: 1e8,
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
