import type { SrcsetOptions } from '@image-delivery/sdk';
import {
  createUrls,
  imageOptions,
  imageUrl,
  type PageImage,
  type ParameterTexts,
} from '../api/image-url.ts';

/** Facts about the playground's image. */
export interface PictureFacts {
  /** The site's origin; frameworks name its images by path. */
  readonly site: string;
  /** Device pixels of the result. */
  readonly result: Sides;
  /** Device pixels per CSS pixel. */
  readonly dpr: number;
  /** The project's default for `fit`, if it is not the SDK's. */
  readonly fit?: string | undefined;
  /** Whether a border makes the width differ from `w`. */
  readonly hasBorder: boolean;
  /** The source, with the sides that remain after `crop`, `trim` and `rotate`. */
  readonly source: Sides & {
    readonly format: string;
    readonly frames: number;
    readonly hasAlpha: boolean;
  };
}

interface Sides {
  readonly width: number;
  readonly height: number;
}

/** Maximum output side, px. */
const maxSide = 10_000;

const escapeAttribute = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');

/** Returns a positive number, or 0 for any other value. */
export const positive = (options: ParameterTexts, name: string): number => {
  const number = Number(options[name]);
  return number > 0 ? number : 0;
};

const isOn = (options: ParameterTexts, name: string): boolean =>
  !/^(?:|0|false)$/.test(options[name] ?? '');

/** Returns the options, with the side that follows from the aspect ratio and the other side. */
export function withBothSides({ ar = '', ...options }: ParameterTexts): ParameterTexts {
  const [across, down = 1] = ar.split(':').map(Number);
  const ratio = (across ?? 0) / down;
  const [w, h] = [positive(options, 'w'), positive(options, 'h')];
  if (!(ratio > 0) || w > 0 === h > 0) return ar === '' ? options : { ...options, ar };
  const side = (pixels: number) => String(Math.max(1, Math.round(pixels)));
  return w > 0 ? { ...options, h: side(w / ratio) } : { ...options, w: side(h * ratio) };
}

/** Returns height divided by width if both are set, else 0. */
export function computeProportion(options: ParameterTexts): number {
  const width = positive(options, 'w');
  return width === 0 ? 0 : positive(options, 'h') / width;
}

/** Returns the scales of the requested sides. */
function requestedScales(options: ParameterTexts, { source }: PictureFacts): readonly number[] {
  const scale = (name: string, whole: number) => {
    const [, percent] = /^([\d.]+)[p%]$/.exec(options[name] ?? '') ?? [];
    return percent === undefined ? positive(options, name) / whole : Number(percent) / 100;
  };
  return [scale('w', source.width), scale('h', source.height)].filter(Boolean);
}

/** Returns the largest factor by which the output can grow, at least 1. */
function largestDensity(options: ParameterTexts, facts: PictureFacts): number {
  const { format } = facts.source;
  const scales = requestedScales(options, facts);
  // The source itself, at any density.
  if (scales.length === 0) return 1;
  if (isOn(options, 'enlarge') || format === 'svg') return maxSide;
  const scale = options['fit'] === 'inside' ? Math.min(...scales) : Math.max(...scales);
  return Math.max(1, 1 / scale);
}

/** How a page shows an image, in CSS pixels. */
export interface Layout extends Sides {
  /** The device pixels of each file, if the height follows from the width, else null. */
  readonly widths: readonly number[] | null;
}

/** Returns the layout that suits a requested image on a page. */
export function computeLayout(options: ParameterTexts, facts: PictureFacts): Layout {
  const { result, dpr } = facts;
  const requested = positive(options, 'w');
  const isBox = positive(options, 'h') > 0 && /^(?:in|out)side$/.test(options['fit'] ?? '');
  if (requested === 0 || isBox || facts.hasBorder) {
    const isSized = requestedScales(options, facts).length > 0;
    // The result lacks pixels for its density if the source does.
    const shown = isSized ? Math.min(dpr, largestDensity(options, facts)) : 1;
    const [width, height] = [result.width / shown, result.height / shown];
    return { widths: null, width: Math.round(width), height: Math.round(height) };
  }
  // The source or the project's maximum limits the width.
  const limit = result.width < Math.round(requested * dpr) ? result.width : maxSide;
  const width = Math.min(requested, limit);
  // Add smaller widths for narrow screens, and larger widths for dense screens.
  const wanted = [0.5, 1, 2, dpr].map((factor) =>
    Math.min(limit, Math.max(1, Math.round(requested * factor))),
  );
  return {
    widths: [...new Set(wanted)].sort((a, b) => a - b),
    width,
    height: Math.max(1, Math.round((width * result.height) / result.width)),
  };
}

/** Returns a format that all browsers support, and better formats that most support. */
export function chooseFormats(
  options: ParameterTexts,
  { source }: { readonly source: Pick<PictureFacts['source'], 'frames' | 'hasAlpha'> },
) {
  const chosen = options['fmt'] ?? '';
  if (chosen !== '' && chosen !== 'auto') return { better: [], plain: chosen };
  const isStill = /^(?:0|false)$/.test(options['animated'] ?? '') || (options['page'] ?? '') !== '';
  // Animations are never AVIF.
  if (source.frames > 1 && !isStill) return { better: ['webp'], plain: 'gif' };
  return { better: ['avif', 'webp'], plain: source.hasAlpha ? 'png' : 'jpeg' };
}

/** Returns the options that frameworks do not set themselves, which excludes sizes. */
export function fixedOptions(texts: ParameterTexts) {
  const { w, h, dpr, ...options } = imageOptions(texts);
  return options;
}

/** Returns the source's sides, which limit and shape the candidates of a srcset. */
export function toSides(options: ParameterTexts, { source }: PictureFacts) {
  const proportion = computeProportion(options);
  const ratio = proportion > 0 ? 1 / proportion : undefined;
  // An SVG has a shape, but no maximum size.
  if (source.format === 'svg') return { ratio: ratio ?? source.width / source.height };
  return { ratio, sourceWidth: source.width, sourceHeight: source.height };
}

/** Returns the options of the SDK's `picture`, or null if they do not apply. */
export function pictureOptions(options: ParameterTexts, facts: PictureFacts) {
  const { widths, width } = computeLayout(options, facts);
  if (widths === null) return null;
  const { fmt, ...fixed } = fixedOptions(options);
  const { better, plain } = chooseFormats(options, facts);
  const sizes = `(max-width: ${width}px) 100vw, ${width}px`;
  const sides = toSides(options, facts);
  return { fit: facts.fit, ...fixed, widths, sizes, ...sides, formats: better, fmt: plain };
}

/** Returns a `picture` element; its width and height prevent layout shifts. */
export function pictureCode(baseUrl: string, request: PageImage, facts: PictureFacts): string {
  const { source, project, options } = request;
  const { width, height } = computeLayout(options, facts);
  const { better, plain } = chooseFormats(options, facts);
  const { sizes, formats: _, ...candidates } = pictureOptions(options, facts) ?? {};
  const isFluid = sizes !== undefined;
  const url = (fmt: string, changes: ParameterTexts) =>
    imageUrl(baseUrl, { ...request, options: { ...options, dpr: '1', fmt, ...changes } });
  const h = Math.round(width * computeProportion(options)) || '';
  const size: ParameterTexts = isFluid ? { w: String(width), h: String(h) } : {};
  const best = Number(Math.min(2, largestDensity(options, facts)).toFixed(2));
  const densities = best === 1 ? [] : ['1', String(best)];
  const files = (fmt: string) =>
    isFluid
      ? createUrls(baseUrl, project).srcset(source, { ...candidates, fmt } as SrcsetOptions)
      : densities.map((dpr) => `${url(fmt, { dpr })} ${dpr}x`).join(', ');
  const srcset = (fmt: string) => files(fmt).replaceAll(', ', ',\n    ');
  const write = (name: string, value = '') =>
    value === '' ? '' : ` ${name}="${escapeAttribute(value)}"`;
  const sources = better.map(
    (fmt) =>
      `  <source type="image/${fmt}"${write('sizes', sizes)}${write('srcset', srcset(fmt) || url(fmt, size))}>`,
  );
  const image = `  <img${write('src', url(plain, size))}${write('sizes', sizes)}${write('srcset', srcset(plain))}
    width="${width}" height="${height}" style="max-width: 100%; height: auto" alt="" loading="lazy" decoding="async">`;
  return ['<picture>', ...sources, image, '</picture>'].join('\n');
}
