import { imageUrl, type PageImage, type ParameterTexts } from '../api/image-url.ts';

/** Facts about the playground's image. */
export interface PictureFacts {
  /** The site's origin; frameworks name its images by path. */
  readonly site: string;
  /** Device pixels of the result. */
  readonly result: Sides;
  /** Device pixels per CSS pixel. */
  readonly dpr: number;
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

/** Parameters that determine the remaining source area before the resize. */
export const areaParameters = ['crop', 'trim', 'rotate', 'page', 'v', 'lenient'] as const;

/** Parameters that make the width differ from `w`. */
const changeWidth = ['extend', 'rotate', 'trim'] as const;

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

/** Returns whether the service can enlarge the source for these options. */
const mayEnlarge = (options: ParameterTexts, { source }: PictureFacts): boolean =>
  isOn(options, 'enlarge') || source.format === 'svg';

/** Returns the largest output width with the options' proportion, in device pixels. */
function largestWidth(options: ParameterTexts, facts: PictureFacts): number {
  if (mayEnlarge(options, facts)) return maxSide;
  const { width, height } = facts.source;
  const proportion = computeProportion(options);
  if (proportion === 0) return width;
  const sides = [width, Math.floor(height / proportion)];
  return options['fit'] === 'contain' ? Math.max(...sides) : Math.min(...sides);
}

/** Returns the largest factor by which the output can grow, at least 1. */
function largestDensity(options: ParameterTexts, facts: PictureFacts): number {
  const box = [positive(options, 'w'), positive(options, 'h')] as const;
  // The source itself, at any density.
  if (box[0] === 0 && box[1] === 0) return 1;
  if (mayEnlarge(options, facts)) return maxSide;
  const { width, height } = facts.source;
  const scales = [box[0] / width, box[1] / height].filter((scale) => scale > 0);
  const scale = options['fit'] === 'inside' ? Math.min(...scales) : Math.max(...scales);
  return Math.max(1, 1 / scale);
}

/** Returns the options with a width in device pixels and a proportional height. */
function atWidth(options: ParameterTexts, width: number): ParameterTexts {
  const height = Math.round(width * computeProportion(options));
  const size = { dpr: '1', w: String(width) };
  return { ...options, ...size, ...(height > 0 ? { h: String(height) } : {}) };
}

export interface Layout extends Sides {
  /**
   * File widths in device pixels, if the height follows from the width, else null. The layout is in
   * CSS pixels.
   */
  readonly widths: readonly number[] | null;
  /** The options of `src`. */
  readonly plain: ParameterTexts;
  /**
   * `srcset` candidates with descriptors, empty if `src` already includes all pixels of the source.
   */
  readonly files: ReadonlyArray<readonly [ParameterTexts, descriptor: string]>;
  /** '' if the descriptors are densities. */
  readonly sizes: string;
}

/** Returns the layout that suits a requested image on a page. */
export function computeLayout(options: ParameterTexts, facts: PictureFacts): Layout {
  const { result, dpr } = facts;
  const requested = positive(options, 'w');
  const fit = options['fit'] ?? '';
  const hasRequestedWidth =
    requested > 0 &&
    changeWidth.every((name) => (options[name] ?? '') === '') &&
    (positive(options, 'h') === 0 || (fit !== 'inside' && fit !== 'outside'));
  if (!hasRequestedWidth) return layoutOfDensities(options, facts);
  // A project can limit the width too.
  const isLimited = result.width < Math.round(requested * dpr);
  const maxWidth = isLimited ? result.width : largestWidth(options, facts);
  const width = Math.min(requested, maxWidth);
  // Add smaller widths for narrow screens, and larger widths for dense screens.
  const wanted = [0.5, 1, 2, dpr].map((factor) =>
    Math.min(maxWidth, Math.max(1, Math.round(requested * factor))),
  );
  const widths = [...new Set(wanted)].sort((a, b) => a - b);
  return {
    widths,
    width,
    height: Math.max(1, Math.round((width * result.height) / result.width)),
    sizes: `(max-width: ${width}px) 100vw, ${width}px`,
    plain: atWidth(options, width),
    files: widths.map((candidate) => [atWidth(options, candidate), `${candidate}w`]),
  };
}

function layoutOfDensities(options: ParameterTexts, facts: PictureFacts): Layout {
  const { result, dpr } = facts;
  const isSized = positive(options, 'w') > 0 || positive(options, 'h') > 0;
  const atDensity = (density: number) => ({ ...options, dpr: String(density) });
  const largest = largestDensity(options, facts);
  // The result lacks pixels for its density if the source does.
  const shown = isSized ? Math.min(dpr, largest) : 1;
  const best = Number(Math.min(2, largest).toFixed(2));
  return {
    widths: null,
    width: Math.round(result.width / shown),
    height: Math.round(result.height / shown),
    sizes: '',
    plain: isSized ? atDensity(1) : options,
    files: best === 1 ? [] : [1, best].map((density) => [atDensity(density), `${density}x`]),
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

/** Returns a `picture` element; its width and height prevent layout shifts. */
export function pictureCode(baseUrl: string, request: PageImage, facts: PictureFacts): string {
  const { width, height, plain, files, ...layout } = computeLayout(request.options, facts);
  const sizes = layout.sizes === '' ? '' : ` sizes="${layout.sizes}"`;
  const formats = chooseFormats(request.options, facts);
  const url = (options: ParameterTexts, fmt: string) =>
    escapeAttribute(imageUrl(baseUrl, { ...request, options: { ...options, fmt } }));
  const srcset = (fmt: string) =>
    files.length === 0
      ? `"${url(plain, fmt)}"`
      : `"\n    ${files.map(([options, descriptor]) => `${url(options, fmt)} ${descriptor}`).join(',\n    ')}"`;
  const sources = formats.better.map(
    (fmt) => `  <source type="image/${fmt}"${sizes} srcset=${srcset(fmt)}>`,
  );
  const set = files.length === 0 ? '' : `${sizes} srcset=${srcset(formats.plain)}`;
  const image = `  <img src="${url(plain, formats.plain)}"${set}
    width="${width}" height="${height}" style="max-width: 100%; height: auto" alt="" loading="lazy" decoding="async">`;
  return ['<picture>', ...sources, image, '</picture>'].join('\n');
}
