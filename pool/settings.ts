import type { Network } from '../contract/networks.ts';
import type { Ports } from '../contract/private-sources.ts';
import type { SharedCacheSettings } from './cache/shared-cache.ts';
import type { AllowedFormats } from './formats/source-format.ts';
import type { FreshnessBounds } from './freshness.ts';
import type { OwnAddresses } from './source/guard.ts';

/** Settings of an engine. Each front-end process has one engine. */
export interface EngineSettings {
  /** Number of transform threads. */
  readonly threads: number;
  /** Maximum transforms that wait for a thread. */
  readonly queue: number;
  /** Limit of the estimated memory of costly transforms together; one above it runs alone. */
  readonly costlyBytes: number;
  readonly fetchConcurrency: number;
  /** Maximum size of this process's memory cache. */
  readonly memoryCacheBytes: number;
  /** Folder of the disk cache; null disables that tier. */
  readonly diskCacheFolder: string | null;
  /** The cache of all machines; null for none. */
  readonly sharedCache: SharedCacheSettings | null;
  /** CIDRs and host names that sources may use even though they are not public. */
  readonly privateSources: readonly string[];
  /** The ports of public sources; null allows all. */
  readonly sourcePorts: Ports;
  /** Configured NAT64 prefixes of the network. The resolver can report more. */
  readonly nat64Prefixes: readonly Network[];
  /** DNS servers, `address` or `address:port`; null for those of the system. */
  readonly dnsServers: readonly string[] | null;
  readonly sourceMaxBytes: number;
  /** Maximum bytes of sources that are being fetched, wait for a transform, or are transformed. */
  readonly sourceHeldBytes: number;
  /** Bytes of sources that are kept for further variants; 0 for none. */
  readonly sourceCacheBytes: number;
  /** Formats that sources may have besides those that are always read. */
  readonly formats: AllowedFormats;
  /** Of all frames together. */
  readonly sourceMaxPixels: number;
  /** Timeout of a fetch including its redirects, in ms. */
  readonly sourceTimeoutMs: number;
  /** Bounds of the time for which images are used without asking for their sources. */
  readonly freshness: FreshnessBounds;
  readonly transformTimeoutMs: number;
  /** Of these, for drawing an SVG. */
  readonly svgTimeoutMs: number;
  /** Maximum memory of each process for transforms that must be killable. */
  readonly processMemoryBytes: number;
  /** Folder with fonts for texts, besides the packaged family; null for none. */
  readonly fonts: string | null;
  /** Refused as sources, because they would loop or reach what is not public. */
  readonly own: OwnAddresses;
}
