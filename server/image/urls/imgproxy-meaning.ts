import { percentDecode } from '../../../contract/url-text.ts';
import { parameters } from '../parameters.ts';
import type { Site } from '../site.ts';
import type { ImgproxyOptions, Placement } from './imgproxy-options.ts';
import { Meaning, noEquivalent, optionInvalid, requireMetadata } from './meaning.ts';

/**
 * Requires the preset to come first: in imgproxy a preset replaces the options before it, and here
 * the URL always replaces the preset.
 */
export function requirePresetFirst(options: ImgproxyOptions, source: URL, site: Site): void {
  const { preset, beforePreset } = options;
  if (preset === null || beforePreset === undefined) return;
  const replaced = Object.keys(site.project.presets?.[preset] ?? {});
  const { parameters } = toMeaning(beforePreset, source, site);
  parameters.delete('preset');
  const both = replaced.find((name) => parameters.has(name));
  if (both !== undefined) {
    throw optionInvalid('preset', `must precede the options that it replaces, such as ${both}`);
  }
}

export function toMeaning(options: ImgproxyOptions, source: URL, site: Site): Meaning {
  const meaning = new Meaning();
  if (options.preset !== null) meaning.set('preset', 'preset', options.preset);
  setSize(meaning, options, site);
  setCrop(meaning, options);
  setTurn(meaning, options);
  setColours(meaning, options);
  setOutput(meaning, options, source);
  setMetadata(meaning, options, site);
  return meaning;
}

const fits: Readonly<Record<string, string>> = {
  fit: 'inside',
  fill: 'cover',
  'fill-down': 'cover',
  force: 'fill',
};

function setSize(meaning: Meaning, options: ImgproxyOptions, site: Site): void {
  const { width, height, preset, resizingType, enlarge, gravity } = options;
  const type = resizingType ?? 'fit';
  const hasBox = width > 0 && height > 0;
  if (type === 'force' && !hasBox && (width > 0 || height > 0) && preset === null) {
    throw optionInvalid('resizing_type', 'force needs a width and a height here');
  }
  const isExtended = setExtend(meaning, options, type);
  if (hasBox || (preset !== null && resizingType !== null)) {
    const isNamed = preset === null || resizingType !== null;
    if (isNamed && !isExtended) meaning.set('resizing_type', 'fit', fits[type] ?? '');
  }
  if ((hasBox && fits[type] === 'cover') || preset !== null) setGravity(meaning, gravity);
  const isBoxKept = enlarge !== true && keepsBox(meaning, options, type);
  const presetEnlarge = preset === null ? undefined : site.project.presets?.[preset]?.['enlarge'];
  if (enlarge === true) meaning.set('enlarge', 'enlarge', true);
  else if (isBoxKept && (enlarge === false || presetEnlarge === undefined)) {
    meaning.set('resizing_type', 'enlarge', 'box');
  } else if (enlarge === false && preset !== null) meaning.set('enlarge', 'enlarge', false);
  setScaledSides(meaning, options, isBoxKept);
}

/**
 * Returns whether the result for a smaller image depends on the box: `fill` and `extend` keep its sides, and padding is
 * scaled by the `dpr` that the image has pixels for.
 */
function keepsBox(meaning: Meaning, options: ImgproxyOptions, type: string): boolean {
  const { width, height, padding, extend, dpr } = options;
  const hasBox = width > 0 && height > 0;
  const fit = meaning.parameters.get('fit');
  const isContained = fit === 'contain';
  if (isContained ? extend : type === 'fill' && hasBox) return true;
  const isPadded = padding.some((edge) => edge > 0) && (width > 0 || height > 0);
  if (!isPadded || (dpr ?? 1) === 1) return false;
  if (fit !== undefined && fit !== 'inside') {
    throw optionInvalid('padding', 'with dpr needs enlarge, or the resizing type fit or fill');
  }
  if (!hasBox) meaning.set('padding', 'fit', 'inside');
  return true;
}

/** Sets the sides and the padding in device pixels, using `dpr` if it has the same effect. */
function setScaledSides(meaning: Meaning, options: ImgproxyOptions, isBoxKept: boolean): void {
  const { width, height, preset, padding, resizingType } = options;
  const [across, down] = options.zoom;
  const isZoomed = across !== 1 || down !== 1;
  const hasSize = width > 0 || height > 0;
  if (isZoomed && (!hasSize || preset !== null || (across !== down && resizingType !== 'force'))) {
    throw optionInvalid('zoom', 'needs a width or a height, and two values need force');
  }
  // Without a size, images are not enlarged, and `dpr` does not scale padding.
  const isKept = !hasSize && preset === null && (options.dpr ?? 1) >= 1 && options.enlarge !== true;
  const dpr = isKept ? 1 : options.dpr;
  const ratio = dpr ?? 1;
  if (!hasSize && preset === null && ratio !== 1) {
    throw optionInvalid('dpr', 'needs a width or a height here');
  }
  const sides = { w: width * across, h: height * down };
  const isWhole = Number.isInteger(sides.w) && Number.isInteger(sides.h);
  const isPlain = isWhole && parameters.dpr.parse(String(ratio)) !== undefined;
  if (!isPlain && preset !== null) throw optionInvalid('dpr', 'must be from 1 to 3 with a preset');
  if (!isPlain && isBoxKept && ratio !== 1) {
    throw optionInvalid(
      'dpr',
      'must be from 1 to 3 with fill, extend or padding, or needs enlarge',
    );
  }
  const factor = isPlain ? 1 : ratio;
  for (const [name, option] of [
    ['w', 'width'],
    ['h', 'height'],
  ] as const) {
    if (sides[name] > 0) meaning.set(option, name, Math.max(1, Math.round(sides[name] * factor)));
  }
  if (dpr !== null || preset === null) meaning.set('dpr', 'dpr', isPlain ? ratio : 1);
  if (padding.some((edge) => edge > 0)) {
    meaning.set('padding', 'extend', padding.map((edge) => Math.round(edge * factor)).join(','));
  }
}

/** Returns whether background extends the image to the box, or to its ratio. */
function setExtend(meaning: Meaning, options: ImgproxyOptions, type: string): boolean {
  const { extend, extendRatio, enlarge, width, height } = options;
  const option = extend ? 'extend' : 'extend_aspect_ratio';
  if (!extend && !extendRatio) return false;
  if (options.preset !== null) throw optionInvalid(option, 'with a preset has no equivalent here');
  const isOneSided = width === 0 || height === 0;
  // The missing side follows from the image, so only a smaller image needs background.
  if (isOneSided && (!extend || enlarge === true || width === height)) return false;
  if (type !== 'fit' && !isOneSided) {
    // An enlarged image fills the box.
    if (enlarge === true) return false;
    throw optionInvalid(option, 'needs the resizing type fit, or enlarge');
  }
  meaning.set(option, 'fit', 'contain');
  const gravity = extend ? options.extendGravity : options.extendRatioGravity;
  if (gravity?.type === 'smart' || gravity?.type === 'point') throw noEquivalent(option);
  setGravity(meaning, gravity, option);
  return true;
}

function setGravity(meaning: Meaning, gravity: Placement | null, option = 'gravity'): void {
  if (gravity === null) return;
  const { type, x, y } = gravity;
  if (type === 'point') return meaning.set(option, 'fp', `${x},${y}`);
  if (x !== 0 || y !== 0) throw optionInvalid(option, 'with offsets has no equivalent here');
  meaning.set(option, 'pos', type === 'smart' ? 'attention' : type);
}

/** A side's whole length: the crop ends at the image's edge. */
const wholeSide = 100_000;

/** Sets a crop from the left and the top. `toCrop` converts other crops to this form. */
function setCrop(meaning: Meaning, options: ImgproxyOptions): void {
  const { crop, trim, rotate, flipHorizontal, flipVertical } = options;
  if (crop === null || (crop.width === 0 && crop.height === 0)) return;
  if (trim !== null) throw optionInvalid('crop', 'with trim has no equivalent here');
  if (rotate !== 0 || flipHorizontal || flipVertical) {
    throw optionInvalid('crop', 'of a rotated or flipped picture has no equivalent here');
  }
  const { x, y } = crop.gravity ?? options.gravity ?? { x: 0, y: 0 };
  const along = (length: number, offset: number) =>
    length === 0
      ? { start: 0, length: wholeSide }
      : { start: Math.max(0, Math.round(offset)), length: Math.floor(length) };
  const across = along(crop.width, x);
  const down = along(crop.height, y);
  meaning.set('crop', 'crop', [across.start, down.start, across.length, down.length].join(','));
}

function setTurn(meaning: Meaning, options: ImgproxyOptions): void {
  const { rotate, flipHorizontal, flipVertical, trim } = options;
  // Colours differ by at least 1, so 0.1 acts like 0.
  if (trim !== null) meaning.set('trim', 'trim', trim === 0 ? 0.1 : trim === 1 ? '1.0001' : trim);
  if (rotate !== 0) meaning.set('rotate', 'rotate', rotate);
  // imgproxy rotates before it flips.
  const isSideways = rotate % 180 !== 0;
  const [flop, flip] = isSideways ? [flipVertical, flipHorizontal] : [flipHorizontal, flipVertical];
  if (flop) meaning.set('flip', 'flop', true);
  if (flip) meaning.set('flip', 'flip', true);
}

function setColours(meaning: Meaning, { background, blur, sharpen }: ImgproxyOptions): void {
  if (background !== null) {
    meaning.set('background', 'bg', background);
    meaning.set('background', 'flatten', true);
  }
  // The parameter reads 0 and 1 as flags, 1 for a sigma of 1.
  if (blur > 0) meaning.set('blur', 'blur', blur);
  if (sharpen > 0) meaning.set('sharpen', 'sharpen', sharpen);
}

function setOutput(meaning: Meaning, options: ImgproxyOptions, source: URL): void {
  const { format, quality, formatQuality, maxBytes, profile } = options;
  if (format !== null) meaning.set('format', 'fmt', format);
  if (quality > 0) meaning.set('quality', 'q', quality);
  else if (formatQuality.size > 0) {
    if (format === null) throw optionInvalid('format_quality', 'needs a format here');
    const ofFormat = formatQuality.get(format) ?? 0;
    if (ofFormat > 0) meaning.set('format_quality', 'q', ofFormat);
  }
  if (maxBytes > 0) meaning.set('max_bytes', 'maxbytes', maxBytes);
  if (profile) meaning.set('strip_color_profile', 'icc', 'keep');
  if (options.version !== null) meaning.set('cachebuster', 'v', options.version);
  if (options.expires > 0) meaning.parameters.set('exp', String(options.expires));
  const { attachment, fileName } = options;
  if (attachment) meaning.set('filename', 'download', fileName ?? toName(source));
  else if (fileName !== null) throw optionInvalid('filename', 'needs return_attachment here');
}

/** Unless told otherwise, imgproxy keeps the copyright when it removes metadata. */
function setMetadata(meaning: Meaning, options: ImgproxyOptions, site: Site): void {
  const { stripMetadata, keepCopyright } = options;
  if (stripMetadata === false) requireMetadata('strip_metadata', site, false);
  else if (keepCopyright === false) requireMetadata('keep_copyright', site, true);
  else if (stripMetadata === true || keepCopyright === true) {
    meaning.set('strip_metadata', 'keep', 'copyright');
  }
}

/** Returns a source's name, excluding its extension. */
function toName({ pathname }: URL): string {
  const [, name = ''] = /([^/]*?)(?:\.[^./]*)?$/.exec(pathname) ?? [];
  return percentDecode(name)?.slice(0, 200) || 'image';
}
