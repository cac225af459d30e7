import type { Fit, Gravity } from '../../../contract/fit-modes.ts';
import type { Size } from '../../../pool/geometry.ts';
import {
  type Meaning,
  noEquivalent,
  optionInvalid,
  readInteger,
  readNumber,
  readRatio,
} from './meaning.ts';

const maxSide = 10_000;

interface Mode {
  readonly fit: Fit;
  readonly isEnlarged: boolean;
  /** Whether gravity affects the mode. */
  readonly isPlaced: boolean;
  /** Whether a ratio can replace a side. */
  readonly hasRatio: boolean;
}

const modes: Readonly<Record<string, Mode>> = {
  scale: { fit: 'fill', isEnlarged: true, isPlaced: false, hasRatio: true },
  fit: { fit: 'inside', isEnlarged: true, isPlaced: false, hasRatio: false },
  limit: { fit: 'inside', isEnlarged: false, isPlaced: false, hasRatio: false },
  fill: { fit: 'cover', isEnlarged: true, isPlaced: true, hasRatio: true },
  lfill: { fit: 'cover', isEnlarged: false, isPlaced: true, hasRatio: false },
  pad: { fit: 'contain', isEnlarged: true, isPlaced: true, hasRatio: true },
};

/** A resize of a chain. */
export interface Resize extends Mode {
  readonly w: number | null;
  readonly h: number | null;
  /** The number of given sides. */
  readonly sides: number;
  readonly ratio: string | number | null;
  position: Gravity | 'attention' | null;
  /** Whether sources smaller than the box keep their size. */
  readonly isForLarger: boolean;
}

/** @throws ServiceError parameter_invalid */
export function readResize(options: ReadonlyMap<string, string>): Resize {
  const c = options.get('c') ?? 'scale';
  const mode = Object.hasOwn(modes, c) ? modes[c] : undefined;
  if (mode === undefined) throw noEquivalent(`c_${c}`);
  const w = readSide(options, 'w');
  const h = readSide(options, 'h');
  const sides = [w, h].filter((side) => side !== null).length;
  const ratio = readAspect(options.get('ar'));
  if (ratio !== null && (!mode.hasRatio || sides === 2 || (sides === 0 && c !== 'fill'))) {
    throw optionInvalid('ar', `has no equivalent with these sides and c_${c}`);
  }
  if (ratio === null && sides === 0) throw optionInvalid(`c_${c}`, 'needs w or h');
  const isForLarger = c === 'lfill' && sides === 2;
  return { ...mode, w, h, sides, ratio, position: null, isForLarger };
}

/**
 * Reads a side in pixels. Refuses decimals, which are relative to the source, and words, which
 * depend on its size or on client hints.
 */
function readSide(options: ReadonlyMap<string, string>, name: 'w' | 'h'): number | null {
  const text = options.get(name);
  if (text === undefined) return null;
  if (!/^\d+$/.test(text)) throw noEquivalent(`${name}_${text}`);
  return readInteger(name, text, 1, maxSide);
}

function readAspect(text: string | undefined): string | number | null {
  if (text === undefined) return null;
  if (text.includes(':')) return readRatio('ar', text, 'must be W:H or a number');
  return readNumber('ar', text, 0.0001, 10_000);
}

/** @param dpr device pixels per pixel, which multiply the sides */
export function setResize(meaning: Meaning, resize: Resize, dpr: number): void {
  const { w, h, sides, ratio, fit, isEnlarged, position } = resize;
  for (const [name, side] of [
    ['w', w],
    ['h', h],
  ] as const) {
    if (side === null) continue;
    const isRatio = dpr >= 1 && dpr <= 3;
    meaning.set(name, name, isRatio ? side : Math.max(1, Math.round(side * dpr)));
  }
  if (ratio !== null) meaning.set('ar', 'ar', ratio);
  if (isEnlarged && sides > 0) meaning.set('c', 'enlarge', true);
  if (sides < 2 && ratio === null) return;
  meaning.set('c', 'fit', fit);
  if (position !== null && position !== 'center') meaning.set('g', 'pos', position);
}

/**
 * Returns the parameters of a resize with no effect on smaller sources.
 * @param parameters those for a larger source
 * @throws ServiceError parameter_invalid for a source that is larger in one direction only
 */
export function parametersOfSize(
  { w, h }: Resize,
  dpr: number,
  { width, height }: Size,
  parameters: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const [isWider, isHigher] = [width >= (w ?? 0) * dpr, height >= (h ?? 0) * dpr];
  if (isWider && isHigher) return parameters;
  if (isWider || isHigher) {
    throw optionInvalid(
      'c_lfill',
      'has no equivalent for a source that is larger on one side only',
    );
  }
  const ofResize = ['w', 'h', 'fit', 'pos', 'dpr'];
  const kept = [...parameters].filter(([name]) => !ofResize.includes(name));
  return new Map([...kept, ['dpr', '1']]);
}
