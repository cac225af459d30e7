import type { HttpRequest } from '../../server/http/request.ts';
import type { HttpResponse } from '../../server/http/responses.ts';

/**
 * Returns a handler's response to a request with only a method and a path, or undefined if there is
 * no response.
 */
export async function respond(
  handle: (request: HttpRequest) => void | Promise<void>,
  method: string,
  path: string,
): Promise<HttpResponse | undefined> {
  let response: HttpResponse | undefined;
  const request = {
    route: 'other',
    tier: 'none',
    shownUrl: '',
    trace: null,
    errorHeaders: null,
    host: '',
    id: 'x',
    method,
    path,
    query: '',
    signal: new AbortController().signal,
    header: () => '',
    accept: '',
    headerList: () => '',
    isWellFormed: () => true,
    peerAddress: '',
    readBody: async () => null,
    respond: (given: HttpResponse) => {
      response = given;
    },
    drop: () => {},
  };
  await handle(request as unknown as HttpRequest);
  return response;
}
