import { createReadStream } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream';

export interface FolderOrigin {
  /** The address of a file, by its path below the folder. */
  address(file: string): string;
  close(): Promise<void>;
}

/** Serves some files of a folder over HTTP on 127.0.0.1, without content types. */
export async function serveFolder(folder: string, files: readonly string[]): Promise<FolderOrigin> {
  // URLs have numbers, because file names may have any bytes.
  const server = createServer((request, response) => {
    const file = files[Number(request.url?.slice(1))];
    if (file === undefined) response.writeHead(404).end();
    else pipeline(createReadStream(join(folder, file)), response, () => {});
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    address: (file) => `http://127.0.0.1:${port}/${files.indexOf(file)}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
