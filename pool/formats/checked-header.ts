import sharp, { type Metadata } from 'sharp';
import type { SourceFormat } from './source-format.ts';

/** Without a page libvips opens the primary image of a HEIF, which may be another than page 0. */
export const pageOption = (page: number | null): { readonly page?: number } =>
  page === null ? {} : { page };

/** The header and the metadata of a file that was checked before. */
export function checkedHeader(
  file: Uint8Array,
  { options }: SourceFormat,
  page: number | null = null,
): Promise<Metadata> {
  const opening = { limitInputPixels: false, failOn: 'none', ...pageOption(page) } as const;
  return sharp(file, { ...options, ...opening }).metadata();
}
