import { createHash } from 'node:crypto';
import { extname } from 'node:path';
import type { ServiceError } from '../../contract/errors.ts';
import type { ConsolePictures } from '../../contract/settings/table.ts';
import { prefersPage } from '../http/accept.ts';
import { errorResponse } from '../http/error-response.ts';
import type { Headers, HttpRequest, HttpResponse } from '../http/request.ts';
import { isNotModified } from '../image/response.ts';
import { consolePrefix, docsPage, failurePage, indexPage, policies } from './documents.ts';
import { indexModules, loadConsoleFiles, mediaTypes } from './files.ts';

type Responses = Map<string, HttpResponse & { readonly etag: string }>;

/** What every page has, besides its policy. */
const pageHeaders = (policy: string): Headers => [
  ['content-type', 'text/html; charset=utf-8'],
  ['content-security-policy', policy],
  ['cross-origin-opener-policy', 'same-origin'],
  ['referrer-policy', 'no-referrer'],
  ['x-content-type-options', 'nosniff'],
];

const etagOf = (body: Uint8Array | string): string =>
  `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;

/** A path may be nothing but slashes, and the page has a URL for each several times. */
const deepest = 50;

const readMethods = ['GET', 'HEAD'] as const;

/**
 * The page at `/` with the playground and the operator's console, the API reference at `/docs`, and
 * error pages for browsers. Everything is in memory, and nothing that it sends depends on the request
 * but error pages.
 */
export class WebConsole {
  /** By path; null before they are loaded. */
  #responses: Responses | null = null;
  /** The folder of the files, relative to `/`. */
  #folder = '';

  readonly #pictures: ConsolePictures;

  /** @param pictures what the playground opens with */
  constructor(pictures: ConsolePictures) {
    this.#pictures = pictures;
  }

  /** Reads all files, if they were not needed before: the start does not wait for them. */
  load(): void {
    void this.#loaded;
  }

  get #loaded(): Responses {
    this.#responses ??= this.#load();
    return this.#responses;
  }

  #load(): Responses {
    const responses: Responses = new Map();
    const add = (path: string, body: Uint8Array | string, headers: Headers): void => {
      const etag = etagOf(body);
      responses.set(path, { status: 200, headers: [...headers, ['etag', etag]], body, etag });
    };
    const { version, files } = loadConsoleFiles();
    const base = `${consolePrefix}${version}/`;
    this.#folder = base.slice(1);
    for (const [name, body] of files) {
      add(base + name, body, [
        ['content-type', mediaTypes[extname(name)] ?? ''],
        // Another content has another URL.
        ['cache-control', 'public, max-age=31536000, immutable'],
        ['cross-origin-resource-policy', 'same-origin'],
        ['x-content-type-options', 'nosniff'],
      ]);
    }
    const modules = indexModules(files).map((name) => this.#folder + name);
    const addPage = (path: string, body: string, policy: string): void =>
      add(path, body, [...pageHeaders(policy), ['cache-control', 'no-cache']]);
    addPage('/', indexPage(this.#folder, modules, this.#pictures), policies.index);
    addPage('/docs', docsPage(this.#folder), policies.docs);
    return responses;
  }

  /** The methods at a path; none where there is no page and no file. */
  methodsAt(path: string): readonly string[] {
    return this.#loaded.has(path) ? readMethods : [];
  }

  /** Sends the page or the file at the path of a request. */
  handle(request: HttpRequest): void {
    const response = this.#loaded.get(request.path);
    // The app has checked the path.
    if (response === undefined) throw new Error(`there is no ${request.path}`);
    const { etag, ...whole } = response;
    if (!isNotModified(request.header('if-none-match'), etag)) return request.respond(whole);
    // RFC 9110, 15.4.5: without the headers of the body.
    const headers = whole.headers.filter(([name]) => name !== 'content-type');
    request.respond({ status: 304, headers, body: null });
  }

  /**
   * The response to a failure for a browser that navigates, or null. Below `/api/` errors are always
   * JSON (spec part 7).
   *
   * @param request null when it cannot be read
   */
  errorPage(failure: ServiceError, request: HttpRequest | null): HttpResponse | null {
    if (request === null || request.path.startsWith('/api/')) return null;
    if (!prefersPage(request.accept)) return null;
    this.load();
    const { status, headers } = errorResponse(failure);
    // Relative, because a proxy in front may have removed the beginning of the path.
    const depth = request.path.split('/').length - 2;
    const root = depth > deepest ? '/' : '../'.repeat(Math.max(0, depth)) || './';
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
