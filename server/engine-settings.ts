import { join, resolve } from 'node:path';
import { defaultOpsPort, type Settings } from '../contract/settings/table.ts';
import type { EngineSettings } from '../pool/settings.ts';

/** Returns the settings of a front end's image engine. */
export function engineSettings(settings: Settings): EngineSettings {
  const { processes, baseUrl, internalUrl, diskCacheBytes, dataDir } = settings;
  const { port, workerPort, opsPort } = settings;
  return {
    threads: settings.poolThreads,
    queue: settings.poolQueue,
    costlyBytes: settings.poolMemoryBytes,
    fetchConcurrency: settings.fetchConcurrency,
    memoryCacheBytes: Math.floor(settings.memoryCacheBytes / processes),
    diskCacheFolder: diskCacheBytes === 0 ? null : resolve(join(dataDir, 'cache')),
    sharedCache: settings.sharedCacheUrl && {
      location: settings.sharedCacheUrl,
      timeoutMs: settings.sharedCacheTimeoutMs,
      queueBytes: settings.sharedCacheQueueBytes,
    },
    privateSources: settings.privateSources,
    sourcePorts: settings.sourcePorts,
    nat64Prefixes: settings.nat64Prefixes,
    dnsServers: settings.dnsServers,
    sourceMaxBytes: settings.sourceMaxBytes,
    sourceHeldBytes: settings.sourceHeldBytes,
    sourceCacheBytes: settings.sourceCacheBytes,
    formats: { heic: settings.heic, pdf: settings.pdf },
    sourceMaxPixels: settings.sourceMaxPixels,
    sourceTimeoutMs: settings.sourceTimeoutMs,
    freshness: {
      minAge: settings.sourceMinAgeSeconds,
      maxAge: settings.sourceMaxAgeSeconds,
      staleIfError: settings.staleIfErrorSeconds,
    },
    transformTimeoutMs: settings.transformTimeoutMs,
    svgTimeoutMs: settings.svgTimeoutMs,
    processMemoryBytes: settings.transformProcessMemoryBytes,
    fonts: settings.fonts,
    own: { urls: [baseUrl, internalUrl], ports: [port, workerPort, opsPort ?? defaultOpsPort] },
  };
}
