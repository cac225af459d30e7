import { byCacheTier, cacheTiers } from '../../../pool/tiers.ts';
import { prefersCsv } from '../../http/accept.ts';
import type { UsageOfDay } from '../../usage/usage.ts';
import { addUsage, dayMs, noUsage, toDate, type UsageCounts } from '../../usage/usage-totals.ts';
import { Csv, itemResult, operation } from '../operation.ts';
import { queryReader } from '../query.ts';
import { closed, count, date, named, type Schema, type ValueOf } from '../schema.ts';
import { findProject } from '../services.ts';
import { rejectInvalid } from '../validation-messages.ts';

const seconds = { type: 'number', minimum: 0, description: 'Time on transform threads.' } as const;
const counts = {
  requests: { ...count, description: 'Image requests, except prewarming.' },
  hits: {
    ...closed(byCacheTier(() => count)),
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
    ...closed({ requests: count, renders: count, renderSeconds: seconds }),
    description: 'Prewarming, not included in the other counts.',
  },
} as const;

const usageSchema = {
  description: "A project's usage per day, including days without requests.",
  ...closed({
    from: date,
    to: date,
    days: { type: 'array', items: closed({ date, ...counts }) },
    total: closed(counts),
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
  usageBody({ from: exampleDay, to: exampleDay }, [
    {
      date: exampleDay,
      counts: {
        ...noUsage(),
        memory: 9_120,
        disk: 640,
        miss: 230,
        none: 10,
        bytes: 481_213_000,
        renders: 228,
        renderMs: 19_420,
        backgroundRequests: 40,
        backgroundRenders: 40,
        backgroundRenderMs: 3_100,
      },
    },
  ]),
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
