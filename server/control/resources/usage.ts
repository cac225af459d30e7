import { errorCatalogue } from '../../../contract/errors.ts';
import { byCacheTier, type CacheTier, cacheTiers } from '../../../pool/tiers.ts';
import type { StoredFailure } from '../../../store/activity.ts';
import { prefersCsv } from '../../http/accept.ts';
import type { WindowActivity } from '../../usage/activity/activity.ts';
import {
  type ActivitySum,
  lastFailures,
  percentile,
  sumOfActivity,
} from '../../usage/activity/slice.ts';
import type { UsageOfDay } from '../../usage/usage.ts';
import { addUsage, dayMs, noUsage, toDate, type UsageCounts } from '../../usage/usage-totals.ts';
import { queryReader } from '../input.ts';
import { Csv, itemResult, listResult, operation } from '../operation.ts';
import { count, date, named, type Schema, strictObject, type ValueOf } from '../schema.ts';
import { findProject } from '../services.ts';
import { rejectInvalid } from '../validation-messages.ts';

const seconds = { type: 'number', minimum: 0, description: 'Time on transform threads.' } as const;
const counts = {
  requests: {
    ...count,
    description: "Image requests, not counting prewarming and the console's requests.",
  },
  hits: {
    ...strictObject(byCacheTier(() => count)),
    description: 'Requests by the cache that contained the image.',
  },
  misses: { ...count, description: 'Requests that waited for a render.' },
  errors: {
    ...count,
    description: 'Requests that returned no image, including client disconnects.',
  },
  bytes: { ...count, description: 'Bytes of image bodies.' },
  renders: { ...count, description: 'Transforms, including failed transforms.' },
  renderSeconds: seconds,
  background: {
    ...strictObject({ requests: count, bytes: count, renders: count, renderSeconds: seconds }),
    description:
      "Prewarming and the console's requests, not included in the other counts. Limits include them.",
  },
} as const;

const usageSchema = {
  description: "A project's usage per day, including days without requests.",
  ...strictObject({
    from: date,
    to: date,
    days: { type: 'array', items: strictObject({ date, ...counts }) },
    total: strictObject(counts),
  }),
} as const satisfies Schema;

type Usage = ValueOf<typeof usageSchema>;
type Counted = Usage['total'];

/** The first and the last date, UTC. */
interface Days {
  readonly from: string;
  readonly to: string;
}

interface UsageQuery extends Days {
  readonly isCsv: boolean;
}

const defaultDays = 30;
/** Earlier years have more than four digits. */
const earliest = Date.parse('0000-01-01');
/** Older usage is deleted. */
const maxUsageDays = 400;

const exampleDay = '2026-11-20';

const usage = named(
  'Usage',
  usageSchema,
  usageBody({ from: exampleDay, to: exampleDay }, [{ date: exampleDay, counts: noUsage() }]),
);

const day = { type: 'string', format: 'date' } as const;

export const usageOperations = {
  getProjectUsage: operation({
    method: 'GET',
    path: '/projects/{projectId}/usage',
    summary: 'Read the usage per day',
    description:
      'Returns requests, bytes and renders per day (UTC), by default for the last 30 days. The counts are at most a minute old. `format=csv` or `Accept: text/csv` returns CSV.',
    query: {
      from: {
        description: 'First day (UTC). Default: 29 days before the last day.',
        schema: day,
        example: exampleDay,
      },
      to: {
        description: `Last day (UTC). Default: today. At most ${maxUsageDays} days in total.`,
        schema: day,
        example: exampleDay,
      },
      format: {
        description: 'Overrides the Accept header.',
        schema: { type: 'string', enum: ['json', 'csv'] },
        example: 'json',
      },
    },
    result: itemResult('usage', usage),
    csv: usageCsv(usage.example),
    handle: async ({ path: { projectId }, query, accept }, services) => {
      const { from, to, isCsv } = readUsageQuery(query, accept);
      await findProject(services, projectId);
      const body = usageBody({ from, to }, await services.usage.days(projectId, from, to));
      return isCsv ? usageCsv(body) : body;
    },
  }),
};

/**
 * Returns the requested days and format, by default the last 30 days.
 *
 * @throws ServiceError invalid_request
 */
function readUsageQuery(query: string, accept: string): UsageQuery {
  const today = toDate(Date.now());
  const errors: string[] = [];
  const read = queryReader(query, errors);
  const readDate = (name: string): number | null => {
    const text = read(name);
    if (text === null) return null;
    const at = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
    if (!Number.isNaN(at) && toDate(at) === text) return at;
    errors.push(`${name} must be a date, such as ${today}`);
    return null;
  };
  const [first, last, format] = [readDate('from'), readDate('to'), read('format')];
  if (![null, 'json', 'csv'].includes(format)) errors.push('format must be json or csv');
  const to = last ?? Date.parse(today);
  const from = first ?? Math.max(earliest, to - (defaultDays - 1) * dayMs);
  const days = (to - from) / dayMs + 1;
  if (days < 1) errors.push(`from must not be after ${last === null ? 'today, without to' : 'to'}`);
  if (days > maxUsageDays) errors.push(`from and to must not span more than ${maxUsageDays} days`);
  rejectInvalid(errors);
  const isCsv = format === null ? prefersCsv(accept) : format === 'csv';
  return { from: toDate(from), to: toDate(to), isCsv };
}

/** Converts milliseconds to seconds, rounded to a millisecond. */
function inSeconds(ms: number): number {
  return Math.round(ms) / 1_000;
}

function counted(counts: UsageCounts): Counted {
  const { none: errors, miss: misses, bytes, renders } = counts;
  return {
    requests: cacheTiers.reduce((sum, tier) => sum + counts[tier], errors + misses),
    hits: byCacheTier((tier) => counts[tier]),
    misses,
    errors,
    bytes,
    renders,
    renderSeconds: inSeconds(counts.renderMs),
    background: {
      requests: counts.backgroundRequests,
      bytes: counts.backgroundBytes,
      renders: counts.backgroundRenders,
      renderSeconds: inSeconds(counts.backgroundRenderMs),
    },
  };
}

function usageBody({ from, to }: Days, days: readonly UsageOfDay[]): Usage {
  const total = noUsage();
  for (const { counts } of days) addUsage(total, counts);
  return {
    from,
    to,
    days: days.map(({ date, counts }) => ({ date, ...counted(counts) })),
    total: counted(total),
  };
}

/** Returns a header and one row per day. */
function usageCsv({ days }: Usage): Csv {
  const rows = days.map((day) => flattenFields(day));
  const header = rows[0]?.map(([name]) => name) ?? [];
  return new Csv([header, ...rows.map((row) => row.map(([, value]) => value))]);
}

/** Returns the fields of nested objects, with names such as `hits.memory`. */
function flattenFields(object: object, prefix = ''): (readonly [string, string | number])[] {
  return Object.entries(object).flatMap(([name, value]) =>
    typeof value === 'object'
      ? flattenFields(value, `${prefix}${name}.`)
      : [[`${prefix}${name}`, value] as const],
  );
}

const time = { type: 'string', format: 'date-time' } as const;
const ratio = { type: ['number', 'null'], minimum: 0, maximum: 1 } as const;
const milliseconds = { type: ['integer', 'null'], minimum: 0 } as const;

const requests = { ...count, description: 'Number of requests; a lower bound.' } as const;
const windowSchema = strictObject({
  from: {
    ...time,
    description:
      'First counted minute, up to 10 minutes before the hour or an hour before the day.',
  },
  requests: {
    ...count,
    description: "Image requests, not counting prewarming and the console's requests.",
  },
  hits: {
    ...strictObject(byCacheTier(() => count)),
    description: 'Requests by the cache that contained the image.',
  },
  misses: { ...count, description: 'Requests that waited for a render.' },
  errors: { ...count, description: 'Requests without an image.' },
  hitRatio: {
    ...strictObject(byCacheTier(() => ratio)),
    description:
      "Each cache's share of the requests that returned an image; null if there were no requests.",
  },
  missMs: {
    ...strictObject({ p50: milliseconds, p95: milliseconds }),
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
    items: strictObject({ source: { type: 'string' }, requests }),
    description: 'The most requested sources, without secrets.',
  },
  variants: {
    type: 'array',
    items: strictObject({ variant: { type: 'string' }, requests }),
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
const topBody = ({ hour, day }: Readonly<Record<'hour' | 'day', WindowActivity>>) => ({
  hour: windowBody(hour, sumOfActivity(hour.parts)),
  day: windowBody(day, sumOfActivity(day.parts)),
});

const exampleWindow = windowBody({ start: Date.parse('2026-11-20T08:30:00Z') }, sumOfActivity([]));

const top = named(
  'Top',
  {
    description: 'The requests of a project in the last hour and day.',
    ...strictObject({ hour: windowSchema, day: windowSchema }),
  },
  { hour: exampleWindow, day: exampleWindow },
);

const failure = named(
  'ImageFailure',
  {
    description: 'Requests that failed in the same way.',
    ...strictObject({
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
        description: "The last error's message, without secrets, cut after 200 characters.",
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
      'Lists the last 100 failed image requests of the day, newest first, with equal failures, or URLs with the same wrong parameter, combined. The list is at most a minute old.',
    result: listResult('failures', failure),
    handle: async ({ path: { projectId } }, services) => {
      await findProject(services, projectId);
      return failuresBody(await services.usage.windows(projectId));
    },
  }),
};
