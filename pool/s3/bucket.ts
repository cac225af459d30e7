import { hash } from 'node:crypto';
import { SaxesParser } from 'saxes';
import { type Dispatcher, Pool } from 'undici';
import type { S3Location } from '../../contract/s3-location.ts';
import { CredentialChain } from './credentials.ts';
import { bucketUrl, objectPath } from './object-url.ts';
import { sign } from './sign.ts';

/** The service responded with an error. */
class S3Error extends Error {
  override readonly name = 'S3Error';
  readonly status: number;

  /** @param code such as `AccessDenied`; empty if absent */
  constructor(operation: string, status: number, code: string) {
    super(`${operation} failed: ${status} ${code}`.trimEnd());
    this.status = status;
  }
}

interface ListedObject {
  /** The key below the location's prefix. */
  readonly key: string;
  /** Unix ms, by the clock of the S3 service. */
  readonly modifiedAt: number;
}

interface ObjectPage {
  readonly objects: readonly ListedObject[];
  /** Null for the last page. */
  readonly next: string | null;
}

interface Call {
  readonly method: 'GET' | 'PUT' | 'DELETE';
  /** Encoded, without the query. */
  readonly path: string;
  readonly query?: string;
  readonly body?: Buffer;
  readonly signal: AbortSignal;
}

const maxConnections = 64;
const connectTimeoutMs = 2_000;
/** Shorter than the timeouts of services, which are at least 20 s. */
const keepAliveMs = 15_000;
/** A page of 1,000 keys of the maximum length, with their fields. */
const maxPageBytes = 4 * 2 ** 20;
const maxErrorBytes = 16_384;

/**
 * A client for a location's objects. It uses only the four operations that all S3 services support,
 * sends no checksum except the signed one, follows no redirect, and does not retry. Its methods
 * reject with an S3Error, a connection or credential error, or the signal's reason. Messages
 * contain no secret.
 */
export class Bucket {
  readonly #location: S3Location;
  readonly #credentials: CredentialChain;
  readonly #pool: Pool;

  constructor(location: S3Location) {
    this.#location = location;
    this.#credentials = new CredentialChain(location.region);
    this.#pool = new Pool(bucketUrl(location).origin, {
      connections: maxConnections,
      pipelining: 1,
      allowH2: false,
      keepAliveTimeout: keepAliveMs,
      connect: { timeout: connectTimeoutMs },
    });
  }

  /**
   * Returns a key's object; null if it is missing or `take` refuses it.
   *
   * @param take called with the size in bytes before the body arrives; returns false to refuse it
   */
  async get(
    key: string,
    take: (bytes: number) => boolean,
    signal: AbortSignal,
  ): Promise<Buffer | null> {
    const path = objectPath(this.#location, key);
    const response = await this.#send({ method: 'GET', path, signal });
    if (response.statusCode === 404) {
      const code = await readErrorCode(response.body);
      // Not for `NoSuchBucket`; some services send no body.
      if (code === '' || code === 'NoSuchKey') return null;
      throw new S3Error('GET', response.statusCode, code);
    }
    await requireSuccess('GET', response);
    const bytes = Number(response.headers['content-length'] ?? Number.POSITIVE_INFINITY);
    if (take(bytes)) return readBody(response.body, bytes);
    // Discards the rest of the body. undici reports the connection's end as an error.
    response.body.on('error', () => {}).destroy();
    return null;
  }

  async put(key: string, body: Buffer, signal: AbortSignal): Promise<void> {
    const path = objectPath(this.#location, key);
    const response = await this.#send({ method: 'PUT', path, body, signal });
    await requireSuccess('PUT', response);
    await response.body.dump();
  }

  /** Succeeds even if the object does not exist. */
  async delete(key: string, signal: AbortSignal): Promise<void> {
    const path = objectPath(this.#location, key);
    const response = await this.#send({ method: 'DELETE', path, signal });
    if (response.statusCode !== 404) await requireSuccess('DELETE', response);
    await response.body.dump();
  }

  /**
   * Lists up to 1,000 objects by key prefix.
   *
   * @param token the previous page's `next`; null for the first page
   */
  async list(prefix: string, token: string | null, signal: AbortSignal): Promise<ObjectPage> {
    const locationPrefix = this.#location.prefix;
    const path = bucketUrl(this.#location).pathname;
    // URLSearchParams encodes a space as `+`, which differs from the signature.
    let query = `?list-type=2&prefix=${encodeURIComponent(locationPrefix + prefix)}`;
    if (token !== null) query += `&continuation-token=${encodeURIComponent(token)}`;
    const response = await this.#send({ method: 'GET', path, query, signal });
    await requireSuccess('ListObjectsV2', response);
    return readPage((await readBody(response.body, maxPageBytes)).toString(), locationPrefix);
  }

  destroy(): Promise<void> {
    return this.#pool.destroy();
  }

  async #send({ method, path, query = '', body, signal }: Call): Promise<Dispatcher.ResponseData> {
    const credentials = await this.#credentials.get();
    signal.throwIfAborted();
    const { region } = this.#location;
    const url = new URL(query, bucketUrl(this.#location));
    const request = { method, url, path, region, credentials, now: Date.now() };
    const bodyDigest = body && hash('sha256', body, 'hex');
    const headers = await sign(bodyDigest === undefined ? request : { ...request, bodyDigest });
    return this.#pool.request({ method, path: path + query, headers, body: body ?? null, signal });
  }
}

async function requireSuccess(operation: string, response: Dispatcher.ResponseData): Promise<void> {
  const { statusCode, body } = response;
  if (statusCode >= 200 && statusCode < 300) return;
  throw new S3Error(operation, statusCode, await readErrorCode(body));
}

/** Returns a response's error code; empty unless it is a single word, because it is logged. */
async function readErrorCode(body: Dispatcher.ResponseData['body']): Promise<string> {
  let code = '';
  try {
    readXml((await readBody(body, maxErrorBytes)).toString(), (path, text) => {
      if (path === 'Error/Code' && /^\w{1,64}$/.test(text)) code = text;
    });
  } catch {
    // Proxies respond with HTML.
  }
  return code;
}

function readPage(text: string, prefix: string): ObjectPage {
  const objects: ListedObject[] = [];
  let next: string | null = null;
  let key = '';
  let modifiedAt = Number.NaN;
  readXml(text, (path, value) => {
    switch (path) {
      case 'ListBucketResult/NextContinuationToken':
        next = value === '' ? null : value;
        return;
      case 'ListBucketResult/Contents/Key':
        key = value;
        return;
      case 'ListBucketResult/Contents/LastModified':
        modifiedAt = Date.parse(value);
        return;
      case 'ListBucketResult/Contents':
        if (key.startsWith(prefix)) objects.push({ key: key.slice(prefix.length), modifiedAt });
    }
  });
  return { objects, next };
}

/** @throws Error for a longer body, or one that ends early */
async function readBody(body: Dispatcher.ResponseData['body'], maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error(`the response has more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** S3's responses are less deep. */
const maxDepth = 20;

/**
 * Calls `onText` when an element ends, with its path, such as `ListBucketResult/Contents/Key`, and
 * the text after its last child. Ignores namespaces, because services use different namespaces.
 *
 * @throws Error for malformed XML, a document type, or too many levels
 */
function readXml(text: string, onText: (path: string, text: string) => void): void {
  const parser = new SaxesParser({ xmlns: false });
  const names: string[] = [];
  let content = '';
  parser.on('error', () => {
    throw new Error('the response is not XML');
  });
  parser.on('doctype', () => {
    throw new Error('the response has a document type');
  });
  parser.on('opentag', ({ name }) => {
    names.push(name);
    if (names.length > maxDepth) throw new Error('the response has too many levels');
    content = '';
  });
  parser.on('text', (part) => {
    content += part;
  });
  parser.on('cdata', (part) => {
    content += part;
  });
  parser.on('closetag', () => {
    onText(names.join('/'), content);
    names.pop();
    content = '';
  });
  parser.write(text).close();
}
