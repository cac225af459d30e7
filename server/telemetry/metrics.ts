type MetricType = 'counter' | 'gauge' | 'histogram';

/** One metric, by Prometheus' conventions: base units, and counters end with `_total`. */
export interface Metric {
  readonly name: string;
  readonly type: MetricType;
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds of a histogram's buckets, without the infinite one. */
  readonly buckets?: readonly number[];
  /** How the gauges of the front ends become the machine's. */
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

/** From a hit of the memory to the longest timeouts, seconds. */
const requestBuckets = [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40];
const stageBuckets = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20,
];
const delayBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/**
 * The metrics of the service, summed over the processes of a machine. Code, documentation and tests
 * derive from this table; a label's values are few, and none comes from a request as it is.
 */
export const serviceMetrics = {
  info: gauge(
    'image_delivery_info',
    'Always 1; the versions of the service and of Node.js, and the HTTP engine that the front ends took (uws, node).',
    ['version', 'node', 'http_engine'],
    'max',
  ),
  requests: counter(
    'image_delivery_requests_total',
    'Requests, by route (image, control, health, openapi, console with the API reference, other), HTTP status and the cache tier of the image (memory, disk, shared, miss; none for other responses). 499: the client disconnected before the response.',
    ['route', 'status', 'tier'],
  ),
  requestDuration: histogram(
    'image_delivery_request_duration_seconds',
    'Time from the head of a request to the end of its response.',
    ['route', 'tier'],
    requestBuckets,
  ),
  connections: gauge('image_delivery_connections', 'Open connections of clients.', []),
  connectionLimit: gauge(
    'image_delivery_connection_limit',
    'Connections of clients that may be open: the limit of descriptors, less those for sources, files and the store.',
    [],
  ),
  connectionsClosed: counter(
    'image_delivery_connections_closed_total',
    'Connections that were closed because too many are open, by state: waiting (for a request or for the client to read, longest, of the clients with the most), refused (new).',
    ['state'],
  ),
  requestsOpen: gauge('image_delivery_requests_open', 'Requests in progress.', []),
  stageDuration: histogram(
    'image_delivery_stage_duration_seconds',
    'Time in each stage of image requests that are not repeated hits: parse, project (look-up), memory, disk, shared (reading the caches), coalesce (wait for the same image or source that another request produces), fetch, queue (wait for a transform thread), transform, write (to the disk cache).',
    ['stage'],
    stageBuckets,
  ),
  transformDuration: histogram(
    'image_delivery_transform_duration_seconds',
    'Time of transforms on their thread, by the format of the output; none when a transform failed.',
    ['format'],
    stageBuckets,
  ),
  failures: counter(
    'image_delivery_image_failures_total',
    'Image requests that failed, by the code of the error and the stage that failed: one of those above, admission when the service was overloaded, else request.',
    ['code', 'stage'],
  ),
  projectRequests: counter(
    'image_delivery_project_requests_total',
    'Image requests of the 100 busiest projects, by cache tier (none for errors); all others are project other.',
    ['project', 'tier'],
  ),
  refusals: counter(
    'image_delivery_refusals_total',
    'Image requests refused as overloaded, by the exhausted limit: misses in progress, the transform queue, fetches in flight, or held_bytes of sources.',
    ['reason'],
  ),
  followers: counter(
    'image_delivery_single_flight_followers_total',
    'Requests that waited for work in progress instead of repeating it: for an image of the same process, an image of another process of the machine, or a source.',
    ['scope'],
  ),
  revalidations: counter(
    'image_delivery_revalidations_total',
    'Questions to origins whether a source has changed, by the answer: not_modified, same_bytes, changed, gone (404 or 410), failed.',
    ['answer'],
  ),
  misses: gauge('image_delivery_misses', 'Images that are being produced.', []),
  transforms: gauge('image_delivery_transforms_running', 'Transforms on a thread.', []),
  transformSlots: gauge('image_delivery_transform_slots', 'Transforms that may run.', []),
  transformsQueued: gauge(
    'image_delivery_transforms_queued',
    'Transforms that wait for a thread, by priority (live, background).',
    ['priority'],
  ),
  transformQueueLimit: gauge(
    'image_delivery_transform_queue_limit',
    'Live transforms that may wait for a thread.',
    [],
  ),
  transformMemory: gauge(
    'image_delivery_transform_memory_bytes',
    'Estimated memory of the transforms that run and are not light.',
    [],
  ),
  transformMemoryLimit: gauge(
    'image_delivery_transform_memory_limit_bytes',
    'Limit of the estimated memory of transforms.',
    [],
  ),
  transformStalled: gauge(
    'image_delivery_transform_stalled_seconds',
    'How long transforms have waited without any finishing; the longest of the processes.',
    [],
    'max',
  ),
  threadsStuck: gauge(
    'image_delivery_transform_threads_stuck',
    'Transform threads that are still in native code a second after they were ended.',
    [],
  ),
  threadsReplaced: counter(
    'image_delivery_transform_threads_replaced_total',
    'Transform threads and processes that were ended and replaced.',
    [],
  ),
  fetches: gauge('image_delivery_fetches_running', 'Source fetches in flight.', []),
  fetchSlots: gauge('image_delivery_fetch_slots', 'Source fetches that may be in flight.', []),
  sourceConnections: gauge(
    'image_delivery_source_connections',
    'Open connections to sources, in use or kept.',
    [],
  ),
  heldBytes: gauge(
    'image_delivery_source_held_bytes',
    'Bytes of sources that are being fetched, wait or are transformed.',
    [],
  ),
  heldLimit: gauge('image_delivery_source_held_limit_bytes', 'Limit of the held bytes.', []),
  cacheBytes: gauge(
    'image_delivery_cache_bytes',
    'Size of the caches: memory and disk (images), response (answers to repeated requests, without bodies), source.',
    ['cache'],
  ),
  cacheLimit: gauge('image_delivery_cache_limit_bytes', 'Maximum size of the caches of images.', [
    'cache',
  ]),
  cacheEntries: gauge('image_delivery_cache_entries', 'Entries of the caches.', ['cache']),
  cacheEvictions: counter(
    'image_delivery_cache_evictions_total',
    'Images that were removed from a cache to make room.',
    ['cache'],
  ),
  purges: counter(
    'image_delivery_purges_total',
    'Purges whose images have been deleted from the disk. Purges of one project within seconds count as one.',
    [],
  ),
  purgedImages: counter(
    'image_delivery_purged_images_total',
    'Images that purges have deleted from the disk.',
    [],
  ),
  sharedReads: counter(
    'image_delivery_shared_cache_reads_total',
    'Reads of the shared cache, by result: hit, miss, damaged (an object that is no valid file of this deployment), timeout, error, skipped (while the cache fails, too many are read, or the store has not been reached). The metrics of the shared cache are absent without one.',
    ['result'],
  ),
  sharedWrites: counter(
    'image_delivery_shared_cache_writes_total',
    'Writes to the shared cache, by result: stored, failed, dropped (the queue was full, the cache fails, or the store has not been reached).',
    ['result'],
  ),
  sharedDropped: counter(
    'image_delivery_shared_cache_dropped_bytes_total',
    'Bytes of the dropped writes.',
    [],
  ),
  sharedQueue: gauge(
    'image_delivery_shared_cache_queue_bytes',
    'Bytes that wait to be written to the shared cache, or are being written.',
    [],
  ),
  sharedAvailable: gauge(
    'image_delivery_shared_cache_available',
    '1 while every front end uses the shared cache, by operation (read, write); 0 while it fails.',
    ['operation'],
    'min',
  ),
  sharedDeletions: counter(
    'image_delivery_shared_cache_deletions_total',
    'Objects that purges have deleted from the shared cache (deleted), and purges whose objects could not be deleted (failed).',
    ['result'],
  ),
  diskFull: gauge(
    'image_delivery_disk_full',
    '1 while the disk has too little space to keep images on it.',
    [],
  ),
  frontEnds: gauge('image_delivery_front_ends', 'Front-end processes that listen.', []),
  frontEndsWanted: gauge('image_delivery_front_ends_wanted', 'Configured front-end processes.', []),
  restarts: counter(
    'image_delivery_front_end_restarts_total',
    'Front-end processes that were replaced because they died, were unresponsive, or had stuck transforms.',
    ['reason'],
  ),
  eventLoopDelay: histogram(
    'image_delivery_event_loop_delay_seconds',
    'The longest delay of the event loop in each second, by kind of process (primary, front_end).',
    ['process'],
    delayBuckets,
  ),
  cpu: counter(
    'image_delivery_process_cpu_seconds_total',
    'CPU time of the processes with their threads, by kind; without that of transform processes.',
    ['process'],
  ),
  residentMemory: gauge(
    'image_delivery_process_resident_memory_bytes',
    'Resident memory of the processes, by kind; without that of transform processes.',
    ['process'],
  ),
  storeAvailable: gauge(
    'image_delivery_store_available',
    '1 while every front end reaches the store.',
    [],
    'min',
  ),
  storeLatency: histogram(
    'image_delivery_store_latency_seconds',
    'Time of the commands that the front ends sent to the store, in whole ms, by outcome (ok, error).',
    ['command', 'outcome'],
    stageBuckets,
  ),
  workerSeen: gauge(
    'image_delivery_worker_seen',
    '1 while a worker takes jobs from the queue; 0 when none has been seen for 30 seconds.',
    [],
  ),
  knownProjects: gauge(
    'image_delivery_known_projects',
    'Known projects of the front end with the most.',
    [],
    'max',
  ),
} satisfies Readonly<Record<string, Metric>>;

type Table = typeof serviceMetrics;
export type ServiceMetric = keyof Table;
export type MetricOf<T extends MetricType> = {
  [N in ServiceMetric]: Table[N]['type'] extends T ? N : never;
}[ServiceMetric];
/** One value for each of a metric's labels, in their order. */
export type LabelsOf<N extends ServiceMetric> = Texts<Table[N]['labels']>;
type Texts<L extends readonly string[]> = { [I in keyof L]: string };
