import { errorCatalogue } from '../../../contract/errors.ts';
import { byCacheTier, type CacheTier, cacheTiers } from '../../../pool/tiers.ts';
import type { StoredFailure } from '../../../store/activity.ts';
import type { WindowActivity } from '../../usage/activity/activity.ts';
import { percentile } from '../../usage/activity/durations.ts';
import { type ActivitySum, lastFailures, sumOfActivity } from '../../usage/activity/sum.ts';
import { itemResult, listResult, operation } from '../operation.ts';
import { closed, count, named, type ValueOf } from '../schema.ts';
import { findProject } from '../services.ts';

const time = { type: 'string', format: 'date-time' } as const;
const ratio = { type: ['number', 'null'], minimum: 0, maximum: 1 } as const;
const milliseconds = { type: ['integer', 'null'], minimum: 0 } as const;

const requests = { ...count, description: 'Number of requests; a lower bound.' } as const;
const windowSchema = closed({
  from: {
    ...time,
    description:
      'First counted minute, up to 10 minutes before the hour or an hour before the day.',
  },
  requests: { ...count, description: 'Image requests, except prewarming.' },
  hits: {
    ...closed(byCacheTier(() => count)),
    description: 'Requests by the cache that contained the image.',
  },
  misses: { ...count, description: 'Requests that waited for a render.' },
  errors: { ...count, description: 'Requests without an image.' },
  hitRatio: {
    ...closed(byCacheTier(() => ratio)),
    description:
      "Each cache's share of the requests that returned an image; null if there were no requests.",
  },
  missMs: {
    ...closed({ p50: milliseconds, p95: milliseconds }),
    description: 'Time of misses in ms, accurate to 8%; null if there were no requests.',
  },
  unsigned: {
    ...count,
    description: 'Requests without a valid signature, even if the project requires no signatures.',
  },
  bytes: { ...count, description: 'Bytes of delivered images.' },
  originalBytes: {
    ...count,
    description: 'Source bytes of the delivered images with a known source size.',
  },
  bytesSaved: {
    type: 'integer',
    description: '`originalBytes` minus the bytes of the images delivered instead.',
  },
  sources: {
    type: 'array',
    items: closed({ source: { type: 'string' }, requests }),
    description: 'The most requested sources, without secrets.',
  },
  variants: {
    type: 'array',
    items: closed({ variant: { type: 'string' }, requests }),
    description: 'The most requested sets of parameters; empty for an image without any.',
  },
});

type TopWindow = ValueOf<typeof windowSchema>;

function windowBody(
  { start }: Pick<WindowActivity, 'start'>,
  { counts, durations, sources, variants }: ActivitySum,
): TopWindow {
  const { none: errors, miss: misses, unsigned, bytes, originalBytes, comparedBytes } = counts;
  const withImage = cacheTiers.reduce((sum, tier) => sum + counts[tier], misses);
  const toRatio = (tier: CacheTier) =>
    withImage === 0 ? null : Math.round((counts[tier] / withImage) * 10_000) / 10_000;
  return {
    from: new Date(start).toISOString(),
    requests: withImage + errors,
    hits: byCacheTier((tier) => counts[tier]),
    misses,
    errors,
    hitRatio: byCacheTier(toRatio),
    missMs: { p50: percentile(durations, 0.5), p95: percentile(durations, 0.95) },
    unsigned,
    bytes,
    originalBytes: Math.round(originalBytes),
    bytesSaved: Math.round(originalBytes - comparedBytes),
    sources: sources.map(({ name, count }) => ({ source: name, requests: count })),
    variants: variants.map(({ name, count }) => ({ variant: name, requests: count })),
  };
}

/** What `GET …/top` returns. */
export const topBody = ({ hour, day }: Readonly<Record<'hour' | 'day', WindowActivity>>) => ({
  hour: windowBody(hour, sumOfActivity(hour.parts)),
  day: windowBody(day, sumOfActivity(day.parts)),
});

const exampleWindow = windowBody(
  { start: Date.parse('2026-11-20T08:30:00Z') },
  {
    counts: {
      none: 12,
      memory: 900,
      disk: 60,
      shared: 0,
      miss: 28,
      unsigned: 1_000,
      bytes: 41_000_000,
      comparedBytes: 41_000_000,
      originalBytes: 512_000_000,
    },
    durations: new Map([
      [36, 20],
      [42, 8],
    ]),
    sources: [{ name: 'https://shop.example.com/coast.jpg', count: 420 }],
    variants: [{ name: 'fmt=webp&w=800', count: 610 }],
  },
);

const top = named(
  'Top',
  {
    description: 'The requests of a project in the last hour and day.',
    ...closed({ hour: windowSchema, day: windowSchema }),
  },
  { hour: exampleWindow, day: exampleWindow },
);

const failure = named(
  'ImageFailure',
  {
    description: 'Requests that failed in the same way.',
    ...closed({
      at: { ...time, description: 'Time of the last failure.' },
      code: { type: 'string', description: 'The code of the error.' },
      status: { type: 'integer', minimum: 400, maximum: 599 },
      source: {
        type: 'string',
        description: 'Source URL, without secrets; empty if the request does not name a source.',
      },
      url: {
        type: 'string',
        description: 'The path and the parameters of the image, without secrets.',
      },
      count: { ...count, description: 'Number of failed requests; a lower bound.' },
      message: {
        type: 'string',
        description:
          "The last error's message, cut after 200 characters; empty if it could quote a secret.",
      },
      hint: { type: 'string', description: 'The next step.' },
      requestId: {
        type: 'string',
        description: "The last request's `x-request-id`, which its log line and trace contain.",
      },
    }),
  },
  {
    at: '2026-11-20T09:31:32.000Z',
    code: 'source_not_found',
    status: 404,
    source: 'https://shop.example.com/gone.jpg',
    url: '/img/https://shop.example.com/gone.jpg?w=800',
    count: 3,
    message: 'The source was not found: shop.example.com returned 404.',
    hint: errorCatalogue.source_not_found.hint,
    requestId: 'k3f9x2a1b-7d',
  },
);

const failureBody = ({ at, ...rest }: StoredFailure) => ({
  at: new Date(at).toISOString(),
  ...rest,
});

/** What `GET …/failures` returns. */
export const failuresBody = ({ day }: Readonly<Record<'day', WindowActivity>>) =>
  lastFailures(day.parts).map(failureBody);

export const activityOperations = {
  getProjectTop: operation({
    method: 'GET',
    path: '/projects/{projectId}/top',
    summary: 'Read the top requests',
    description:
      'Returns the most requested sources and variants of the last hour and day, hits by cache, bytes saved, the time of misses, and unsigned requests. The counts are at most a minute old.',
    result: itemResult('top', top),
    handle: async ({ path: { projectId } }, services) => {
      await findProject(services, projectId);
      return topBody(await services.usage.windows(projectId));
    },
  }),
  listProjectFailures: operation({
    method: 'GET',
    path: '/projects/{projectId}/failures',
    summary: 'List the last failures',
    description:
      'Lists the last 100 failed image requests of the day, newest first, with equal failures combined. The list is at most a minute old.',
    result: listResult('failures', failure),
    handle: async ({ path: { projectId } }, services) => {
      await findProject(services, projectId);
      return failuresBody(await services.usage.windows(projectId));
    },
  }),
};
