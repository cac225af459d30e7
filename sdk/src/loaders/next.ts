import { createCandidates } from '../candidates.ts';
import type { ImageOptions } from '../generated/parameters.ts';
import { createImageUrls } from '../image-urls.ts';
import type { ImageUrlsOptions } from '../interface.ts';
import { imageOptions } from './image-options.ts';

export interface LoaderOptions
  extends Pick<ImageUrlsOptions, 'baseUrl' | 'project' | 'origin' | 'passthrough'> {
  /**
   * Options for all images. `enlarge` is true by default, so that images from small sources have
   * the pixels that Next's `srcset` claims.
   */
  readonly options?: Omit<ImageOptions, 'w' | 'h' | 'dpr'> | undefined;
}

/** What Next gives a loader. */
export interface LoaderProps {
  readonly src: string;
  /** In device pixels. */
  readonly width: number;
  readonly quality?: number | undefined;
}

/** A loader for the `loaderFile` of Next, or the `loader` of an image. */
export function createLoader({ options, ...settings }: LoaderOptions) {
  const { url } = createImageUrls(settings);
  return ({ src, width, quality = undefined }: LoaderProps): string => {
    const { q, fmt, ...others } = { enlarge: true, ...options };
    const written = url(
      src,
      imageOptions({ ...others, width, quality: quality ?? q, format: fmt }),
    );
    // In development, Next warns if a loader returns the same text for every width.
    return written === src ? `${src}#w=${width}` : written;
  };
}

/** The widths below the steps of the service, for small images. */
const smallWidths = [40, 80, 160];

/**
 * Returns `images` for the Next configuration, with the service's steps as widths.
 *
 * @param loaderFile a module whose default export is a loader
 */
export function imageConfig(
  loaderFile: string,
  { maxWidth }: Pick<ImageUrlsOptions, 'maxWidth'> = {},
) {
  const deviceSizes = createCandidates({}, maxWidth || Infinity).all.map(({ w }) => w);
  const [smallest = 0] = deviceSizes;
  const imageSizes = smallWidths.filter((width) => width < smallest);
  return { loader: 'custom' as const, loaderFile, deviceSizes, imageSizes };
}
