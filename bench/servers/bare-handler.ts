import { fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { uwsFailure } from '../../server/http/engine-choice.ts';

/**
 * The least that a hit can cost: a handler that answers every URL with the same headers and body, with
 * uWebSockets.js where it loads, as the service does, and otherwise with Node's own server.
 *
 * Arguments: a port, a file with the headers as JSON, a file with the body, how many processes.
 */
const [port = '', headersFile = '', bodyFile = '', processes = '1'] = process.argv.slice(2);

if (process.send === undefined && Number(processes) > 1) {
  const children = Array.from({ length: Number(processes) }, () =>
    fork(fileURLToPath(import.meta.url), process.argv.slice(2)),
  );
  process.once('SIGTERM', () => {
    for (const child of children) child.kill();
    process.exit(0);
  });
} else {
  const headers: [string, string][] = JSON.parse(readFileSync(headersFile, 'utf8'));
  const body = readFileSync(bodyFile);
  const etag = headers.find(([name]) => name === 'etag')?.[1] ?? '';
  if (uwsFailure() === null) await listenWithUws(headers, body, etag);
  else listenWithNode(headers, body, etag);
  process.once('disconnect', () => process.exit(0));
}

async function listenWithUws(
  headers: readonly [string, string][],
  body: Buffer,
  etag: string,
): Promise<void> {
  const { default: uws } = await import('uWebSockets.js');
  uws
    .App()
    .get('/*', (response, request) => {
      const same = request.getHeader('if-none-match') === etag;
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

function listenWithNode(headers: readonly [string, string][], body: Buffer, etag: string): void {
  const fields = Object.fromEntries(headers);
  createServer((request, response) => {
    const same = request.headers['if-none-match'] === etag;
    response.writeHead(same ? 304 : 200, { ...fields, 'content-length': body.length });
    response.end(same ? undefined : body);
  }).listen({ port: Number(port), host: '127.0.0.1', exclusive: false, reusePort: true });
}
