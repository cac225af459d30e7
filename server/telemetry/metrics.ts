type MetricType = 'counter' | 'gauge' | 'histogram';

/** A metric that follows Prometheus conventions: base units, and counters end with `_total`. */
export interface Metric {
  readonly name: string;
  readonly type: MetricType;
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds of a histogram's buckets, except infinity. */
  readonly buckets?: readonly number[];
  /** Aggregation of the front ends' gauges for the machine. */
  readonly aggregation?: 'sum' | 'min' | 'max';
}

const counter = <const L extends readonly string[]>(
  name: `${string}_total`,
  help: string,
  labels: L,
) => ({ name, type: 'counter', help, labels }) as const;

const gauge = <const L extends readonly string[]>(
  name: string,
  help: string,
  labels: L,
  aggregation: 'sum' | 'min' | 'max' = 'sum',
) => ({ name, type: 'gauge', help, labels, aggregation }) as const;

const histogram = <const L extends readonly string[]>(
  name: `${string}_seconds`,
  help: string,
  labels: L,
  buckets: readonly number[],
) => ({ name, type: 'histogram', help, labels, buckets }) as const;

/** Seconds, from a memory hit to the longest timeouts. */
const requestBuckets = [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40];
const stageBuckets = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20,
];
const delayBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/**
 * The service's metrics, summed over a machine's processes. Code, documentation and tests derive
 * from this table. Labels take few values, and never a value copied from a request.
 */
export const serviceMetrics = {
  info: gauge(
    'image_delivery_info',
    'Always 1. Versions of the service and Node.js, and the HTTP engine in use (uws, node).',
    ['version', 'node', 'http_engine'],
    'max',
  ),
  requests: counter(
    'image_delivery_requests_total',
    'Requests by route (image, control, health, openapi, console including the API reference, other), HTTP status (499 for clients that disconnect before the response) and cache tier (memory, disk, shared, miss; none for responses without an image).',
    ['route', 'status', 'tier'],
  ),
  requestDuration: histogram(
    'image_delivery_request_duration_seconds',
    'Time from the request head to the end of the response.',
    ['route', 'tier'],
    requestBuckets,
  ),
  connections: gauge('image_delivery_connections', 'Open client connections.', []),
  connectionLimit: gauge('image_delivery_connection_limit', 'Maximum open client connections.', []),
  connectionsClosed: counter(
    'image_delivery_connections_closed_total',
    'Connections closed at the limit, by state: waiting (idle connections), refused (new connections).',
    ['state'],
  ),
  requestsOpen: gauge('image_delivery_requests_open', 'Requests in progress.', []),
  stageDuration: histogram(
    'image_delivery_stage_duration_seconds',
    'Time of image requests, except repeated hits, by stage: parse, project (look-up), memory, disk and shared (cache reads), coalesce (wait for a request that produces the same image or source), fetch, queue (wait for a transform thread), transform, write (to the disk cache).',
    ['stage'],
    stageBuckets,
  ),
  transformDuration: histogram(
    'image_delivery_transform_duration_seconds',
    'Time of successful transforms on their thread, by output format.',
    ['format'],
    stageBuckets,
  ),
  failures: counter(
    'image_delivery_image_failures_total',
    'Failed image requests, by error code and stage, including the stages admission (the service was overloaded) and request.',
    ['code', 'stage'],
  ),
  projectRequests: counter(
    'image_delivery_project_requests_total',
    'Image requests of the 100 busiest projects, by cache tier (none for errors). All others count as project other.',
    ['project', 'tier'],
  ),
  refusals: counter(
    'image_delivery_refusals_total',
    'Image requests refused as overloaded, by exhausted limit: misses in progress, transform queue, fetches in flight, or held_bytes of sources.',
    ['reason'],
  ),
  followers: counter(
    'image_delivery_single_flight_followers_total',
    'Requests that waited for work in progress, by scope: an image in the same process, an image in another process on the machine, or a source.',
    ['scope'],
  ),
  revalidations: counter(
    'image_delivery_revalidations_total',
    "Source revalidations, by the origin's response: not_modified, same_bytes, changed, gone (404 or 410), failed.",
    ['answer'],
  ),
  misses: gauge('image_delivery_misses', 'Images being produced.', []),
  transforms: gauge('image_delivery_transforms_running', 'Transforms running on a thread.', []),
  transformSlots: gauge('image_delivery_transform_slots', 'Maximum concurrent transforms.', []),
  transformsQueued: gauge(
    'image_delivery_transforms_queued',
    'Transforms waiting for a thread, by priority (live, background).',
    ['priority'],
  ),
  transformQueueLimit: gauge(
    'image_delivery_transform_queue_limit',
    'Maximum live transforms waiting for a thread.',
    [],
  ),
  transformMemory: gauge(
    'image_delivery_transform_memory_bytes',
    'Estimated memory of running heavy transforms.',
    [],
  ),
  transformMemoryLimit: gauge(
    'image_delivery_transform_memory_limit_bytes',
    'Maximum of image_delivery_transform_memory_bytes.',
    [],
  ),
  transformStalled: gauge(
    'image_delivery_transform_stalled_seconds',
    'Longest time in a process in which transforms waited and none finished.',
    [],
    'max',
  ),
  threadsStuck: gauge(
    'image_delivery_transform_threads_stuck',
    'Transform threads in native code that did not stop within a second.',
    [],
  ),
  threadsReplaced: counter(
    'image_delivery_transform_threads_replaced_total',
    'Transform threads and processes that were stopped and replaced.',
    [],
  ),
  fetches: gauge('image_delivery_fetches_running', 'Source fetches in flight.', []),
  fetchSlots: gauge('image_delivery_fetch_slots', 'Maximum source fetches in flight.', []),
  sourceConnections: gauge(
    'image_delivery_source_connections',
    'Open connections to source servers, in use or kept alive.',
    [],
  ),
  heldBytes: gauge(
    'image_delivery_source_held_bytes',
    'Bytes of sources being fetched, queued or transformed.',
    [],
  ),
  heldLimit: gauge(
    'image_delivery_source_held_limit_bytes',
    'Maximum of image_delivery_source_held_bytes.',
    [],
  ),
  cacheBytes: gauge(
    'image_delivery_cache_bytes',
    'Cache size: memory and disk (images), response (to repeated requests, without bodies), source.',
    ['cache'],
  ),
  cacheLimit: gauge('image_delivery_cache_limit_bytes', 'Maximum image cache size.', ['cache']),
  cacheEntries: gauge('image_delivery_cache_entries', 'Cache entries.', ['cache']),
  cacheEvictions: counter(
    'image_delivery_cache_evictions_total',
    'Images removed from a cache to make room.',
    ['cache'],
  ),
  purges: counter(
    'image_delivery_purges_total',
    'Purges that deleted all images from the disk. Purges of a project within seconds count as one.',
    [],
  ),
  purgedImages: counter(
    'image_delivery_purged_images_total',
    'Images deleted from the disk by purges.',
    [],
  ),
  sharedReads: counter(
    'image_delivery_shared_cache_reads_total',
    'Shared cache reads, by result: hit, miss, damaged (not a valid file of this deployment), timeout, error, skipped (the cache fails, too many reads run, or the store has not been reached).',
    ['result'],
  ),
  sharedWrites: counter(
    'image_delivery_shared_cache_writes_total',
    'Shared cache writes, by result: stored, failed, dropped (the queue is full, the cache fails, or the store has not been reached).',
    ['result'],
  ),
  sharedDropped: counter(
    'image_delivery_shared_cache_dropped_bytes_total',
    'Bytes of dropped shared cache writes.',
    [],
  ),
  sharedQueue: gauge(
    'image_delivery_shared_cache_queue_bytes',
    'Bytes in shared cache writes, waiting or running.',
    [],
  ),
  sharedAvailable: gauge(
    'image_delivery_shared_cache_available',
    '1 if every front end uses the shared cache, otherwise 0, by operation (read, write).',
    ['operation'],
    'min',
  ),
  sharedDeletions: counter(
    'image_delivery_shared_cache_deletions_total',
    'Objects that purges deleted from the shared cache (deleted), and purges that could not delete their objects (failed).',
    ['result'],
  ),
  diskFull: gauge(
    'image_delivery_disk_full',
    '1 if the disk has too little space for cached images.',
    [],
  ),
  frontEnds: gauge('image_delivery_front_ends', 'Listening front-end processes.', []),
  frontEndsWanted: gauge('image_delivery_front_ends_wanted', 'Configured front-end processes.', []),
  restarts: counter(
    'image_delivery_front_end_restarts_total',
    'Replaced front-end processes, by reason: died, unresponsive, or stuck transforms.',
    ['reason'],
  ),
  eventLoopDelay: histogram(
    'image_delivery_event_loop_delay_seconds',
    'Longest event-loop delay per second, by process (primary, front_end).',
    ['process'],
    delayBuckets,
  ),
  cpu: counter(
    'image_delivery_process_cpu_seconds_total',
    'CPU time, by process; transform processes excluded.',
    ['process'],
  ),
  residentMemory: gauge(
    'image_delivery_process_resident_memory_bytes',
    'Resident memory, by process; transform processes excluded.',
    ['process'],
  ),
  storeAvailable: gauge(
    'image_delivery_store_available',
    '1 if every front end reaches the store.',
    [],
    'min',
  ),
  storeLatency: histogram(
    'image_delivery_store_latency_seconds',
    'Time of store commands from front ends, by outcome (ok, error).',
    ['command', 'outcome'],
    stageBuckets,
  ),
  workerSeen: gauge(
    'image_delivery_worker_seen',
    '1 if a worker takes jobs from the queue; 0 after 30 seconds without a worker.',
    [],
  ),
  knownProjects: gauge(
    'image_delivery_known_projects',
    'Cached projects, in the front end that has the most.',
    [],
    'max',
  ),
} satisfies Readonly<Record<string, Metric>>;

type Table = typeof serviceMetrics;
export type ServiceMetric = keyof Table;
export type MetricOf<T extends MetricType> = {
  [N in ServiceMetric]: Table[N]['type'] extends T ? N : never;
}[ServiceMetric];
/** The values of a metric's labels, in order. */
export type LabelsOf<N extends ServiceMetric> = Texts<Table[N]['labels']>;
type Texts<L extends readonly string[]> = { [I in keyof L]: string };
