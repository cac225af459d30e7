import { createCandidates, type SrcsetOptions } from '../candidates.ts';
import { createImageUrls } from '../image-urls.ts';
import type { ImageUrlsOptions } from '../interface.ts';
import { type FrameworkOptions, imageOptions } from './image-options.ts';

export type Operations = FrameworkOptions;

/** A source and the operations applied to it. */
export interface Extracted {
  readonly src: string;
  readonly operations: Operations;
  readonly options: ImageUrlsOptions;
}

/** The inverse of `generate`; null for a URL that is not an image of this project. */
export function extract(url: string | URL, options: ImageUrlsOptions): Extracted | null {
  const parsed = createImageUrls(options).parse(String(url));
  if (parsed === null) return null;
  const { w: width, h: height, q: quality, fmt: format, dpr: _, ...others } = parsed.options;
  return { src: parsed.src, operations: { ...others, width, height, quality, format }, options };
}

/** Returns the URL for a source's image. */
export const generate = (
  src: string | URL,
  operations: Operations,
  options: ImageUrlsOptions,
): string => createImageUrls(options).url(String(src), imageOptions(operations));

/**
 * Returns an image URL for a source, or for the source of another of the project's image URLs.
 * Works as the `transformer` for the base components of `@unpic/*`.
 *
 * @throws TypeError if options are missing
 */
export function transform(
  src: string | URL,
  operations: Operations,
  options?: ImageUrlsOptions,
): string {
  if (options === undefined) throw new TypeError('Pass the options baseUrl and project.');
  const extracted = extract(src, options);
  return extracted === null
    ? generate(src, operations, options)
    : generate(extracted.src, { ...extracted.operations, ...operations }, options);
}

/**
 * The `breakpoints` of a base component: the steps of the service up to the widest image that it can make of a
 * source.
 */
export const breakpoints = (
  options: Omit<SrcsetOptions, 'fixed'> & Pick<ImageUrlsOptions, 'maxWidth'> = {},
): number[] => createCandidates(options, options.maxWidth || Infinity).all.map(({ w }) => w);
