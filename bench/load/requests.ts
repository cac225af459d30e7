import type { LoadClass } from './plan.ts';
import { type Random, zipf } from './random.ts';

export interface PlannedRequest {
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Generates the requests of a class. */
export function requestsOf(planned: LoadClass, random: Random): () => PlannedRequest {
  const { first, count, zipf: exponent, words, headers = [{}] } = planned;
  const draw = count === undefined || exponent === undefined ? null : zipf(count, exponent, random);
  let sent = 0;
  return () => {
    const number = first + (draw?.() ?? (count === undefined ? sent : sent % count));
    const url = planned.url.replaceAll('{n}', words?.[number] ?? String(number));
    // Without a URL parser, which would normalise the path.
    const pathStart = url.indexOf('/', url.indexOf('//') + 2);
    const request = {
      origin: url.slice(0, pathStart),
      path: url.slice(pathStart),
      headers: headers[sent % headers.length] ?? {},
    };
    sent += 1;
    return request;
  };
}
