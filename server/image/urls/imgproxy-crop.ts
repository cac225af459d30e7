import type { Size } from '../../../pool/geometry.ts';
import type { Crop, ImgproxyOptions, Placement } from './imgproxy-options.ts';
import { optionInvalid } from './meaning.ts';

const centre: Placement = { type: 'center', x: 0, y: 0 };

const effectiveGravity = ({ crop, gravity }: ImgproxyOptions): Placement =>
  crop?.gravity ?? gravity ?? centre;

/** Returns whether the crop's area depends on the source size. */
export function cropNeedsSize(options: ImgproxyOptions): boolean {
  const { crop } = options;
  if (crop === null) return false;
  const { type, x, y } = effectiveGravity(options);
  const isFixed = (length: number, offset: number, isStart: boolean) =>
    length === 0 || (length >= 1 && isStart && (offset <= 0 || offset >= 1));
  return !(
    isFixed(crop.width, x, ['west', 'northwest', 'southwest'].includes(type)) &&
    isFixed(crop.height, y, ['north', 'northwest', 'northeast'].includes(type))
  );
}

/**
 * Returns the crop in pixels from the top left of a source, as imgproxy places it.
 * @throws ServiceError parameter_invalid for smart gravity
 */
export function toCrop(options: ImgproxyOptions, { width, height }: Size): Crop | null {
  const { crop } = options;
  if (crop === null) return null;
  const { type, x, y } = effectiveGravity(options);
  if (type === 'smart') throw optionInvalid('crop', 'with smart gravity has no equivalent here');
  const across = along(width, crop.width, x, toEdge(type, 'west', 'east'));
  const down = along(height, crop.height, y, toEdge(type, 'north', 'south'));
  return {
    width: across.length,
    height: down.length,
    gravity: { type: 'northwest', x: across.start, y: down.start },
  };
}

type Edge = 'start' | 'end' | 'middle' | 'point';

function toEdge(type: Placement['type'], start: string, end: string): Edge {
  if (type === 'point') return 'point';
  if (type.includes(start)) return 'start';
  return type.includes(end) ? 'end' : 'middle';
}

/**
 * Returns a crop's start and length along one side. @param length a share of the side if below 1; 0
 * for the whole side
 */
function along(whole: number, length: number, offset: number, edge: Edge) {
  const wanted = length < 1 ? Math.max(1, Math.round(whole * length)) : Math.floor(length);
  const kept = length === 0 ? whole : Math.min(whole, wanted);
  const pixels = Math.abs(offset) >= 1 ? halfToEven(offset) : halfToEven(whole * offset);
  const starts = {
    start: pixels,
    end: whole - kept - pixels,
    middle: halfToEven((whole - kept + 1) / 2) + pixels,
    point: halfToEven(whole * offset) - Math.floor(kept / 2),
  };
  return { start: Math.max(0, Math.min(starts[edge], whole - kept)), length: kept };
}

function halfToEven(value: number): number {
  const floor = Math.floor(value);
  if (value - floor !== 0.5) return Math.round(value);
  return floor % 2 === 0 ? floor : floor + 1;
}
