import type { LoadClass } from './plan.ts';
import type { Random } from './random.ts';
import { zipf } from './zipf.ts';

export interface PlannedRequest {
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Generates the requests of a class. */
export function requestsOf(planned: LoadClass, random: Random): () => PlannedRequest {
  const next = numbersOf(planned, random);
  const headers = planned.headers ?? [{}];
  let sent = 0;
  return () => {
    const number = next();
    const url = planned.url.replaceAll('{n}', planned.words?.[number] ?? String(number));
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

function numbersOf({ first, count, zipf: exponent }: LoadClass, random: Random): () => number {
  if (count === undefined || exponent === undefined) {
    let serial = -1;
    return () => {
      serial += 1;
      return first + (count === undefined ? serial : serial % count);
    };
  }
  const draw = zipf(count, exponent, random);
  return () => first + draw();
}
