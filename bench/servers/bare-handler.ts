import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { loadUws, type UwsLibrary } from '../../server/http/uws-library.ts';

/**
 * The minimum cost of a hit: a handler that sends the same headers and body for every URL, with
 * uWebSockets.js like the service, or with Node's own server if it does not load.
 *
 * Arguments: a port, a file with the headers as JSON, a file with the body, and a file with paths
 * as JSON. Each path gets a separate copy of the body: a shared body stays in the processor's
 * caches, unlike the images of a real server.
 */
type FindBody = (path: () => string) => Buffer | undefined;

const [port = '', headersFile = '', bodyFile = '', pathsFile = ''] = process.argv.slice(2);
const headers: [string, string][] = JSON.parse(readFileSync(headersFile, 'utf8'));
const body = readFileSync(bodyFile);
const etag = headers.find(([name]) => name === 'etag')?.[1] ?? '';
const paths: string[] = JSON.parse(readFileSync(pathsFile, 'utf8'));
const copies = new Map(paths.map((path) => [path, Buffer.from(body)]));
const findBody: FindBody = copies.size === 0 ? () => body : (path) => copies.get(path());
const uws = loadUws();
if (typeof uws === 'string') listenWithNode();
else listenWithUws(uws);

function listenWithUws(uws: UwsLibrary): void {
  uws
    .App()
    .get('/*', (response, request) => {
      const same = request.getHeader('if-none-match') === etag;
      const body = findBody(() => request.getUrl());
      if (body === undefined) {
        response.writeStatus('404 Not Found').end();
        return;
      }
      response.cork(() => {
        response.writeStatus(same ? '304 Not Modified' : '200 OK');
        for (const [name, value] of headers) response.writeHeader(name, value);
        if (same) response.endWithoutBody();
        else response.end(body);
      });
    })
    .listen('127.0.0.1', Number(port), (socket) => {
      if (!socket) process.exit(1);
    });
}

function listenWithNode(): void {
  const fields = Object.fromEntries(headers);
  createServer((request, response) => {
    const same = request.headers['if-none-match'] === etag;
    const body = findBody(() => request.url?.split('?', 1)[0] ?? '');
    if (body === undefined) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(same ? 304 : 200, { ...fields, 'content-length': body.length });
    response.end(same ? undefined : body);
  }).listen(Number(port), '127.0.0.1');
}
