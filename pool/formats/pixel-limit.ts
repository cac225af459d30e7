import { tooLarge } from './errors.ts';

/**
 * @param pixels of all frames together
 * @throws ServiceError source_too_large
 */
export function requirePixels(pixels: number, maxPixels: number): void {
  if (pixels <= maxPixels) return;
  throw tooLarge(
    `The source has ${pixels} pixels in all its frames; at most ${maxPixels} are allowed.`,
  );
}
