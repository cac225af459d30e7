import type { Requests } from './plan.ts';
import { type Random, zipf } from './random.ts';

export interface PlannedRequest {
  readonly number: number;
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Generates a class's requests. */
export function createRequests(planned: Requests, random: Random): () => PlannedRequest {
  const { url, first, count, zipf: exponent, headers = {} } = planned;
  const draw = count === undefined || exponent === undefined ? null : zipf(count, exponent, random);
  let sent = 0;
  return () => {
    const number = first + (draw?.() ?? (count === undefined ? sent : sent % count));
    sent += 1;
    return { ...target(url, number), headers };
  };
}

/** The number in a template of URLs; without a URL parser, which would normalise the path. */
export function target(template: string, number: number): Omit<PlannedRequest, 'headers'> {
  const url = template.replaceAll('{n}', String(number));
  const pathStart = url.indexOf('/', url.indexOf('//') + 2);
  return { number, origin: url.slice(0, pathStart), path: url.slice(pathStart) };
}
