import { type Gravity, gravities } from '../../../contract/fit-modes.ts';
import type { Size } from '../../../pool/geometry.ts';
import { sideGravities } from '../positions.ts';
import { type Meaning, optionInvalid } from './meaning.ts';
import type { FocalArea, ThumborFilters } from './thumbor-filters.ts';

/** A path's named parts. */
export type Parts = Readonly<Record<string, string | undefined>>;

interface Mirrored {
  readonly flop: boolean;
  readonly flip: boolean;
}

interface Point {
  readonly x: number;
  readonly y: number;
}

interface Area extends Size {
  readonly left: number;
  readonly top: number;
}

/** Returns the source area that the manual crop keeps. */
function findArea({ parameters }: Meaning, size: Size): Area {
  const crop = parameters.get('crop');
  if (crop === undefined) return { left: 0, top: 0, ...size };
  const [left = 0, top = 0, width = 0, height = 0] = crop.split(',').map(Number);
  return {
    left,
    top,
    width: Math.max(1, Math.min(width, size.width - left)),
    height: Math.max(1, Math.min(height, size.height - top)),
  };
}

/**
 * Returns the weighted centre of the points in an area, as shares of its sides, or null if it
 * contains no point.
 */
function focalPoint(points: readonly FocalArea[], area: Area): Point | null {
  const { left, top, width, height } = area;
  const inside = points.filter(
    ({ x, y }) => x >= left && x <= left + width && y >= top && y <= top + height,
  );
  const weight = inside.reduce((sum, point) => sum + point.weight, 0);
  if (weight === 0) return null;
  const mean = (side: 'x' | 'y', start: number) =>
    Math.floor(
      inside.reduce((sum, point) => sum + (point[side] - start) * point.weight, 0) / weight,
    );
  const share = (value: number) => Math.max(0, Math.min(1, value));
  return { x: share(mean('x', left) / width), y: share(mean('y', top) / height) };
}

/** Maps a point to an image mirrored and then rotated counterclockwise. */
function turned(point: Point, { flop, flip }: Mirrored, rotation: number): Point {
  let { x, y } = { x: flop ? 1 - point.x : point.x, y: flip ? 1 - point.y : point.y };
  for (let angle = 0; angle < rotation; angle += 90) [x, y] = [y, 1 - x];
  return { x, y };
}

/** Eighths of a turn clockwise from the top, by number. */
const directions: readonly Gravity[] = gravities.filter((gravity) => gravity !== 'center');

/** Sets the area to keep, which thumbor chooses before it mirrors and rotates. */
export function setPlace(
  meaning: Meaning,
  { smart, halign = 'center', valign = 'middle' }: Parts,
  { focal, rotation }: Pick<ThumborFilters, 'focal' | 'rotation'>,
  { flop, flip }: Mirrored,
  size: Size,
): void {
  if (smart !== undefined) {
    if (focal.length > 0) throw optionInvalid('focal', 'with smart has no equivalent here');
    return meaning.set('smart', 'pos', 'attention');
  }
  const point = focalPoint(focal, findArea(meaning, size));
  if (point !== null) {
    const { x, y } = turned(point, { flop, flip }, rotation);
    return meaning.set('focal', 'fp', `${x},${y}`);
  }
  const mirrored = (isMirrored: boolean, side: string, other: string, word: string) =>
    !isMirrored ? word : word === side ? other : word === other ? side : word;
  const vertical = mirrored(flip, 'top', 'bottom', valign);
  const horizontal = mirrored(flop, 'left', 'right', halign);
  const name = `${sideGravities[vertical] ?? ''}${sideGravities[horizontal] ?? ''}`;
  const at = directions.indexOf(name as Gravity);
  if (at === -1) return;
  meaning.set('halign', 'pos', directions[(at + 8 - rotation / 45) % 8] ?? 'center');
}
