import type { SrcsetOptions } from './candidates.ts';
import type { ImageFormat, ImageOptions } from './generated/parameters.ts';
import type { ImageFacts } from './generated/schemas.ts';

export interface ImageUrlsOptions {
  /** The address of the service or of the CDN in front of it, such as `https://images.example.com`. */
  readonly baseUrl: string;
  /** The id of the project, such as `prj_32gx1acb9wtykf3m`. */
  readonly project: string;
  /**
   * The address of your site, by which relative sources become absolute. Without it, `src: '/coast.jpg'` is a path on
   * the `origin` of the project.
   */
  readonly origin?: string | undefined;
  /** The `maxWidth` of the project, in device pixels. */
  readonly maxWidth?: number | null | undefined;
  /** Signs each URL: a signer of `@image-delivery/sdk/sign`. */
  readonly sign?: ((url: string) => string) | undefined;
  /** Whether a source stays as it is, such as one that the service cannot reach in development. */
  readonly passthrough?: ((src: string) => boolean) | undefined;
}

export interface PictureOptions extends SrcsetOptions {
  /**
   * The formats that browsers may choose, the best one first; by default AVIF and WebP, and only WebP for a source
   * that may be an animation, of which an AVIF is a still image.
   */
  readonly formats?: readonly ImageFormat[] | undefined;
  /**
   * The frames of the source, as `facts` tells them: more than 1 are an animation. Without it, sources whose path
   * ends in `.gif` or `.webp` may be animations.
   */
  readonly sourceFrames?: number | undefined;
  /** The width of the image in the layout, such as `(max-width: 800px) 100vw, 800px`. */
  readonly sizes?: string | undefined;
}

/** The attributes of a `picture` element: of its `source` elements, and of its `img`. */
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
    /** The size in the layout with `fixed`, else that of the largest candidate. With CSS it prevents layout shifts. */
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
  /** The URL of an image. A source that stays as it is, such as a `data:` URL, is returned. */
  url(src: string, options?: ImageOptions): string;
  /** The `srcset` of an `img`, empty for a source that stays as it is. */
  srcset(src: string, options?: SrcsetOptions): string;
  /** The attributes of a `picture` element. `fmt` is the format of its `img`, `auto` by default. */
  picture(src: string, options?: PictureOptions): Picture;
  /**
   * Fetches a small picture as a data URI, to show until the image is loaded; with `fmt: 'blurhash'` or
   * `fmt: 'thumbhash'` that hash. Null for a source that stays as it is.
   *
   * @throws Error with the message of the service
   */
  placeholder(src: string, options?: ImageOptions, init?: RequestInit): Promise<string | null>;
  /**
   * Fetches facts about a source, and about the image with these options: size, colours, focus, hash and EXIF.
   * Null for a source that stays as it is.
   *
   * @throws Error with the message of the service
   */
  facts(src: string, options?: ImageOptions, init?: RequestInit): Promise<ImageFacts | null>;
  /** The inverse of `url`; null for a URL that is not an image of this project. */
  parse(url: string): ParsedUrl | null;
}
