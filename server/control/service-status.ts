import { version } from '../../contract/package.ts';
import { itemResult, operation } from './operation.ts';
import { named, strictObject } from './schema.ts';

const count = { type: 'integer', minimum: 0 } as const;
const countOrNull = { type: ['integer', 'null'], minimum: 0 } as const;
const bytes = { ...count, description: 'Bytes.' } as const;
const milliseconds = { ...count, description: 'Milliseconds.' } as const;
const boolean = { type: 'boolean' } as const;
const words = <const W extends readonly string[]>(...values: W) =>
  ({ type: 'string', enum: values }) as const;
const object = <const P extends object>(properties: P) => ({ type: 'object', properties }) as const;

/** The body of `getHealth`; more fields can follow. */
export const healthSchema = {
  description: 'Monitors rely on `ok`, `status`, `checks.database.ok` and the HTTP status.',
  required: ['ok'],
  ...object({
    ok: boolean,
    service: { type: 'string' },
    status: words('ok', 'degraded', 'unavailable', 'draining'),
    reason: { type: 'string', description: 'Reason for a status other than `ok`.' },
    timestamp: { type: 'string', format: 'date-time' },
    uptimeSeconds: count,
    store: words('available', 'unavailable'),
    checks: object({
      cache: object({
        diskSizeBytes: bytes,
        diskMaxBytes: bytes,
        memorySizeBytes: bytes,
        memoryMaxBytes: bytes,
        status: words('ok', 'disk_full'),
      }),
      database: object({
        ok: boolean,
        latencyMs: { ...milliseconds, description: 'Duration of the last check, in milliseconds.' },
      }),
      projects: object({
        known: { ...count, description: 'Projects served without the store.' },
        ageSeconds: { ...countOrNull, description: 'Time since the store last confirmed them.' },
        status: {
          ...words('ok', 'slow', 'unavailable'),
          description:
            '`slow`: the store is so slow that image requests wait until their project is confirmed. `unavailable`: projects are served as last confirmed.',
        },
      }),
      prewarmQueue: {
        description:
          'While the store is unavailable: the last known values of the process that responds, 0 if it never read any.',
        ...object({
          active: count,
          waiting: count,
          delayed: count,
          queued: count,
          failed: count,
          workerSeenAt: {
            type: ['string', 'null'],
            format: 'date-time',
            description:
              "When a worker last took jobs, by the store's clock; null if no worker ever has. Workers update it every 5 seconds.",
          },
          status: {
            ...words('ok', 'no_worker', 'backlogged', 'unknown'),
            description:
              '`no_worker`: no worker has been seen for 30 seconds, so prewarming and webhooks wait. `backlogged`: a due job has waited for more than a minute. `unknown`: the store is unavailable.',
          },
        }),
      },
      transformQueue: object({
        active: count,
        queued: count,
        concurrency: count,
        maxQueue: count,
        rejected: count,
        stuck: { ...count, description: 'Terminated threads that are still running.' },
        status: words('ok', 'busy', 'saturated'),
      }),
      sources: {
        description: 'Source fetches, and sources in memory.',
        ...object({
          fetching: count,
          concurrency: count,
          rejected: count,
          heldBytes: bytes,
          heldMaxBytes: bytes,
          heldRejected: count,
          formats: {
            type: 'array',
            items: { type: 'string' },
            description: 'Source formats supported by this installation.',
          },
        }),
      },
    }),
    latencyMs: milliseconds,
  }),
} as const;

/** The body of `getLiveness`. */
export const livenessSchema = {
  required: ['ok', 'status'],
  ...object({ ok: boolean, status: words('ok') }),
} as const;

/** The body of `getReadiness`. */
export const readinessSchema = {
  required: ['ready', 'status'],
  ...object({ ready: boolean, status: words('ready', 'starting', 'draining') }),
} as const;

const text = { type: 'string' } as const;

const serviceVersion = named(
  'ServiceVersion',
  {
    description: 'Version details to include in a bug report.',
    ...strictObject({
      service: { ...text, description: 'Version of the service, not of this interface.' },
      node: { ...text, description: 'Node.js version.' },
      platform: { ...text, description: 'Operating system and architecture.' },
    }),
  },
  { service: '0.1.0', node: 'v22.22.0', platform: 'linux-x64' },
);

export const versionOperations = {
  getServiceVersion: operation({
    method: 'GET',
    path: '/version',
    summary: 'Read the service version',
    description: 'Requires a key, because no other response reveals the version.',
    result: itemResult('version', serviceVersion),
    handle: async () => ({
      service: version,
      node: process.version,
      platform: `${process.platform}-${process.arch}`,
    }),
  }),
};
