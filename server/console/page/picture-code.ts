import { imageUrl, type PageImage, type ParameterTexts } from './image-url.ts';

/** Facts about the image of the playground. */
export interface ImageFacts {
  /** The origin of the site; frameworks name its images by path. */
  readonly site: string;
  /** Device pixels of the result; null before it is loaded. */
  readonly result: { readonly width: number; readonly height: number } | null;
  /** Device pixels for each CSS pixel. */
  readonly dpr: number;
  readonly source: { readonly pages: number; readonly hasAlpha: boolean } | null;
}

/** Of a side of an output, px. */
const maxSide = 10_000;

/** Parameters that make the width differ from `w`. */
const changeWidth = ['extend', 'rotate', 'trim'] as const;

const escapeAttribute = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');

/** A positive number; 0 for any other value. */
export const positive = (options: ParameterTexts, name: string): number => {
  const number = Number(options[name]);
  return number > 0 ? number : 0;
};

/** Height divided by width, if the options have both; else 0. */
export function proportionOf(options: ParameterTexts): number {
  const width = positive(options, 'w');
  return width === 0 ? 0 : positive(options, 'h') / width;
}

/** The options with a width in device pixels; the height follows in proportion. */
function atWidth(options: ParameterTexts, width: number): ParameterTexts {
  const height = Math.round(width * proportionOf(options));
  const size = { dpr: '1', w: String(width) };
  return { ...options, ...size, ...(height > 0 ? { h: String(height) } : {}) };
}

export interface Layout {
  /** Of the files in device pixels, if their height follows from it; else null. */
  readonly widths: readonly number[] | null;
  /** CSS pixels; 0 if unknown. */
  readonly width: number;
  readonly height: number;
  /** The options of `src`. */
  readonly plain: ParameterTexts;
  /** The candidates of `srcset` with their descriptors. */
  readonly files: ReadonlyArray<readonly [ParameterTexts, descriptor: string]>;
  /** '' for files with the descriptors of densities. */
  readonly sizes: string;
}

/** How the image of a request is used on a page. */
export function layoutOf(options: ParameterTexts, { result, dpr }: ImageFacts): Layout {
  const requested = positive(options, 'w');
  const { width: resultWidth, height: resultHeight } = result ?? { width: 0, height: 0 };
  const fit = options['fit'] ?? '';
  const hasRequestedWidth =
    requested > 0 &&
    changeWidth.every((name) => (options[name] ?? '') === '') &&
    (positive(options, 'h') === 0 || (fit !== 'inside' && fit !== 'outside'));
  if (!hasRequestedWidth) {
    const atDensity = (density: number) => ({ ...options, dpr: String(density) });
    return {
      widths: null,
      width: Math.round(resultWidth / dpr),
      height: Math.round(resultHeight / dpr),
      sizes: '',
      plain: atDensity(1),
      files: [1, 2].map((density) => [atDensity(density), `${density}x`]),
    };
  }
  // Sources are not enlarged: this is the maximum width.
  const isLimited = resultWidth > 0 && resultWidth < Math.round(requested * dpr);
  const maxWidth = isLimited ? resultWidth : maxSide;
  const width = Math.min(requested, maxWidth);
  // Also smaller widths for narrow screens and larger ones for dense screens.
  const wanted = [0.5, 1, 2, dpr].map((factor) =>
    Math.min(maxWidth, Math.max(1, Math.round(requested * factor))),
  );
  const widths = [...new Set(wanted)].sort((a, b) => a - b);
  return {
    widths,
    width,
    height: resultWidth > 0 ? Math.max(1, Math.round((width * resultHeight) / resultWidth)) : 0,
    sizes: `(max-width: ${width}px) 100vw, ${width}px`,
    plain: atWidth(options, width),
    files: widths.map((one) => [atWidth(options, one), `${one}w`]),
  };
}

/** A format that all browsers support, and better ones that most support. */
export function formatsOf(options: ParameterTexts, { source }: ImageFacts) {
  const chosen = options['fmt'] ?? '';
  if (chosen !== '' && chosen !== 'auto') return { better: [], plain: chosen };
  const isStill = /^(?:0|false)$/.test(options['animated'] ?? '') || (options['page'] ?? '') !== '';
  // Animations are never AVIF.
  if (source !== null && source.pages > 1 && !isStill) return { better: ['webp'], plain: 'gif' };
  return {
    better: ['avif', 'webp'],
    plain: source === null ? '' : source.hasAlpha ? 'png' : 'jpeg',
  };
}

/** A `picture` element; its width and height prevent layout shifts. */
export function pictureCode(baseUrl: string, request: PageImage, facts: ImageFacts): string {
  const { width, height, plain, files, ...layout } = layoutOf(request.options, facts);
  const sizes = layout.sizes === '' ? '' : ` sizes="${layout.sizes}"`;
  const formats = formatsOf(request.options, facts);
  const url = (options: ParameterTexts, fmt: string) =>
    escapeAttribute(imageUrl(baseUrl, { ...request, options: { ...options, fmt } }));
  const srcset = (fmt: string) =>
    files.map(([options, descriptor]) => `${url(options, fmt)} ${descriptor}`).join(',\n    ');
  const sources = formats.better.map(
    (fmt) => `  <source type="image/${fmt}"${sizes} srcset="\n    ${srcset(fmt)}">`,
  );
  const box = width > 0 && height > 0 ? `width="${width}" height="${height}" ` : '';
  const image = `  <img src="${url(plain, formats.plain)}"${sizes} srcset="\n    ${srcset(formats.plain)}"
    ${box}style="max-width: 100%; height: auto" alt="" loading="lazy" decoding="async">`;
  return ['<picture>', ...sources, image, '</picture>'].join('\n');
}
