import { errorCatalogue } from '../../../contract/errors.ts';
import { byCacheTier, type CacheTier, cacheTiers } from '../../../pool/tiers.ts';
import type { WindowActivity } from '../../usage/activity/activity.ts';
import { percentile } from '../../usage/activity/durations.ts';
import type { Failure } from '../../usage/activity/recent-failures.ts';
import { type ActivitySum, lastFailures, sumOfActivity } from '../../usage/activity/sum.ts';
import { itemResult, listResult, operation } from '../operation.ts';
import { closed, count, named, type ValueOf } from '../schema.ts';
import { findProject } from '../services.ts';

const time = { type: 'string', format: 'date-time' } as const;
const ratio = { type: ['number', 'null'], minimum: 0, maximum: 1 } as const;
const milliseconds = { type: ['integer', 'null'], minimum: 0 } as const;

const requests = { ...count, description: 'At least as many.' } as const;
const windowSchema = closed({
  from: { ...time, description: 'The first counted minute, up to 10 minutes or an hour earlier.' },
  requests: { ...count, description: 'Image requests, without those of prewarming.' },
  hits: {
    ...closed(byCacheTier(() => count)),
    description: 'Requests by the cache that had the image.',
  },
  misses: { ...count, description: 'Requests that waited for a render.' },
  errors: { ...count, description: 'Requests without an image.' },
  hitRatio: {
    ...closed(byCacheTier(() => ratio)),
    description: 'Hits of each cache among the requests with an image; null without any.',
  },
  missMs: {
    ...closed({ p50: milliseconds, p95: milliseconds }),
    description: 'Time of misses, in ms, within 8%; null without any.',
  },
  unsigned: { ...count, description: 'Requests without a valid signature, required or not.' },
  bytes: { ...count, description: 'Bytes of the bodies with images.' },
  originalBytes: {
    ...count,
    description: 'Bytes that the originals would have had, of images whose originals are known.',
  },
  bytesSaved: {
    type: 'integer',
    description: '`originalBytes` without the bytes of the images that replaced them.',
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
    sources: sources.map(([source, requests]) => ({ source, requests })),
    variants: variants.map(([variant, requests]) => ({ variant, requests })),
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
    sources: [['https://shop.example.com/coast.jpg', 420]],
    variants: [['fmt=webp&w=800', 610]],
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
      at: { ...time, description: 'When the last one failed.' },
      code: { type: 'string', description: 'The code of the error.' },
      status: { type: 'integer', minimum: 400, maximum: 599 },
      source: {
        type: 'string',
        description: 'Without secrets; empty if the URL does not name a source.',
      },
      url: {
        type: 'string',
        description: 'The path and the parameters of the image, without secrets.',
      },
      count: { ...count, description: 'Number of failed requests, at least.' },
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

const failureBody = ({ at, ...rest }: Failure) => ({ at: new Date(at).toISOString(), ...rest });

/** What `GET …/failures` returns. */
export const failuresBody = ({ day }: Readonly<Record<'day', WindowActivity>>) =>
  lastFailures(day.parts).map(failureBody);

export const activityOperations = {
  getProjectTop: operation({
    method: 'GET',
    path: '/projects/{projectId}/top',
    summary: 'Read the top requests',
    description:
      'The most requested sources and variants of the last hour and day, hits by cache, bytes saved, the time of misses and unsigned requests. At most a minute behind.',
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
      'The last 100 image requests of the day that failed, equal ones together, the latest first. It is at most a minute behind.',
    result: listResult('failures', failure),
    handle: async ({ path: { projectId } }, services) => {
      await findProject(services, projectId);
      return failuresBody(await services.usage.windows(projectId));
    },
  }),
};
