import { withoutMetadata } from '../formats/container/strip.ts';
import type { SourceFacts } from '../formats/facts.ts';
import type { Copyright } from '../formats/metadata/copyright.ts';
import type { KeptMetadata } from '../formats/metadata/kept-metadata.ts';
import { type OutputFormat, plainVariant, type Variant } from '../variant.ts';
import { ownFormat } from './format.ts';
import type { Plan } from './plan.ts';

/** A source that is delivered as it is. */
export interface Original {
  readonly bytes: Uint8Array;
  readonly format: OutputFormat;
}

/** What changes pixels and is not in the plan. */
const effects = [
  'rotate',
  'flip',
  'flop',
  'grayscale',
  'negate',
  'normalize',
  'gamma',
  'modulate',
  'tint',
  'threshold',
  'median',
  'blur',
  'sharpen',
  'opacity',
  'watermark',
] as const satisfies readonly (keyof Variant)[];

/**
 * The source, where a request asks for no other pixels and the client can show it: it may have fewer
 * bytes than the same picture encoded again. Without its metadata where they must not be delivered.
 */
export function originalOf(
  source: Uint8Array,
  facts: SourceFacts,
  plan: Plan,
  variant: Variant,
  metadata: KeptMetadata | null,
  copyright: Copyright | null,
): Original | null {
  // What is to be kept would be left out with all else.
  if (copyright !== null || plan.gainMap) return null;
  const format = ownFormat(variant, facts);
  if (format === null || !(format === plan.format || variant.negotiated)) return null;
  if (!isUnchanged(facts, plan, variant)) return null;
  if (metadata !== null) return isAsKept(source, metadata) ? { bytes: source, format } : null;
  if (variant.keepProfile && facts.colour.hasProfile) return null;
  const bytes = isNeeded(facts) ? null : withoutMetadata(source, facts.kind);
  return bytes === null ? null : { bytes, format };
}

function isUnchanged(facts: SourceFacts, plan: Plan, variant: Variant): boolean {
  const { extract, resize, border, flatten, animated } = plan;
  return (
    facts.orientation === 1 &&
    facts.colour.model !== 'other' &&
    // An incomplete source is not shown by every client.
    !variant.lenient &&
    (facts.page === null || facts.pages === 1) &&
    (facts.frames === 1 || animated) &&
    [extract, resize, border].every((change) => change === null) &&
    !flatten &&
    effects.every((effect) => variant[effect] === plainVariant[effect])
  );
}

const isAsKept = (source: Uint8Array, { source: kept, exif, xmp }: KeptMetadata): boolean =>
  kept === source && exif !== 'left out' && xmp === null;

/** True when the colours would be others without the profile. */
function isNeeded({ kind, colour }: SourceFacts): boolean {
  return colour.hasProfile && !(colour.isSrgb && kind !== 'avif');
}
