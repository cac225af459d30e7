import { ServiceError } from '../../contract/errors.ts';
import type { SourceFacts } from '../formats/source-format.ts';
import type { Size } from '../geometry.ts';
import { changedFields, parametersOf, strategies, type Variant } from '../variant.ts';
import { keepsGainMap } from './format.ts';
import type { Plan } from './plan.ts';

/** sharp 0.35 provides the function but not its type. */
declare module 'sharp' {
  interface Sharp {
    keepGainMap(): Sharp;
  }
}

/**
 * sharp 0.35 keeps a gain map only in a JPEG made in a single pass with scaling, cropping,
 * extending and quarter turns.
 *
 * It reads the map from the opened image's memory. To turn or flip an image it copies the pixels
 * and frees that memory, so that it would read the map from freed memory. Before a crop it turns
 * the image first, and reads the map from the copy: so a plan crops a turned image, and a flip,
 * which is not done first, is refused.
 *
 * @throws ServiceError parameter_invalid if a variant would lose the gain map, or shift it from
 *   the image
 */
export function requireKeptGainMap(facts: SourceFacts, plan: Plan, variant: Variant): void {
  if (!keepsGainMap(variant, facts)) return;
  const reason = refusalReason(facts, plan, variant);
  if (reason === null) return;
  throw new ServiceError(
    'parameter_invalid',
    `hdr=keep is not possible: ${reason}. Omit hdr to get the image without its gain map.`,
  );
}

function refusalReason(facts: SourceFacts, plan: Plan, variant: Variant): string | null {
  if (plan.format !== 'jpeg') return `a gain map is only written in JPEG, not in ${plan.format}`;
  const [effect] = changedFields(variant, 'trim', 'pixels');
  if (effect !== undefined)
    return `the gain map would not follow ${parametersOf(effect).join(' or ')}`;
  if (variant.maxBytes !== null)
    return 'maxbytes needs several encoder runs, and the gain map can only be read once';
  if (variant.rotate % 90 !== 0) return 'rotate is not a multiple of 90';
  const chosen = plan.resize?.fit === 'cover' ? plan.resize.position : '';
  if (strategies.some((strategy) => strategy === chosen))
    return `pos=${chosen} moves the image against the gain map`;
  if (variant.flip) return 'the image cannot be flipped together with its gain map';
  // With another turn, sharp 0.35 ignores the gain map's orientation, and mirrors it before the
  // turn instead of after it.
  if (facts.orientation !== 1 && variant.rotate !== 0)
    return 'a source stored rotated or mirrored cannot be rotated';
  if (facts.orientation === 5 || facts.orientation === 7)
    return 'the source is stored rotated and mirrored';
  if (plan.prepared !== null) return 'it takes several passes, which would lose the gain map';
  const { gainMap } = facts;
  if (gainMap !== null && isCropped(plan) && !isWholeFraction(gainMap, facts)) {
    const sizes = [gainMap, facts].map(({ width, height }) => `${width} x ${height}`);
    return `a gain map of ${sizes.join(' cannot be turned or cropped with an image of ')} pixels`;
  }
  const minSide = gainMap === null ? 1 : 2 * Math.ceil(facts.width / gainMap.width);
  if (Math.min(plan.width, plan.height) < minSide)
    return `an output below ${minSide} pixels is too small`;
  return null;
}

const isCropped = ({ extract, resize }: Plan): boolean =>
  extract !== null || resize?.fit === 'cover' || (resize?.window ?? null) !== null;

/**
 * Returns whether the map is a whole fraction of the image: sharp divides a crop's numbers by a
 * whole factor, which it derives from the widths.
 */
function isWholeFraction(map: Size, { width, height }: Size): boolean {
  const factor = width / map.width;
  return Number.isInteger(factor) && Math.ceil(height / factor) === map.height;
}
