const count = { type: 'integer', minimum: 0 } as const;
const countOrNull = { ...count, type: ['integer', 'null'] } as const;
const bytes = { ...count, description: 'Bytes.' } as const;
const milliseconds = { ...count, description: 'Milliseconds.' } as const;

/** The body of `GET /api/health` (spec part 4.1); fields may be added. */
export const healthSchema = {
  type: 'object',
  description: 'Monitors rely on `ok`, `status`, `checks.database.ok` and the HTTP status.',
  properties: {
    ok: { type: 'boolean' },
    service: { type: 'string' },
    status: { type: 'string', enum: ['ok', 'degraded', 'unavailable', 'draining'] },
    reason: { type: 'string', description: 'Why the status is not `ok`.' },
    timestamp: { type: 'string', format: 'date-time' },
    uptimeSeconds: count,
    store: { type: 'string', enum: ['available', 'unavailable'] },
    checks: {
      type: 'object',
      properties: {
        cache: {
          type: 'object',
          properties: {
            diskSizeBytes: bytes,
            diskMaxBytes: bytes,
            memorySizeBytes: bytes,
            memoryMaxBytes: bytes,
            status: { type: 'string', enum: ['ok', 'disk_full'] },
          },
        },
        database: {
          type: 'object',
          properties: { ok: { type: 'boolean' }, latencyMs: milliseconds },
        },
        projects: {
          type: 'object',
          properties: {
            known: { ...count, description: 'Projects that are served without the store.' },
            ageSeconds: {
              type: ['integer', 'null'],
              minimum: 0,
              description: 'Since the store confirmed them; null when it has not.',
            },
          },
        },
        prewarmQueue: {
          type: 'object',
          description: 'The numbers are null while the store does not tell them.',
          properties: {
            active: countOrNull,
            waiting: countOrNull,
            delayed: countOrNull,
            queued: countOrNull,
            failed: countOrNull,
            status: { type: 'string', enum: ['ok', 'backlogged', 'unknown'] },
          },
        },
        transformQueue: {
          type: 'object',
          properties: {
            active: count,
            queued: count,
            concurrency: count,
            maxQueue: count,
            rejected: count,
            stuck: { ...count, description: 'Threads that were told to end and have not.' },
            status: { type: 'string', enum: ['ok', 'busy', 'saturated'] },
          },
        },
        sources: {
          type: 'object',
          description: 'Fetches of sources, and the sources that are in memory.',
          properties: {
            fetching: count,
            concurrency: count,
            rejected: count,
            heldBytes: bytes,
            heldMaxBytes: bytes,
            heldRejected: count,
            formats: {
              type: 'array',
              items: { type: 'string' },
              description: 'The formats that sources may have in this installation.',
            },
          },
        },
      },
    },
    latencyMs: milliseconds,
  },
  required: ['ok'],
} as const;
