import { loadUws } from '../../server/http/uws-library.ts';
import { script, startServer } from './launch.ts';
import { encodedSource, encoderOptions, type ImageServer } from './server.ts';

export const hasMinimal = typeof loadUws() !== 'string';

export const minimalName = 'minimal';

/**
 * Starts a server with only the service's packages, as a lower bound for a miss.
 * @param threads the number of concurrent images
 */
export async function startMinimal(threads: number): Promise<ImageServer> {
  const program = script('./minimal-server', import.meta.url);
  const server = await startServer(
    minimalName,
    (port, folder) => [...program, port, folder, String(threads)],
    // libuv's threads also write the files.
    { env: { ...process.env, UV_THREADPOOL_SIZE: String(threads + 2) } },
  );
  const imageUrl: ImageServer['imageUrl'] = ({ source, width, format, pixels, quality }) => {
    const options = encodeURIComponent(JSON.stringify(encoderOptions(format, quality, pixels)));
    return `${server.url}/?url=${encodedSource(source)}&width=${width}&format=${format}&options=${options}`;
  };
  return { ...server, imageUrl };
}
