import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import sharp from 'sharp';
import { listen } from '../listen.ts';

export type Reply = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

export interface TestOrigin {
  /** URL with no trailing slash. */
  readonly url: string;
  readonly port: number;
  /** Requests so far, by path and query. */
  readonly requests: Map<string, number>;
  /** Puts a reply or a body at a path. */
  serve(path: string, reply: Reply | Buffer): void;
}

/** Starts an origin on 127.0.0.1 with the test's replies. */
export async function startTestOrigin(t: {
  teardown(action: () => void): void;
}): Promise<TestOrigin> {
  const replies = new Map<string, Reply>();
  const requests = new Map<string, number>();
  const server = createServer((request, response) => {
    const target = request.url ?? '';
    requests.set(target, (requests.get(target) ?? 0) + 1);
    const reply = replies.get(target.split('?')[0] ?? '');
    if (reply === undefined) response.writeHead(404).end();
    else void reply(request, response);
  });
  const port = await listen(t, server);
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    serve(path, reply) {
      replies.set(path, Buffer.isBuffer(reply) ? (_, response) => void response.end(reply) : reply);
    },
  };
}

/** Returns a single-colour PNG. */
export const solid = (width: number, height: number, background: string | object) =>
  sharp({ create: { width, height, channels: 3, background } })
    .png()
    .toBuffer();

/** Returns an image with its version as the colour. */
export const createPicture = (version: number): Promise<Buffer> =>
  solid(40, 30, { r: version, g: 0, b: 0 });

/** Returns a detailed image: quality and size change its bytes. */
export function picture(
  width: number,
  height: number,
  format: 'jpeg' | 'png' | 'webp' = 'jpeg',
): Promise<Buffer> {
  const pixels = Buffer.alloc(width * height * 3);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const at = (y * width + x) * 3;
      pixels[at] = (x * 255) / width;
      pixels[at + 1] = (y * 255) / height;
      pixels[at + 2] = 128 + 100 * Math.sin(x / 9) * Math.cos(y / 7);
    }
  }
  return sharp(pixels, { raw: { width, height, channels: 3 } })
    .toFormat(format)
    .toBuffer();
}
