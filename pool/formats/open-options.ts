import sharp, { type Metadata } from 'sharp';
import type { SourceKind } from './kinds.ts';

/** Without a page libvips opens the primary image of a HEIF, which may be another than page 0. */
export const pageOption = (page: number | null): { readonly page?: number } =>
  page === null ? {} : { page };

/**
 * libvips 8.18 opens HEIFs of at most 256 items, and a grid of 100 megapixels has more. They are only opened in a
 * process, which limits memory and time.
 */
export const unlimitedOption = (kind: SourceKind): { readonly unlimited: boolean } => ({
  unlimited: kind === 'heif',
});

/** The header and the metadata of a file that was checked before. */
export function checkedHeader(
  file: Uint8Array,
  kind: SourceKind,
  page: number | null = null,
): Promise<Metadata> {
  const options = { ...pageOption(page), ...unlimitedOption(kind) };
  return sharp(file, { limitInputPixels: false, failOn: 'none', ...options }).metadata();
}
