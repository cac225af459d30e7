import { extname } from 'node:path';
import type { ServiceError } from '../../contract/errors.ts';
import type { ConsolePictures } from '../../contract/settings/table.ts';
import { entityTag } from '../../pool/image.ts';
import { prefersPage } from '../http/accept.ts';
import { errorResponse } from '../http/error-response.ts';
import type { Headers, HttpRequest, HttpResponse } from '../http/request.ts';
import { isNotModified } from '../image/response.ts';
import { consolePrefix, docsPage, failurePage, indexPage, policies } from './documents.ts';
import { loadConsoleFiles, mediaTypes } from './files.ts';

type FileResponse = HttpResponse & { readonly etag: string };

/** The headers of every page. */
const pageHeaders = (policy: string): Headers => [
  ['content-type', 'text/html; charset=utf-8'],
  ['content-security-policy', policy],
  ['cross-origin-opener-policy', 'same-origin'],
  ['referrer-policy', 'no-referrer'],
  ['x-content-type-options', 'nosniff'],
];

/** Deeper paths, such as thousands of slashes, get absolute links: relative ones repeat in the page. */
const maxDepth = 50;

const readMethods = ['GET', 'HEAD'] as const;

/**
 * The page at `/` with the playground and the operator's console, the API reference at `/docs`, and error
 * pages for browsers. All files are in memory.
 */
export class WebConsole {
  /** By path; null until they are loaded. */
  #responses: ReadonlyMap<string, FileResponse> | null = null;
  /** The folder of the files, relative to `/`. */
  #folder = '';
  readonly #pictures: ConsolePictures;

  /** @param pictures the playground's first pictures */
  constructor(pictures: ConsolePictures) {
    this.#pictures = pictures;
  }

  /** Reads all files unless a request has loaded them: the start of the process does not wait. */
  load(): ReadonlyMap<string, FileResponse> {
    this.#responses ??= this.#load();
    return this.#responses;
  }

  #load(): ReadonlyMap<string, FileResponse> {
    const responses = new Map<string, FileResponse>();
    const add = (path: string, body: Uint8Array, headers: Headers): void => {
      const etag = entityTag(body);
      responses.set(path, { status: 200, headers: [...headers, ['etag', etag]], body, etag });
    };
    const { version, files } = loadConsoleFiles();
    const base = `${consolePrefix}${version}/`;
    this.#folder = base.slice(1);
    for (const [name, body] of files) {
      add(base + name, body, [
        ['content-type', mediaTypes[extname(name)] ?? ''],
        ['cache-control', 'public, max-age=31536000, immutable'],
        ['cross-origin-resource-policy', 'same-origin'],
        ['x-content-type-options', 'nosniff'],
      ]);
    }
    const addPage = (path: string, body: string, policy: string): void =>
      add(path, Buffer.from(body), [...pageHeaders(policy), ['cache-control', 'no-cache']]);
    addPage('/', indexPage(this.#folder, this.#pictures), policies.index);
    addPage('/docs', docsPage(this.#folder), policies.docs);
    return responses;
  }

  /** The methods at a path; none for an unknown path. */
  methodsAt(path: string): readonly string[] {
    return this.load().has(path) ? readMethods : [];
  }

  /** Sends a page or a file. */
  handle(request: HttpRequest): void {
    const response = this.load().get(request.path);
    if (response === undefined) throw new Error(`the router passed the unknown ${request.path}`);
    const { etag, ...whole } = response;
    if (!isNotModified(request.header('if-none-match'), etag)) return request.respond(whole);
    // RFC 9110, 15.4.5: without the headers of the body.
    const headers = whole.headers.filter(([name]) => name !== 'content-type');
    request.respond({ status: 304, headers, body: null });
  }

  /**
   * The error page for a browser that navigates, else null: errors below `/api/` are always JSON.
   * @param request null when it cannot be read
   */
  errorPage(failure: ServiceError, request: HttpRequest | null): HttpResponse | null {
    if (request === null || request.path.startsWith('/api/')) return null;
    if (!prefersPage(request.accept)) return null;
    this.load();
    const { status, headers } = errorResponse(failure);
    // Relative, because a proxy may have removed the beginning of the path.
    const depth = request.path.split('/').length - 2;
    const root = depth > maxDepth ? '/' : '../'.repeat(Math.max(0, depth)) || './';
    return {
      status,
      headers: [
        ...headers.filter(([name]) => name !== 'content-type' && name !== 'x-content-type-options'),
        ...pageHeaders(policies.error),
        ['vary', 'Accept'],
      ],
      body: failurePage(failure, root, root + this.#folder, request.id),
    };
  }
}
