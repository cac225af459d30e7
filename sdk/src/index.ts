export type { SrcsetOptions } from './candidates.ts';
export { defaultWidths, type ImageFormat, type ImageOptions } from './generated/parameters.ts';
export type { ImageFacts } from './generated/schemas.ts';
export { createImageUrls } from './image-urls.ts';
export type {
  ImageUrls,
  ImageUrlsOptions,
  ParsedUrl,
  Picture,
  PictureOptions,
} from './interface.ts';
