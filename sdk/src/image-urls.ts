import {
  type Candidate,
  candidatesOf,
  type ImageFormat,
  type SrcsetOptions,
} from './candidates.ts';
import { checkImage } from './checks.ts';
import type { ImageOptions } from './generated/parameters.ts';
import type { ApiError, ImageFacts } from './generated/schemas.ts';
import { readUrl } from './read.ts';
import { encode, textsOf } from './write.ts';

export interface ImageUrlsOptions {
  /** The address of the service or of the CDN in front of it, such as `https://images.example.com`. */
  readonly baseUrl: string;
  /** The id of the project, such as `prj_32gx1acb9wtykf3m`. */
  readonly project: string;
  /** The address of your site, by which relative sources become absolute. */
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

const defaultFormats: readonly ImageFormat[] = ['avif', 'webp'];

/** Whether an image is an animation, or may be one as far as its URL tells. */
function mayBeAnimated(src: string, { sourceFrames, animated, page }: PictureOptions): boolean {
  if (animated === false || page !== undefined) return false;
  return sourceFrames ? sourceFrames > 1 : /\.(gif|webp)$/i.test(src.replace(/[?#].*$/s, ''));
}

/** Bundlers replace the text `process.env.NODE_ENV` by a constant. */
declare const process: { readonly env: { readonly NODE_ENV?: string } };

let check: typeof checkImage = () => {};
try {
  if (process.env.NODE_ENV !== 'production') check = checkImage;
} catch {
  // Browsers without a bundler, and some edge runtimes, have no `process`.
}

/** The source as an absolute URL; null if it cannot be one. */
function absolute(src: string, origin: string | undefined): string | null {
  if (/^https?:\/\//i.test(src)) return src;
  try {
    const { href } = new URL(src, origin);
    return /^https?:\/\//i.test(href) ? href : null;
  } catch {
    return null;
  }
}

async function load(url: string, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  if (response.ok) return response;
  const body = (await response.json().catch(() => null)) as ApiError | null;
  throw new Error(body?.message ?? response.statusText);
}

/** Functions that write the image URLs of a project, and read them. */
export function createImageUrls(settings: ImageUrlsOptions): ImageUrls {
  const { baseUrl, project, origin, maxWidth, sign, passthrough } = settings;
  const prefix = `${baseUrl.replace(/\/+$/, '')}/img/`;

  /** Null for a source that stays as it is. */
  function write(src: string, options: object = {}): string | null {
    if (/^(data|blob):/i.test(src) || src.startsWith(prefix) || passthrough?.(src)) return null;
    const source = absolute(src, origin);
    const texts = textsOf(options);
    check(source ?? src, project, texts);
    if (source === null) return null;
    const query = texts.map(([name, text]) => `&${name}=${encode(text)}`).join('');
    const written = `${prefix}${encode(source)}?project=${encode(project)}${query}`;
    return sign ? sign(written) : written;
  }

  const url = (src: string, options?: object): string => write(src, options) ?? src;
  const join = (src: string, candidates: readonly Candidate[]): string =>
    candidates
      .map(({ descriptor, options }) => [write(src, options), descriptor])
      .filter(([written]) => written)
      .map((pair) => pair.join(' '))
      .join(', ');
  const candidates = (options: SrcsetOptions) => candidatesOf(options, maxWidth || Infinity);
  const srcset = (src: string, options: SrcsetOptions = {}): string =>
    join(src, candidates(options).all);

  return {
    url,
    srcset,
    picture(src, given = {}) {
      const defaults = mayBeAnimated(src, given) ? defaultFormats.slice(1) : defaultFormats;
      const { formats = defaults, sizes, fmt = 'auto', sourceFrames: _, ...options } = given;
      const { all, size } = candidates({ ...options, fmt });
      const first = all[options.fixed ? 0 : all.length >> 1];
      const set = join(src, all) || undefined;
      return {
        sources: set
          ? formats.map((format) => ({
              type: `image/${format}`,
              srcset: srcset(src, { ...options, fmt: format }),
              sizes,
            }))
          : [],
        img: { src: url(src, first?.options), srcset: set, sizes, ...size },
      };
    },
    async placeholder(src, options, init) {
      const written = write(src, { fmt: 'lqip', ...options });
      return written === null ? null : (await load(written, init)).text();
    },
    async facts(src, options, init) {
      const written = write(src, { ...options, fmt: 'json' });
      return written === null ? null : ((await load(written, init)).json() as Promise<ImageFacts>);
    },
    parse(written) {
      try {
        const read = readUrl(written.slice(prefix.length));
        const isOwn = written.startsWith(prefix) && read.project === project;
        return isOwn && read.src ? { src: read.src, options: read.options } : null;
      } catch {
        return null;
      }
    },
  };
}
