import { ServiceError } from '../../contract/errors.ts';
import { prefersCsv } from '../http/accept.ts';
import { hasTooManyParameters, tooManyParameters } from '../image/address.ts';
import { dateOf } from '../usage/usage-totals.ts';
import { rejectInvalid } from './invalid.ts';
import { singleParameter } from './single-parameter.ts';

export const usageFormats = ['json', 'csv'] as const;
type UsageFormat = (typeof usageFormats)[number];

export interface UsageQuery {
  /** The first and the last date, UTC. */
  readonly from: string;
  readonly to: string;
  readonly format: UsageFormat;
}

const dayMs = 24 * 60 * 60 * 1_000;
const defaultDays = 30;
/** Earlier years have more than four digits. */
const earliest = Date.parse('0000-01-01');
/** Older usage is deleted. */
export const maxUsageDays = 400;

/**
 * The days and the format of a request for usage; without dates the last 30 days.
 *
 * @param now Unix ms
 * @throws ServiceError invalid_request
 */
export function readUsageQuery(query: string, accept: string, now: number): UsageQuery {
  if (hasTooManyParameters(query)) throw new ServiceError('invalid_request', tooManyParameters);
  const parameters = new URLSearchParams(query);
  const errors: string[] = [];
  const read = (name: string) => singleParameter(parameters, name, errors);
  const readDate = (name: string): number | null => {
    const text = read(name);
    if (text === null) return null;
    const at = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
    if (!Number.isNaN(at) && dateOf(at) === text) return at;
    errors.push(`${name} must be a date, such as ${dateOf(now)}`);
    return null;
  };
  const [first, last, format] = [readDate('from'), readDate('to'), read('format')];
  const isFormat = (text: string): text is UsageFormat => usageFormats.some((one) => one === text);
  if (format !== null && !isFormat(format)) errors.push('format must be json or csv');
  const to = last ?? Date.parse(dateOf(now));
  const from = first ?? Math.max(earliest, to - (defaultDays - 1) * dayMs);
  const days = (to - from) / dayMs + 1;
  if (days < 1) errors.push(`from must not be after ${last === null ? 'today, without to' : 'to'}`);
  if (days > maxUsageDays) errors.push(`from and to must not span more than ${maxUsageDays} days`);
  rejectInvalid(errors);
  const named = format !== null && isFormat(format) ? format : null;
  return {
    from: dateOf(from),
    to: dateOf(to),
    format: named ?? (prefersCsv(accept) ? 'csv' : 'json'),
  };
}
