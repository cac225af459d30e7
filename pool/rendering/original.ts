import { withoutMetadata } from '../formats/container/strip.ts';
import { hasOnlyManifest } from '../formats/metadata/content-credentials.ts';
import type { KeptMetadata } from '../formats/metadata/kept-metadata.ts';
import type { Examined, SourceFacts } from '../formats/source-format.ts';
import { changedFields, type Variant } from '../variant.ts';
import type { Output } from './encode/choose.ts';
import { ownFormat } from './format.ts';
import type { Plan } from './plan.ts';
import type { StepContext } from './steps.ts';

/**
 * The source as an output without a new encoding, if the variant does not change its pixels and the client can show its format: it may have
 * fewer bytes than a new encoding. Metadata that must not be delivered is removed.
 *
 * @param fetched the source before it was opened as a container
 */
export async function originalOf(
  fetched: Uint8Array,
  { file: { bytes: source, deliverable }, facts }: Examined,
  { plan, variant, metadata, copyright }: StepContext,
): Promise<Output | null> {
  if (plan.gainMap) return null;
  const format = ownFormat(variant, facts);
  if (format === null || !(format === plan.format || variant.negotiated)) return null;
  if (!isUnchanged(facts, plan, variant)) return null;
  if (metadata !== null) {
    return isAsKept(source, metadata) ? { data: deliverable, format } : null;
  }
  const isInColour = variant.keepProfile || !isNeeded(facts);
  if (variant.copyright && isInColour && fetched === deliverable) {
    if (await hasOnlyManifest(fetched, facts.format)) return { data: fetched, format };
  }
  // `withoutMetadata` would remove what must be kept.
  if (copyright !== null || (variant.keepProfile && facts.colour.hasProfile)) return null;
  const data = isNeeded(facts) ? null : withoutMetadata(deliverable, facts.format.container);
  return data === null ? null : { data, format };
}

function isUnchanged(facts: SourceFacts, plan: Plan, variant: Variant): boolean {
  const { extract, resize, border, flatten, animated } = plan;
  return (
    facts.orientation === 1 &&
    facts.colour.model !== 'other' &&
    // Not every client shows an incomplete source.
    !variant.lenient &&
    (facts.page === null || facts.pages === 1) &&
    (facts.frames === 1 || animated) &&
    [extract, resize, border].every((change) => change === null) &&
    !flatten &&
    changedFields(variant, 'turn', 'pixels').length === 0
  );
}

const isAsKept = (source: Uint8Array, { source: kept, exif, xmp }: KeptMetadata): boolean =>
  kept === source && exif !== 'dropped' && xmp === null;

/** True when the colours depend on the profile, or it cannot be cut out. */
function isNeeded({ format, colour }: SourceFacts): boolean {
  return colour.hasProfile && !(colour.isSrgb && format.container?.sequential === true);
}
