import sharp from 'sharp';
import type { PageImage } from './page.ts';

/** Returns a descriptor's width in device pixels, or undefined for a `src`. */
function stated({ descriptor, layoutWidth }: PageImage): number | undefined {
  const amount = Number.parseFloat(descriptor);
  if (descriptor.endsWith('w')) return amount;
  return descriptor.endsWith('x') ? amount * layoutWidth : undefined;
}

/**
 * Returns the fault in the pixels of a page's image, or null.
 * @param roundsUp true if density images can be wider than the densities say
 */
export async function pixelProblem(
  image: PageImage,
  serviceUrl: string,
  roundsUp: boolean,
): Promise<string | null> {
  const { url, descriptor } = image;
  if (!url.startsWith(`${serviceUrl}/img/`)) return `not an image of the service: ${url}`;
  // Use a separate connection: a kept connection can close during the request.
  const headers = { accept: 'image/webp,*/*', connection: 'close' };
  const response = await fetch(url, { headers });
  if (!response.ok) return `${response.status} ${url}: ${await response.text()}`;
  const decoded = sharp(Buffer.from(await response.arrayBuffer()));
  const { info } = await decoded.raw().toBuffer({ resolveWithObject: true });
  const { searchParams } = new URL(url);
  const wanted = (name: string, real: number) => Number(searchParams.get(name) ?? real);
  const { width, height } = info;
  const size = `${width} x ${height} px`;
  if (width !== wanted('w', width) || height !== wanted('h', height)) {
    return `${size} instead of w and h: ${url}`;
  }
  const said = stated(image) ?? width;
  // Widths are whole, and a written density has four decimals.
  const isRight =
    Math.abs(width - said) < 0.6 || (roundsUp && descriptor.endsWith('x') && width > said);
  return isRight ? null : `${size} instead of ${descriptor}, ${said} px: ${url}`;
}
