import { cacheTiers } from '../../pool/tiers.ts';
import type { UsageOfDay } from '../usage/usage.ts';
import { addUsage, noUsage, type UsageCounts } from '../usage/usage-totals.ts';
import type { Body } from './schemas.ts';
import type { UsageQuery } from './usage-query.ts';

type Usage = Body<'Usage'>;
type Counted = Usage['total'];

/** Milliseconds in seconds, rounded to a millisecond. */
const seconds = (ms: number): number => Math.round(ms) / 1_000;

function counted(counts: UsageCounts): Counted {
  const hits = cacheTiers.map((tier) => [tier, counts[tier]] as const);
  const { none: errors, miss: misses, bytes, renders } = counts;
  return {
    requests: hits.reduce((sum, [, count]) => sum + count, errors + misses),
    hits: Object.fromEntries(hits) as Counted['hits'],
    misses,
    errors,
    bytes,
    renders,
    renderSeconds: seconds(counts.renderMs),
    background: {
      requests: counts.backgroundRequests,
      renders: counts.backgroundRenders,
      renderSeconds: seconds(counts.backgroundRenderMs),
    },
  };
}

export function usageBody({ from, to }: UsageQuery, days: readonly UsageOfDay[]): Usage {
  const total = noUsage();
  for (const { counts } of days) addUsage(total, counts);
  return {
    from,
    to,
    days: days.map(({ date, counts }) => ({ date, ...counted(counts) })),
    total: counted(total),
  };
}

/** A response in CSV (RFC 4180). */
export class Csv {
  readonly text: string;

  /** @param rows the first one is the header; no field needs quotes */
  constructor(rows: readonly (readonly (string | number)[])[]) {
    this.text = rows.map((row) => `${row.join(',')}\r\n`).join('');
  }
}

/** A header and a row for each day. */
export function usageCsv({ days }: Usage): Csv {
  const rows = days.map((day) => fieldsOf(day));
  const header = rows[0]?.map(([name]) => name) ?? [];
  return new Csv([header, ...rows.map((row) => row.map(([, value]) => value))]);
}

/** The fields of an object and of nested objects, with names such as `hits.memory`. */
function fieldsOf(object: object, prefix = ''): (readonly [string, string | number])[] {
  return Object.entries(object).flatMap(([name, value]) =>
    typeof value === 'object'
      ? fieldsOf(value, `${prefix}${name}.`)
      : [[`${prefix}${name}`, value] as const],
  );
}
