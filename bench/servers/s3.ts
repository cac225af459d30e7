import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** Credentials as environment variables. */
export const variables = {
  AWS_ACCESS_KEY_ID: 'AKIDTEST',
  AWS_SECRET_ACCESS_KEY: 'test/secret+key',
} as const;

interface StoredObject {
  body: Buffer;
  /** Unix ms. */
  modifiedAt: number;
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

export interface S3Server {
  /** `s3://bucket/pre fix` on this server. */
  readonly url: string;
  /** By key, with the prefix of `url`. */
  readonly objects: Map<string, StoredObject>;
  /** Methods and targets of the requests so far. */
  readonly requests: string[];
  /** Handles requests instead of the server; null by default. */
  handler: Handler | null;
  /** Keys in one page of a list. */
  pageSize: number;
  readonly port: number;
  close(): Promise<void>;
}

/** Never responds. */
export const silent: Handler = () => {};
export const refusing: Handler = (_, response) => fail(response, 503, 'SlowDown');

/**
 * Starts a server on 127.0.0.1 with the S3 operations that the service uses. No maintained S3 test
 * server supports Node 20.
 * @param isAllowed returns whether a request is signed correctly; the server refuses other
 *   requests
 */
export async function startS3(
  isAllowed: (request: IncomingMessage, body: Buffer) => boolean = () => true,
): Promise<S3Server> {
  const objects = new Map<string, StoredObject>();
  const requests: string[] = [];
  const http = createServer(async (request, response) => {
    requests.push(`${request.method} ${request.url}`);
    if (server.handler !== null) return server.handler(request, response);
    const body = await buffer(request);
    if (!isAllowed(request, body)) return fail(response, 403, 'SignatureDoesNotMatch');
    respond(server, request, response, body);
  });
  await new Promise<void>((done) => http.listen(0, '127.0.0.1', done));
  const { port } = http.address() as AddressInfo;
  const url = `s3://bucket/pre%20fix?endpoint=http://127.0.0.1:${port}&region=eu-test-1`;
  const close = async () => {
    http.close();
    http.closeAllConnections();
  };
  const server: S3Server = {
    url,
    port,
    objects,
    requests,
    handler: null,
    pageSize: 1_000,
    close,
  };
  return server;
}

function respond(
  { objects, pageSize }: S3Server,
  { method, url = '' }: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
): void {
  // Not as a URL, which resolves the segments `.` and `..`, unlike S3.
  const [pathname = '', query = ''] = url.split('?');
  const searchParams = new URLSearchParams(query);
  const key = decodeURIComponent(pathname).slice('/bucket/'.length);
  if (!pathname.startsWith('/bucket/')) return fail(response, 404, 'NoSuchBucket');
  if (searchParams.has('list-type')) {
    const prefix = searchParams.get('prefix') ?? '';
    const after = searchParams.get('continuation-token') ?? '';
    const keys = [...objects.keys()]
      .filter((objectKey) => objectKey.startsWith(prefix) && objectKey > after)
      .sort();
    const page = keys.slice(0, pageSize);
    const next = page.length < keys.length ? page.at(-1) : undefined;
    const contents = page.map((objectKey) => {
      const modified = new Date(objects.get(objectKey)?.modifiedAt ?? 0).toISOString();
      return `<Contents><Key>${objectKey}</Key><LastModified>${modified}</LastModified></Contents>`;
    });
    if (next !== undefined) contents.push(`<NextContinuationToken>${next}</NextContinuationToken>`);
    const root = 'ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"';
    const xml = `<?xml version="1.0"?>\n<${root}>${contents.join('')}</ListBucketResult>`;
    response.writeHead(200, { 'content-type': 'application/xml' }).end(xml);
  } else if (method === 'PUT') {
    objects.set(key, { body, modifiedAt: Date.now() });
    response.end();
  } else if (method === 'DELETE') {
    objects.delete(key);
    response.writeHead(204).end();
  } else {
    const found = objects.get(key);
    if (found === undefined) fail(response, 404, 'NoSuchKey');
    else response.end(found.body);
  }
}

function fail(response: ServerResponse, status: number, code: string): void {
  const xml = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>-</Message></Error>`;
  response.writeHead(status, { 'content-type': 'application/xml' }).end(xml);
}
