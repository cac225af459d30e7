import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileNames, openInFolder } from '../../pool/source/folder.ts';

/** Media types of the source formats, by file extension. */
const pictureTypes: ReadonlyMap<string, string> = new Map([
  ['.jpg', 'image/jpeg'],
  ['.jpeg', 'image/jpeg'],
  ['.jpe', 'image/jpeg'],
  ['.jfif', 'image/jpeg'],
  ['.png', 'image/png'],
  ['.apng', 'image/apng'],
  ['.webp', 'image/webp'],
  ['.gif', 'image/gif'],
  ['.avif', 'image/avif'],
  ['.jxl', 'image/jxl'],
  ['.heic', 'image/heic'],
  ['.heif', 'image/heif'],
  ['.hif', 'image/heif'],
  ['.tif', 'image/tiff'],
  ['.tiff', 'image/tiff'],
  ['.svg', 'image/svg+xml'],
  ['.bmp', 'image/bmp'],
  ['.ico', 'image/vnd.microsoft.icon'],
]);

const toMediaType = (path: string): string | undefined =>
  pictureTypes.get(extname(path).toLowerCase());

/** Maximum folder entries to search for images; more take too long. */
const maxEntries = 20_000;

/** A running server for a folder's images. */
export interface PictureServer {
  /** Excludes the trailing slash. */
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Serves the images below a folder on 127.0.0.1, read-only. Excludes hidden files, other files, and
 * symbolic links that leave the folder. Requires a matching Host header, against DNS rebinding.
 * @param folder as `realpath` returns it
 * @param port 0 for a free port
 * @throws Node's own error, such as EADDRINUSE, if it cannot listen
 */
export async function startPictureServer(folder: string, port: number): Promise<PictureServer> {
  let authority = '';
  const server = createServer((request, response) => {
    respond(folder, authority, request, response).catch(() => response.destroy());
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  const { port: actual } = server.address() as AddressInfo;
  authority = `127.0.0.1:${actual}`;
  return {
    url: `http://${authority}`,
    port: actual,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function respond(
  folder: string,
  authority: string,
  { method, url = '', headers }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (method !== 'GET' && method !== 'HEAD') {
    response.writeHead(405, { allow: 'GET, HEAD' }).end();
    return;
  }
  const names = headers.host === authority ? fileNames(url.split('?', 1)[0] ?? '') : null;
  const type = toMediaType(names?.at(-1) ?? '');
  const isPicture = names !== null && type !== undefined;
  const opened = isPicture ? await openInFolder(folder, names).catch(() => null) : null;
  if (opened === null) {
    response.writeHead(404, { 'content-type': 'text/plain' }).end('The picture does not exist.\n');
    return;
  }
  const { file, stats } = opened;
  const size = Number(stats.size);
  try {
    response.writeHead(200, {
      'content-type': type,
      'content-length': size,
      'x-content-type-options': 'nosniff',
    });
    if (method === 'HEAD' || size === 0) response.end();
    else await pipeline(file.createReadStream({ end: size - 1, autoClose: false }), response);
  } finally {
    await file.close();
  }
}

/**
 * Returns the first `count` served images below a folder as relative paths, top level first. Does
 * not follow symbolic links.
 */
export async function picturesIn(folder: string, count: number): Promise<string[]> {
  const found: string[] = [];
  const folders = [''];
  let entries = 0;
  for (const below of folders) {
    const list = await readdir(join(folder, below), { withFileTypes: true }).catch(() => []);
    for (const entry of list.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      entries += 1;
      if (found.length >= count || entries > maxEntries) return found;
      // A hidden file, or a name that URLs cannot contain, such as one with a backslash.
      if (fileNames(`/${encodeURIComponent(entry.name)}`) === null) continue;
      if (entry.isDirectory()) folders.push(join(below, entry.name));
      else if (entry.isFile() && toMediaType(entry.name) !== undefined) {
        found.push(join(below, entry.name));
      }
    }
  }
  return found;
}
