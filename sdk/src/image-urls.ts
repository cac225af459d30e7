import { type Candidate, createCandidates, type SrcsetOptions } from './candidates.ts';
import { type CheckParts, createChecked } from './checks.ts';
import type { ImageFormat } from './generated/parameters.ts';
import type { ApiError, ImageFacts } from './generated/schemas.ts';
import type { ImageUrls, ImageUrlsOptions, PictureOptions } from './interface.ts';
import { encode, readUrl, toTexts } from './url-text.ts';

/** Returns whether an image is animated or could be, judging by its URL. */
const mayBeAnimated = (src: string, { sourceFrames, animated, page }: PictureOptions): boolean =>
  animated !== false &&
  page === undefined &&
  (sourceFrames ? sourceFrames > 1 : /^[^?#]*\.(gif|webp)(?![^?#])/i.test(src));

/**
 * Returns the source as an absolute URL, or as a path if only the service knows the site; null if
 * neither is possible.
 */
function toSource(src: string, origin: string | undefined): string | null {
  if (/^https?:\/\//i.test(src)) return src;
  if (origin === undefined && /^\/(?![\t\n\r]*[/\\])/.test(src)) return src;
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

function createUnchecked(settings: ImageUrlsOptions, check?: CheckParts): ImageUrls {
  const { baseUrl, project, origin, maxWidth, sign, passthrough } = settings;
  const prefix = `${baseUrl.replace(/\/+$/, '')}/img/`;

  /** Returns null for a source that stays unchanged. */
  function write(src: string, options: object = {}): string | null {
    if (/^(data|blob):/i.test(src) || src.startsWith(prefix) || passthrough?.(src)) return null;
    const source = toSource(src, origin);
    const texts = toTexts(options);
    check?.(src, source, texts);
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
  const candidates = (options: SrcsetOptions) => createCandidates(options, maxWidth || Infinity);
  const srcset = (src: string, options: SrcsetOptions = {}): string =>
    join(src, candidates(options).all);

  return {
    url,
    srcset,
    picture(src, given = {}) {
      const defaults: readonly ImageFormat[] = mayBeAnimated(src, given)
        ? ['webp']
        : ['avif', 'webp'];
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

/** Bundlers replace the text `process.env.NODE_ENV` by a constant, and leave out the checks for production. */
declare const process: { readonly env: { readonly NODE_ENV?: string } };

/**
 * Creates functions that write and read a project's image URLs.
 * @throws TypeError in development for mistakes in the options; so do the functions
 */
let create: (settings: ImageUrlsOptions) => ImageUrls = createUnchecked;
try {
  if (process.env.NODE_ENV !== 'production') create = createChecked(createUnchecked);
} catch {
  // Browsers without a bundler, and some edge runtimes, lack `process`.
}

export { create as createImageUrls };
