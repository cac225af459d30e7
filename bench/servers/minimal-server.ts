import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { Piscina } from 'piscina';
import { request } from 'undici';
import { loadUws } from '../../server/http/uws-library.ts';
import type { MinimalTask } from './minimal-thread.ts';
import type { EncodedFormat } from './server.ts';

/**
 * The least that the service's packages can do for a miss: uWebSockets.js, undici, Piscina threads,
 * sharp, an entity tag and a file per image; no checks, limits, memory caches and metrics. Images
 * are at `/?url=<source>&width=<pixels>&format=<jpeg, webp or avif>&options=<of sharp's encoder, as
 * JSON>`.
 *
 * Arguments: a port, the folder for the files, and the number of threads.
 */
const [port = '', folder = '', threads = ''] = process.argv.slice(2);
const uws = loadUws();
if (typeof uws === 'string') throw new Error(uws);
const pool = new Piscina<MinimalTask, Uint8Array>({
  filename: new URL(`./minimal-thread${extname(import.meta.url)}`, import.meta.url).href,
  minThreads: Number(threads),
  maxThreads: Number(threads),
});

const sha256 = (data: string | Uint8Array): string =>
  createHash('sha256').update(data).digest('hex');

async function render(url: string, width: number, format: EncodedFormat, options: string) {
  const { body: download } = await request(url);
  const source = await download.arrayBuffer();
  const task: MinimalTask = { source, width, format, options: JSON.parse(options) };
  const body = await pool.run(task, { transferList: [source] });
  const file = join(folder, sha256(`${url} ${width} ${format} ${options}`));
  return { body, etag: sha256(body), written: writeFile(file, body) };
}

uws
  .App()
  .get('/*', (response, query) => {
    const format = (query.getQuery('format') ?? '') as EncodedFormat;
    const options = query.getQuery('options') ?? '';
    let isOpen = true;
    response.onAborted(() => {
      isOpen = false;
    });
    const send = (status: string, etag: string, body: string | Uint8Array) => {
      if (!isOpen) return;
      response.cork(() => {
        response.writeStatus(status).writeHeader('content-type', `image/${format}`);
        response.writeHeader('etag', `"${etag}"`).end(body);
      });
    };
    render(query.getQuery('url') ?? '', Number(query.getQuery('width')), format, options)
      .then(async ({ body, etag, written }) => {
        send('200 OK', etag, body);
        await written;
      })
      .catch((error) => send('500 Internal Server Error', '', String(error)));
  })
  .listen('127.0.0.1', Number(port), (socket) => {
    if (!socket) process.exit(1);
  });
