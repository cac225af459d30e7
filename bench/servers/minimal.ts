import { loadUws } from '../../server/http/uws-library.ts';
import { encodedFormats, encoderOptions } from './encoder-settings.ts';
import { script, startServer } from './launch.ts';
import { encodedSource, type ImageServer } from './server.ts';

export const hasMinimal = typeof loadUws() !== 'string';

export const minimalName = 'minimal';

/**
 * A server of the service's packages and nothing else: what its parts can do for a miss.
 * @param pixels of its outputs, on which the service's encoder settings depend
 * @param threads the number of images at a time
 */
export async function startMinimal(
  pixels: number,
  quality: number,
  threads: number,
): Promise<ImageServer> {
  const options = encodedFormats.map((format) => [format, encoderOptions(format, quality, pixels)]);
  const program = script('./minimal-server', import.meta.url);
  const encoders = JSON.stringify(Object.fromEntries(options));
  const server = await startServer(
    minimalName,
    (port, folder) => [...program, port, folder, String(threads), encoders],
    // Files are written by the threads of libuv too.
    { env: { ...process.env, UV_THREADPOOL_SIZE: String(threads + 2) } },
  );
  const imageUrl: ImageServer['imageUrl'] = ({ source, width, format }) =>
    `${server.url}/?url=${encodedSource(source)}&width=${width}&format=${format}`;
  return { ...server, imageUrl };
}
