import type { Network } from '../contract/networks.ts';
import type { Ports } from '../contract/private-sources.ts';
import type { SharedCacheSettings } from './cache/shared-cache.ts';
import type { AllowedFormats } from './formats/source-format.ts';
import type { FreshnessBounds } from './freshness.ts';
import type { OwnAddresses } from './source/guard.ts';

/** Settings for an engine. Each front-end process runs one engine. */
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
  /** The cache shared by all machines, or null. */
  readonly sharedCache: SharedCacheSettings | null;
  /** CIDRs and host names that sources can use although they are not public. */
  readonly privateSources: readonly string[];
  /** The ports of public sources; null allows all. */
  readonly sourcePorts: Ports;
  /** Configured NAT64 prefixes of the network. The resolver can report more. */
  readonly nat64Prefixes: readonly Network[];
  /** DNS servers, `address` or `address:port`; null for the system's servers. */
  readonly dnsServers: readonly string[] | null;
  readonly sourceMaxBytes: number;
  /**
   * Maximum bytes of sources that are being fetched, waiting for a transform or being transformed.
   */
  readonly sourceHeldBytes: number;
  /** Bytes of sources to keep for more variants; 0 disables the cache. */
  readonly sourceCacheBytes: number;
  /** Optional source formats, in addition to formats that are always read. */
  readonly formats: AllowedFormats;
  /** Maximum pixels over all frames. */
  readonly sourceMaxPixels: number;
  /** Timeout of a fetch including its redirects, in ms. */
  readonly sourceTimeoutMs: number;
  /** Limits on how long images are used without revalidating their sources. */
  readonly freshness: FreshnessBounds;
  readonly transformTimeoutMs: number;
  /** Maximum time for drawing an SVG, within the transform's timeout, in ms. */
  readonly svgTimeoutMs: number;
  /** Maximum memory of each process for killable transforms. */
  readonly processMemoryBytes: number;
  /** Folder with additional fonts for texts, or null. */
  readonly fonts: string | null;
  /** Refused as sources, because they would loop or reach non-public services. */
  readonly own: OwnAddresses;
}
