import type { Headers } from '../http/responses.ts';
import { queryReader } from './input.ts';
import { projectIdParameter, type QueryParameter } from './schema.ts';
import { rejectInvalid } from './validation-messages.ts';

const maxPageItems = 200;
const defaultPageItems = 100;

/** The parameters of every paged list. */
export const pageParameters = {
  limit: {
    description: `Maximum items per page; ${defaultPageItems} if only \`cursor\` is given.`,
    schema: { type: 'integer', minimum: 1, maximum: maxPageItems },
    example: defaultPageItems,
  },
  cursor: {
    description: "Cursor of the next page, taken from the previous response's `Link` header.",
    schema: { type: 'string' },
    example: projectIdParameter.example,
  },
} as const satisfies Readonly<Record<string, QueryParameter>>;

export interface PageQuery {
  readonly limit: number;
  /** The id or name before the first item, or null for the first page. */
  readonly cursor: string | null;
}

/**
 * Returns the requested page, or null for the whole list.
 * @throws ServiceError invalid_request
 */
export function readPageQuery(query: string): PageQuery | null {
  const errors: string[] = [];
  const read = queryReader(query, errors);
  const [limit, cursor] = [read('limit'), read('cursor')];
  const number = limit === null ? defaultPageItems : Number(limit);
  if (limit !== null && !(/^\d{1,3}$/.test(limit) && number >= 1 && number <= maxPageItems)) {
    errors.push(`limit must be a whole number from 1 to ${maxPageItems}`);
  }
  rejectInvalid(errors);
  return limit === null && cursor === null ? null : { limit: number, cursor };
}

/** A list in a response: complete, or a page. */
export class List {
  /** The items in JSON, excluding the brackets. */
  readonly json: string;
  /** The next page, or null for the last page and for a complete list. */
  readonly next: PageQuery | null;

  constructor(json: string, next: PageQuery | null = null) {
    this.json = json;
    this.next = next;
  }

  /** @param all sorted by key */
  static of<T>(all: readonly T[], getKey: (item: T) => string, page: PageQuery | null): List {
    if (page === null) return new List(itemsJson(all));
    const { cursor, limit } = page;
    const rest = cursor === null ? all : all.filter((item) => getKey(item) > cursor);
    const shown = rest.slice(0, limit);
    const last = rest.length > limit ? shown.at(-1) : undefined;
    return new List(itemsJson(shown), last === undefined ? null : { limit, cursor: getKey(last) });
  }

  /** The link to the next page (RFC 8288), relative to the request URL. */
  get headers(): Headers {
    if (this.next === null) return [];
    const { limit, cursor } = this.next;
    return [['link', `<?limit=${limit}&cursor=${encodeURIComponent(cursor ?? '')}>; rel="next"`]];
  }
}

const itemsJson = (items: readonly unknown[]): string =>
  items.map((item) => JSON.stringify(item)).join();
