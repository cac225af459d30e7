export type { ImageFormat, SrcsetOptions } from './candidates.ts';
export { defaultWidths, type ImageOptions } from './generated/parameters.ts';
export type { ImageFacts } from './generated/schemas.ts';
export {
  createImageUrls,
  type ImageUrls,
  type ImageUrlsOptions,
  type ParsedUrl,
  type Picture,
  type PictureOptions,
} from './image-urls.ts';
