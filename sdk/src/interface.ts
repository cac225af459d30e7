import type { SrcsetOptions } from './candidates.ts';
import type { ImageFormat, ImageOptions } from './generated/parameters.ts';
import type { ImageFacts } from './generated/schemas.ts';

export interface ImageUrlsOptions {
  /** The address of the service or of its CDN, such as `https://images.example.com`. */
  readonly baseUrl: string;
  /** The project's id, such as `prj_32gx1acb9wtykf3m`. */
  readonly project: string;
  /**
   * Your site's address, which makes relative sources absolute. If omitted, `src: '/coast.jpg'` is
   * a path on the project's `origin`.
   */
  readonly origin?: string | undefined;
  /** The `maxWidth` of the project, in device pixels. */
  readonly maxWidth?: number | null | undefined;
  /** Signs each URL: a signer of `@image-delivery/sdk/sign`. */
  readonly sign?: ((url: string) => string) | undefined;
  /**
   * Returns true for sources to leave unchanged, such as a development URL that the service cannot
   * reach.
   */
  readonly passthrough?: ((src: string) => boolean) | undefined;
}

export interface PictureOptions extends SrcsetOptions {
  /**
   * Formats that browsers can choose from, best first. Defaults to AVIF and WebP, or to WebP alone
   * for a source that could be animated, because AVIF would be a still image.
   */
  readonly formats?: readonly ImageFormat[] | undefined;
  /**
   * The source's frame count, as returned by `facts`; more than 1 means an animation. If omitted,
   * sources whose path ends in `.gif` or `.webp` count as possible animations.
   */
  readonly sourceFrames?: number | undefined;
  /** The width of the image in the layout, such as `(max-width: 800px) 100vw, 800px`. */
  readonly sizes?: string | undefined;
}

/** Attributes for a `picture` element's `source` elements and its `img`. */
export interface Picture {
  readonly sources: readonly {
    readonly type: string;
    readonly srcset: string;
    readonly sizes?: string | undefined;
  }[];
  readonly img: {
    readonly src: string;
    readonly srcset?: string | undefined;
    readonly sizes?: string | undefined;
    /**
     * The layout size with `fixed`, otherwise the largest candidate's size. Together with CSS it
     * prevents layout shifts.
     */
    readonly width?: number | undefined;
    readonly height?: number | undefined;
  };
}

/** The source and the options of an image URL. */
export interface ParsedUrl {
  readonly src: string;
  readonly options: ImageOptions;
}

export interface ImageUrls {
  /**
   * Returns an image's URL. A source that stays unchanged, such as a `data:` URL, is returned as
   * is.
   */
  url(src: string, options?: ImageOptions): string;
  /** Returns an `img`'s `srcset`; empty for a source that stays unchanged. */
  srcset(src: string, options?: SrcsetOptions): string;
  /**
   * Returns a `picture` element's attributes. `fmt` sets the format of its `img`; `auto` by
   * default.
   */
  picture(src: string, options?: PictureOptions): Picture;
  /**
   * Fetches a small image as a data URI, to show until the image loads; with `fmt: 'blurhash'` or
   * `fmt: 'thumbhash'`, fetches that hash. Returns null for a source that stays unchanged.
   *
   * @throws Error with the service's message
   */
  placeholder(src: string, options?: ImageOptions, init?: RequestInit): Promise<string | null>;
  /**
   * Fetches facts about a source, and about the image with these options: size, colours, focus,
   * hash and EXIF. Returns null for a source that stays unchanged.
   *
   * @throws Error with the service's message
   */
  facts(src: string, options?: ImageOptions, init?: RequestInit): Promise<ImageFacts | null>;
  /** The inverse of `url`; null for a URL that is not an image of this project. */
  parse(url: string): ParsedUrl | null;
}
