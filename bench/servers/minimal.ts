import { loadUws } from '../../server/http/uws-library.ts';
import { encoderOptions } from './encoder-settings.ts';
import { script, startServer } from './launch.ts';
import { encodedSource, type ImageServer } from './server.ts';

export const hasMinimal = typeof loadUws() !== 'string';

export const minimalName = 'minimal';

/**
 * A server of the service's packages and nothing else: what its parts can do for a miss.
 * @param threads the number of images at a time
 */
export async function startMinimal(threads: number): Promise<ImageServer> {
  const program = script('./minimal-server', import.meta.url);
  const server = await startServer(
    minimalName,
    (port, folder) => [...program, port, folder, String(threads)],
    // Files are written by the threads of libuv too.
    { env: { ...process.env, UV_THREADPOOL_SIZE: String(threads + 2) } },
  );
  const imageUrl: ImageServer['imageUrl'] = ({ source, width, format, pixels, quality }) => {
    const options = encodeURIComponent(JSON.stringify(encoderOptions(format, quality, pixels)));
    return `${server.url}/?url=${encodedSource(source)}&width=${width}&format=${format}&options=${options}`;
  };
  return { ...server, imageUrl };
}
