import type { Fit } from '../../../contract/fit-modes.ts';
import { sideGravities } from '../positions.ts';
import { toText } from '../values.ts';
import type { ImgixQuery } from './imgix-query.ts';
import {
  type Meaning,
  noEquivalent,
  optionInvalid,
  readInteger,
  readNumber,
  readRatio,
} from './meaning.ts';

/** Maximum side that imgix delivers, in pixels. */
const maxSide = 8_192;

/** The other service's fit, and the value of `enlarge`. */
const fits: Readonly<Record<string, readonly [Fit, enlarge: boolean | 'box']>> = {
  clip: ['inside', true],
  crop: ['cover', true],
  fill: ['contain', true],
  fillmax: ['contain', 'box'],
  max: ['inside', false],
  min: ['cover', false],
  scale: ['fill', true],
};

interface Box {
  readonly w: number | null;
  readonly h: number | null;
  readonly fit: string;
  /** Whether both sides are known, so that the image is cropped, padded or distorted. */
  readonly hasBoth: boolean;
}

/** @throws ServiceError parameter_invalid */
export function setImgixSize(meaning: Meaning, options: ImgixQuery): void {
  setArea(meaning, options);
  const box = readBox(meaning, options);
  const flip = options.take('flip');
  if (flip !== undefined) meaning.setFlip('flip', flip);
  setBackground(meaning, options, box);
  if (box.fit !== 'crop') return;
  const isPlaced = setPlace(meaning, options, box);
  if (isPlaced && flip !== undefined)
    throw optionInvalid('flip', 'with crop has no equivalent here');
}

/**
 * Sets the source area. Fractions and words depend on the source size, except those for the top
 * left.
 */
function setArea(meaning: Meaning, options: ImgixQuery): void {
  const rect = options.take('rect');
  if (rect === undefined) return;
  const [x = '', y = '', ...sides] = rect.split(',', 5);
  const parts = [x === 'left' ? '0' : x, y === 'top' ? '0' : y, ...sides];
  if (parts.length !== 4 || !parts.every((part) => /^\d{1,6}$/.test(part))) {
    throw optionInvalid('rect', 'must be x,y,w,h in whole pixels');
  }
  meaning.set('rect', 'crop', parts.map(Number).join(','));
}

function readBox(meaning: Meaning, options: ImgixQuery): Box {
  const fit = options.take('fit') ?? 'clip';
  const found = Object.hasOwn(fits, fit) ? fits[fit] : undefined;
  if (found === undefined) throw noEquivalent(`fit=${fit}`);
  const [native, enlarge] = found;
  const isBoxKept = enlarge === 'box';
  const [w, h] = readSides(meaning, options, isBoxKept);
  if (isBoxKept && (w === null || h === null)) {
    throw optionInvalid('fit=fillmax', 'needs w and h here');
  }
  // imgix ignores the ratio for other fits.
  const ar = fit === 'crop' || fit === 'fill' ? options.take('ar') : undefined;
  const ratio = ar === undefined ? null : readRatio('ar', ar);
  if (ratio !== null && w !== null && h !== null) {
    throw optionInvalid('ar', 'with w and h has no equivalent here');
  }
  if (ratio !== null && fit === 'fill' && w === null && h === null) {
    throw optionInvalid('ar', 'with fit=fill needs w or h');
  }
  if (ratio !== null) meaning.set('ar', 'ar', ratio);
  if (enlarge !== false && (w !== null || h !== null)) meaning.set('fit', 'enlarge', enlarge);
  const hasBoth = ratio !== null || (w !== null && h !== null);
  if (hasBoth) meaning.set('fit', 'fit', native);
  return { w, h, fit, hasBoth };
}

/**
 * Sets the sides and the pixel ratio, which can exceed this service's limits.
 * @param isBoxKept whether the box keeps the ratio's pixels even if the image lacks them
 */
function readSides(
  meaning: Meaning,
  options: ImgixQuery,
  isBoxKept: boolean,
): [w: number | null, h: number | null] {
  const dpr = readNumber('dpr', options.take('dpr') ?? '1', 0.1, 5);
  const isRatio = dpr >= 1 && dpr <= 3 && !isBoxKept;
  const read = (name: 'w' | 'h'): number | null => {
    const text = options.take(name);
    if (text === undefined) return null;
    const side = readInteger(name, text, 2, maxSide);
    const pixels = Math.max(1, Math.round(side * dpr));
    if (pixels > maxSide) throw optionInvalid(name, `with dpr must be at most ${maxSide}`);
    meaning.set(name, name, isRatio ? side : pixels);
    return side;
  };
  const [w, h] = [read('w'), read('h')];
  const hasSide = w !== null || h !== null;
  meaning.set('dpr', 'dpr', isRatio && hasSide ? dpr : 1);
  return [w, h];
}

/** Moves the alpha from the start of a colour to its end. */
function colour(text: string): string {
  const [, alpha, rest] = /^([0-9a-f])([0-9a-f]{3})$/i.exec(text) ?? [];
  if (alpha !== undefined) return `${rest}${alpha}`;
  const [, alphas, digits] = /^([0-9a-f]{2})([0-9a-f]{6})$/i.exec(text) ?? [];
  return alphas === undefined ? text : `${digits}${alphas}`;
}

const isTranslucent = (text: string): boolean =>
  /^(?:[0-9a-e][0-9a-f]{3}|(?!ff)[0-9a-f]{2}[0-9a-f]{6})$/i.test(text);

function setBackground(meaning: Meaning, options: ImgixQuery, { fit, hasBoth }: Box): void {
  const bg = options.take('bg');
  if (fit === 'fill' || fit === 'fillmax') {
    const fill = options.take('fill');
    if (fill !== undefined && fill !== 'solid') throw noEquivalent(`fill=${fill}`);
    // Only solid fills use a fill colour.
    const fillColour = fill === undefined ? undefined : options.take('fill-color');
    if (bg !== undefined && hasBoth) {
      throw optionInvalid('bg', `with fit=${fit} has no equivalent here; use fill-color`);
    }
    if (fillColour !== undefined && hasBoth) meaning.set('fill-color', 'bg', colour(fillColour));
  }
  if (bg === undefined) return;
  if (isTranslucent(bg)) throw optionInvalid('bg', 'must be opaque');
  meaning.set('bg', 'bg', colour(bg));
  meaning.set('bg', 'flatten', true);
}

/** @returns whether the crop keeps a part other than the middle */
function setPlace(meaning: Meaning, options: ImgixQuery, { hasBoth }: Box): boolean {
  const crop = options.take('crop');
  if (crop === undefined || !hasBoth) return false;
  if (crop === 'focalpoint') return setFocalPoint(meaning, options);
  if (crop === 'entropy') {
    meaning.set('crop', 'pos', 'entropy');
    return true;
  }
  const words = new Set(crop.split(',', 5));
  const side = (first: string, other: string): string => {
    if (words.has(first) && words.has(other)) throw noEquivalent(`crop=${crop}`);
    const word = words.has(first) ? first : words.has(other) ? other : '';
    return sideGravities[word] ?? '';
  };
  const position = `${side('top', 'bottom')}${side('left', 'right')}`;
  for (const word of words) {
    if (!Object.hasOwn(sideGravities, word) && word !== 'center')
      throw noEquivalent(`crop=${crop}`);
  }
  if (position === '') return false;
  meaning.set('crop', 'pos', position);
  return true;
}

function setFocalPoint(meaning: Meaning, options: ImgixQuery): boolean {
  const fraction = (name: string) => toText(readNumber(name, options.take(name) ?? '0.5', 0, 1));
  const [x, y] = [fraction('fp-x'), fraction('fp-y')];
  if (readNumber('fp-z', options.take('fp-z') ?? '1', 1, 100) !== 1) throw noEquivalent('fp-z');
  meaning.set('crop', 'fp', `${x},${y}`);
  return true;
}
