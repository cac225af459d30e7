import type { SourceFacts } from '../formats/source-format.ts';
import type { Variant } from '../variant.ts';
import { getEncoding, type OutputFormat, rasterFormats } from './encode/encodings.ts';

/** The properties of a source that the choice of a format depends on. */
type FormatSource = Pick<SourceFacts, 'format' | 'hasAlpha' | 'gainMap'>;

/** Returns whether the output keeps the source's gain map. */
export function keepsGainMap(
  { gainMap, placeholder }: Variant,
  source: Pick<FormatSource, 'gainMap'>,
): boolean {
  return gainMap && placeholder === null && source.gainMap !== null;
}

/**
 * Chooses the format of an output with pixels.
 * @param animation whether the output can have several frames
 */
export function chooseFormat(
  variant: Variant,
  source: FormatSource,
  animation: boolean,
): OutputFormat {
  // sharp writes no gain map in other formats.
  if (variant.negotiated && keepsGainMap(variant, source)) return 'jpeg';
  const suits = (format: OutputFormat) =>
    rasterFormats.includes(format) &&
    (!(variant.negotiated && animation) || getEncoding(format).showsAnimations);
  return (
    variant.formats.find(suits) ?? ownFormat(variant, source) ?? plainFormat(source, animation)
  );
}

/**
 * Returns the source's format, if it can be written. After negotiation, some formats must be among
 * the accepted ones.
 */
export function ownFormat(
  { negotiated, formats }: Variant,
  { format }: FormatSource,
): OutputFormat | null {
  const own = rasterFormats.find((candidate) => candidate === format.name) ?? null;
  if (own === null || !negotiated) return own;
  return getEncoding(own).mustBeNamed && !formats.includes(own) ? null : own;
}

/** Returns a format that every client shows. */
function plainFormat({ hasAlpha }: FormatSource, animation: boolean): OutputFormat {
  if (animation) return 'gif';
  return hasAlpha ? 'png' : 'jpeg';
}
