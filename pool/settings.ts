/** What the engine must be told. One engine lives in each front-end process. */
export interface EngineSettings {
  /** Transform threads. */
  readonly threads: number;
  /** Transforms that may wait for a thread. */
  readonly queue: number;
  /** Source fetches in flight. */
  readonly fetchConcurrency: number;
  /** Bytes of finished answers kept in this process's memory. */
  readonly memoryCacheBytes: number;
  /** Folder of the disk cache, or null when that tier is off. */
  readonly diskCacheFolder: string | null;
  /** CIDRs and host names that sources may use although they are not public. */
  readonly privateSources: readonly string[];
  readonly sourceMaxBytes: number;
  /** All frames together. */
  readonly sourceMaxPixels: number;
  /** Whole fetch, redirects included, in ms. */
  readonly sourceTimeoutMs: number;
  readonly transformTimeoutMs: number;
  /** The service's own host names and its port; sources there would be a loop. */
  readonly own: { readonly hosts: readonly string[]; readonly port: number };
}
