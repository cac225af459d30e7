import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ServiceError } from '../../contract/errors.ts';
import { ownFile } from '../../contract/package.ts';
import type { ConsolePictures } from '../../contract/settings/lists.ts';
import { prefersPage } from '../http/accept.ts';
import type { HttpRequest } from '../http/request.ts';
import {
  errorResponse,
  type Headers,
  type HttpResponse,
  ifModified,
  type TaggedResponse,
  tagged,
} from '../http/responses.ts';
import { consolePrefix, docsPage, errorPage, indexPage, policies } from './documents.ts';

const mediaTypes: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The build folder with the bundled page. A service that runs from source uses the last build. */
const pageFolder = fileURLToPath(ownFile('dist/server/console/page/'));

/** Swagger UI, by served name. */
const libraryFiles = {
  'library/swagger-ui.js': 'swagger-ui-dist/swagger-ui-bundle.js',
  'library/swagger-ui.css': 'swagger-ui-dist/swagger-ui.css',
};

function readFiles(): ReadonlyMap<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  for (const name of readdirSync(pageFolder).sort()) {
    if (extname(name) in mediaTypes) files.set(name, readFileSync(`${pageFolder}${name}`));
  }
  for (const [name, specifier] of Object.entries(libraryFiles)) {
    files.set(name, readFileSync(fileURLToPath(import.meta.resolve(specifier))));
  }
  return files;
}

/** A hash of all files, so that each version has its own URLs. */
function hashFiles(files: ReadonlyMap<string, Uint8Array>): string {
  const hash = createHash('sha256');
  for (const [name, content] of files) hash.update(`${name} ${content.length}\n`).update(content);
  return hash.digest('hex').slice(0, 16);
}

const pageHeaders = (policy: string): Headers => [
  ['content-type', 'text/html; charset=utf-8'],
  ['content-security-policy', policy],
  ['cross-origin-opener-policy', 'same-origin'],
  ['referrer-policy', 'no-referrer'],
  ['x-content-type-options', 'nosniff'],
];

/**
 * Deeper paths, such as thousands of slashes, get absolute links, because a page repeats its
 * relative ones.
 */
const maxDepth = 50;

function readContents(pictures: ConsolePictures) {
  const responses = new Map<string, TaggedResponse>();
  const add = (path: string, body: Uint8Array, headers: Headers): void => {
    responses.set(path, tagged({ status: 200, headers, body }));
  };
  const files = readFiles();
  const base = `${consolePrefix}${hashFiles(files)}/`;
  for (const [name, body] of files) {
    add(base + name, body, [
      ['content-type', mediaTypes[extname(name)] ?? ''],
      ['cache-control', 'public, max-age=31536000, immutable'],
      ['cross-origin-resource-policy', 'same-origin'],
      ['x-content-type-options', 'nosniff'],
    ]);
  }
  const folder = base.slice(1);
  const addPage = (path: string, body: string, policy: string): void =>
    add(path, Buffer.from(body), [...pageHeaders(policy), ['cache-control', 'no-cache']]);
  addPage('/', indexPage(folder, pictures), policies.index);
  addPage('/docs', docsPage(folder), policies.docs);
  return {
    /** The folder with the files, relative to `/`. */
    folder,
    /** By path. */
    responses,
  };
}

/**
 * The page at `/` with the playground and the operator's console, the API reference at `/docs`, and
 * error pages for browsers. All files are in memory.
 */
export class WebConsole {
  #contents: ReturnType<typeof readContents> | null = null;
  readonly #pictures: ConsolePictures;

  /** @param pictures the playground's initial images */
  constructor(pictures: ConsolePictures) {
    this.#pictures = pictures;
  }

  /** Reads all files unless a request has loaded them, so that the process start need not wait. */
  load() {
    this.#contents ??= readContents(this.#pictures);
    return this.#contents;
  }

  /**
   * Like `load`, for a timer. Ignores failures: a request reads the files again and reports the
   * cause.
   */
  preload(): void {
    try {
      this.load();
    } catch {}
  }

  /** The methods at a path, empty for an unknown path. */
  methodsAt(path: string): readonly string[] {
    return this.load().responses.has(path) ? ['GET', 'HEAD'] : [];
  }

  /** Sends a page or a file. */
  handle(request: HttpRequest): void {
    const response = this.load().responses.get(request.path);
    if (response === undefined) throw new Error(`the router passed the unknown ${request.path}`);
    request.respond(ifModified(response, request.header('if-none-match')));
  }

  /**
   * Returns an error page for a browser navigation, else null: errors below `/api/` are always
   * JSON.
   */
  errorPage(error: ServiceError, request: HttpRequest): HttpResponse | null {
    if (request.path.startsWith('/api/')) return null;
    if (!prefersPage(request.accept)) return null;
    const { status, headers } = errorResponse(error);
    // Use a relative URL, because a proxy might have removed the start of the path.
    const depth = request.path.split('/').length - 2;
    const root = depth > maxDepth ? '/' : '../'.repeat(Math.max(0, depth)) || './';
    return {
      status,
      headers: [
        ...headers.filter(([name]) => name !== 'content-type' && name !== 'x-content-type-options'),
        ...pageHeaders(policies.error),
        ['vary', 'Accept'],
      ],
      body: errorPage(error, root, root + this.load().folder, request),
    };
  }
}
