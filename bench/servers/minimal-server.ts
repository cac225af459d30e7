import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { Piscina } from 'piscina';
import { request } from 'undici';
import { loadUws } from '../../server/http/uws-library.ts';
import type { EncodedFormat, EncoderOptions } from './encoder-settings.ts';
import type { MinimalTask } from './minimal-thread.ts';

/**
 * What the service's packages can do for a miss: uWebSockets.js, undici, threads of Piscina, sharp, an entity tag
 * and a file for each image; without checks, limits, caches in memory and metrics. Images are at
 * `/?url=<source>&width=<pixels>&format=<jpeg, webp or avif>`.
 *
 * Arguments: a port, the folder for the files, the number of threads, and the options of sharp's encoders by
 * format as JSON.
 */
const [port = '', folder = '', threads = '', encoders = ''] = process.argv.slice(2);
const options: Readonly<Record<string, EncoderOptions>> = JSON.parse(encoders);
const uws = loadUws();
if (typeof uws === 'string') throw new Error(uws);
const pool = new Piscina<MinimalTask, Uint8Array>({
  filename: new URL(`./minimal-thread${extname(import.meta.url)}`, import.meta.url).href,
  minThreads: Number(threads),
  maxThreads: Number(threads),
});

const sha256 = (data: string | Uint8Array): string =>
  createHash('sha256').update(data).digest('hex');

async function render(url: string, width: number, format: string) {
  const { body: download } = await request(url);
  const source = await download.arrayBuffer();
  const task = { source, width, format: format as EncodedFormat, options: options[format] };
  const body = await pool.run(task as MinimalTask, { transferList: [source] });
  const file = join(folder, sha256(`${url} ${width} ${format}`));
  return { body, etag: sha256(body), written: writeFile(file, body) };
}

uws
  .App()
  .get('/*', (response, query) => {
    const format = query.getQuery('format') ?? '';
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
    render(query.getQuery('url') ?? '', Number(query.getQuery('width')), format)
      .then(async ({ body, etag, written }) => {
        send('200 OK', etag, body);
        await written;
      })
      .catch((error) => send('500 Internal Server Error', '', String(error)));
  })
  .listen('127.0.0.1', Number(port), (socket) => {
    if (!socket) process.exit(1);
  });
