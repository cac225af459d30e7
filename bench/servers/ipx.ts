import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { encoderOptions, sharpFields } from './encoder-settings.ts';
import { script, startServer } from './launch.ts';
import {
  type DefaultServer,
  encodedSource,
  type ImageServer,
  type PlainRequest,
  type Server,
} from './server.ts';

/** The folder of IPX's packages, which are not installed with the service's; from dist/bench/servers. */
const folder = fileURLToPath(new URL('../../../bench/ipx/', import.meta.url));

/**
 * Installs IPX unless it is installed: exactly its lock file, without install scripts.
 * @throws when that fails, as without a network
 */
export function prepareIpx(): void {
  if (existsSync(join(folder, 'node_modules/ipx/package.json'))) return;
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status } = spawnSync('npm', args, {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0) throw new Error(`npm ci in ${folder} ended with ${status}`);
}

/** @param pixels of its outputs, on which the service's encoder settings depend */
export async function startIpx(pixels: number, quality: number): Promise<ImageServer> {
  const server = await start(sharpFields(pixels, quality));
  const imageUrl: ImageServer['imageUrl'] = ({ quality, ...request }) =>
    urlOf(server, request, encoderOptions(request.format, quality, pixels).quality);
  return { ...server, imageUrl };
}

/** IPX with its own settings. */
export async function startDefaultIpx(): Promise<DefaultServer> {
  const server = await start({});
  const imageUrl: DefaultServer['imageUrl'] = (request, quality) => urlOf(server, request, quality);
  return { ...server, acceptsQuality: true, imageUrl };
}

function urlOf(
  { url }: Server,
  { source, width, format }: PlainRequest,
  quality: number | null,
): string {
  const q = quality === null ? '' : `,q_${quality}`;
  return `${url}/w_${width},f_${format}${q}/${encodedSource(source)}`;
}

function start(sharpOptions: Readonly<Record<string, unknown>>): Promise<Server> {
  prepareIpx();
  const program = script('./ipx-server', import.meta.url);
  const options = JSON.stringify(sharpOptions);
  return startServer('IPX', (port) => [...program, port, join(folder, 'package.json'), options], {
    env: { ...process.env, NODE_ENV: 'production' },
  });
}
