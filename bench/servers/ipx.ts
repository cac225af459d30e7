import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { encoderOptions, sharpFields } from './encoder-settings.ts';
import { end, freePort, launch, script, untilOk } from './launch.ts';
import {
  type DefaultServer,
  encodedSource,
  type ImageServer,
  type PlainRequest,
  pidOf,
  type Server,
} from './server.ts';

/** IPX's own packages, apart from the service's: they are installed when it is first measured. */
const folder = 'bench/ipx';

/** The package.json of IPX's folder, whether this runs built or as source. */
function packageFile(from = dirname(fileURLToPath(import.meta.url))): string {
  const file = join(from, folder, 'package.json');
  if (existsSync(file)) return file;
  if (dirname(from) === from) throw new Error(`no folder above this one has ${folder}`);
  return packageFile(dirname(from));
}

/** Installs IPX unless it is there: exactly its lock file, without running scripts of packages. */
async function install(installedBy: string): Promise<void> {
  const home = dirname(installedBy);
  if (existsSync(join(home, 'node_modules/ipx/package.json'))) return;
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const npm = spawn('npm', args, { cwd: home, stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = await once(npm, 'exit');
  if (code !== 0) throw new Error(`npm ci in ${folder} ended with ${code}`);
}

/** @throws when IPX is not installed and cannot be, as without a network */
export const prepareIpx = (): Promise<void> => install(packageFile());

/** @param pixels of its outputs, on which the service's encoder settings depend */
export async function startIpx(pixels: number, quality: number): Promise<ImageServer> {
  const server = await run(sharpFields(pixels, quality));
  return {
    ...server,
    imageUrl: ({ quality, ...request }) =>
      urlOf(server, request, encoderOptions(request.format, quality, pixels).quality),
  };
}

/** With none but its own settings. */
export async function startDefaultIpx(): Promise<DefaultServer> {
  const server = await run({});
  return {
    ...server,
    varies: true,
    imageUrl: (request, quality) => urlOf(server, request, quality),
  };
}

const urlOf = (
  { url }: Server,
  { source, width, format }: PlainRequest,
  quality: number | null,
): string =>
  `${url}/w_${width},f_${format}${quality === null ? '' : `,q_${quality}`}/${encodedSource(source)}`;

async function run(sharpOptions: Readonly<Record<string, unknown>>): Promise<Server> {
  const installedBy = packageFile();
  await install(installedBy);
  const port = await freePort();
  const args = [String(port), installedBy, JSON.stringify(sharpOptions)];
  const startedAt = performance.now();
  const child = launch([...script('./ipx-server', import.meta.url), ...args], {
    env: { ...process.env, NODE_ENV: 'production' },
  });
  const url = `http://127.0.0.1:${port}`;
  const close = () => end(child);
  try {
    await untilOk(url, child, { everyMs: 4, anyStatus: true });
  } catch (error) {
    await close();
    throw error;
  }
  const healthyMs = performance.now() - startedAt;
  return { name: 'IPX', url, pid: pidOf(child), healthyMs, close };
}
