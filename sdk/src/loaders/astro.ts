import { createCandidates, type SrcsetOptions } from '../candidates.ts';
import { checkSettings } from '../checks.ts';
import { defaultWidths, type ImageOptions } from '../generated/parameters.ts';
import { createImageUrls } from '../image-urls.ts';
import type { ImageUrlsOptions } from '../interface.ts';
import { imageOptions } from './image-options.ts';

/** An image as Astro gives it to a service: the properties of its component. */
export interface Transform {
  /** An image's address, or an imported image. */
  readonly src: string | ImportedImage;
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  readonly widths?: readonly number[] | undefined;
  readonly densities?: readonly (number | `${number}x`)[] | undefined;
  readonly quality?: number | string | undefined;
  readonly format?: string | undefined;
  readonly fit?: string | undefined;
  readonly position?: string | undefined;
  readonly background?: string | undefined;
  readonly [attribute: string]: unknown;
}

export interface ImportedImage {
  readonly src: string;
  readonly width: number;
  readonly height: number;
  readonly format: string;
}

/** A candidate of a srcset: its image, and the attributes of a `source` that has it. */
export interface SrcsetValue {
  readonly transform: Transform;
  readonly descriptor: string;
  readonly attributes: { readonly type?: string };
}

/** This service's part of the Astro configuration: `image.service.config`. */
export interface ImageConfig {
  readonly service: { readonly config: Readonly<Record<string, unknown>> };
}

/** The external image service of Astro. */
export interface ImageService {
  validateOptions(options: Transform, config?: ImageConfig): Transform;
  getURL(options: Transform, config?: ImageConfig): string;
  getSrcSet(options: Transform, config?: ImageConfig): SrcsetValue[];
  getHTMLAttributes(options: Transform, config?: ImageConfig): Record<string, unknown>;
}

const isVector = ({ src, format }: Transform): boolean =>
  format === 'svg' || (typeof src === 'object' && src.format === 'svg');

/** Qualities that Astro has as words. */
const qualities: Readonly<Record<string, number>> = { low: 40, mid: 60, high: 80, max: 100 };
/** Maps CSS's terms, as used by Astro, to the service's. */
const fits: Readonly<Record<string, ImageOptions['fit']>> = {
  contain: 'contain',
  cover: 'cover',
  fill: 'fill',
  inside: 'inside',
  outside: 'outside',
  'scale-down': 'inside',
};

/** The sides of the image in the layout. */
function toSize({ src, width, height }: Transform): { width: number; height: number } {
  const source = typeof src === 'object' ? src : { width: 0, height: 0 };
  const ratio = source.width / source.height;
  const given = width || Math.round((height ?? 0) * ratio) || source.width;
  return { width: given, height: height || Math.round(given / ratio) };
}

/** Returns the options shared by all of an image's candidates. */
function srcsetOptions(transform: Transform): SrcsetOptions {
  const { src, fit = 'cover', format } = transform;
  const { width, height } = toSize(transform);
  const source = typeof src === 'object' ? src : undefined;
  // Layouts round their sides.
  const isWhole = source && Math.abs(height - (width * source.height) / source.width) < 1;
  return {
    ratio: isWhole ? undefined : width / height,
    fit: isWhole ? undefined : (fits[fit] as SrcsetOptions['fit']),
    fmt: (format ?? 'auto') as SrcsetOptions['fmt'],
    sourceWidth: source?.width,
    sourceHeight: source?.height,
    // If the source's size is unknown, enlarges candidates to the pixels that they claim.
    enlarge: source ? undefined : true,
  };
}

/** The exact candidates of these widths, in device pixels. */
const candidates = (transform: Transform, widths: readonly number[], maxWidth: unknown) =>
  createCandidates({ ...srcsetOptions(transform), widths }, Number(maxWidth) || Infinity).all;

/**
 * Creates an external Astro image service. By default it reads the options that `imageDelivery`
 * writes to the configuration; a module that passes other options, such as `sign`, is the
 * `entrypoint` of `image.service`.
 */
export function createService(given?: ImageUrlsOptions): ImageService {
  const getSettings = (config?: ImageConfig) =>
    given ?? (config?.service.config as unknown as ImageUrlsOptions);
  return {
    validateOptions(options) {
      const { width, height } = toSize(options);
      if (!(width > 0 && height > 0)) {
        throw new TypeError(`The image ${options.src} needs width and height, or inferSize.`);
      }
      return options;
    },
    getURL(options, config) {
      const { src, quality = '', position, background } = options;
      const settings = getSettings(config);
      const { url } = createImageUrls(settings);
      const address = typeof src === 'object' ? src.src : src;
      if (isVector(options)) return address;
      const [candidate] = candidates(options, [toSize(options).width], settings.maxWidth);
      const chosen = {
        quality: qualities[quality] ?? quality,
        pos: position?.replace(/\s+/g, ' ') as ImageOptions['pos'],
        bg: background,
      };
      const { q, pos, bg } = imageOptions(chosen);
      return url(address, { ...candidate?.options, q, pos, bg });
    },
    getSrcSet(options, config) {
      if (isVector(options)) return [];
      const { maxWidth } = getSettings(config);
      const { width } = toSize(options);
      const { widths, densities, ...transform } = options;
      const steps = densities?.map((density) => Number.parseFloat(String(density)) * width);
      return candidates(options, steps ?? widths ?? [], maxWidth).map(({ w, options: { h } }) => ({
        transform: { ...transform, width: w, height: h ?? undefined },
        descriptor: steps ? `${Number((w / width).toFixed(4))}x` : `${w}w`,
        attributes: options.format ? { type: `image/${options.format}` } : {},
      }));
    },
    getHTMLAttributes(options) {
      const { src, quality, format, widths, densities, formats, ...attributes } = options;
      const { layout, priority, fit, position, background, inferSize, ...others } = attributes;
      return { loading: 'lazy', decoding: 'async', ...others, ...toSize(options) };
    },
  };
}

/** The parts of an Astro integration that this module uses. */
export interface Integration {
  readonly name: string;
  readonly hooks: {
    readonly 'astro:config:setup': (setup: {
      readonly command: string;
      readonly config: { readonly site?: string | undefined };
      updateConfig(change: object): unknown;
    }) => void;
  };
}

/**
 * Creates the Astro integration. Builds use this module's image service, with `site` as the origin
 * for imported images, and its width steps. The development server keeps Astro's own service,
 * because the image service cannot reach a development server.
 */
export function imageDelivery(
  options: Pick<ImageUrlsOptions, 'baseUrl' | 'project' | 'origin' | 'maxWidth'> & {
    /** A module whose default export is another service, such as a signing service. */
    readonly entrypoint?: string | undefined;
  },
): Integration {
  const { entrypoint = '@image-delivery/sdk/astro', ...settings } = options;
  return {
    name: '@image-delivery/sdk',
    hooks: {
      'astro:config:setup': ({ command, config: { site }, updateConfig }) => {
        const config = { origin: site, ...settings };
        checkSettings(config);
        if (command === 'dev') return;
        updateConfig({
          image: { service: { entrypoint, config }, breakpoints: [...defaultWidths] },
        });
      },
    },
  };
}

export default createService();
