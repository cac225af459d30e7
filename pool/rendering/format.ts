import { kinds, type SourceKind } from '../formats/kinds.ts';
import type { OutputFormat, Variant } from '../variant.ts';
import { encodings } from './encode.ts';

/** What the choice of a format depends on. */
interface Choosing {
  readonly kind: SourceKind;
  readonly hasAlpha: boolean;
  /** Not null when it has a gain map. */
  readonly gainMap: object | null;
}

/** Whether the output is to have the source's gain map. */
export function keepsGainMap(
  { gainMap, placeholder }: Variant,
  source: Pick<Choosing, 'gainMap'>,
): boolean {
  return gainMap && placeholder === null && source.gainMap !== null;
}

/** @param animation whether the output may have several frames */
export function chooseFormat(variant: Variant, source: Choosing, animation: boolean): OutputFormat {
  // No other format has one.
  if (variant.negotiated && keepsGainMap(variant, source)) return 'jpeg';
  const suits = (format: OutputFormat) =>
    !(variant.negotiated && animation) || encodings[format].animates;
  return (
    variant.formats.find(suits) ?? ownFormat(variant, source) ?? plainFormat(source, animation)
  );
}

/**
 * The format of the source, if it can be written and, where the format is negotiated, shown by the
 * client: AVIF only by one that names it, WebP by any that does not refuse it.
 */
export function ownFormat(
  { negotiated, formats, refused }: Variant,
  { kind }: Choosing,
): OutputFormat | null {
  const { own } = kinds[kind];
  if (own === null || !negotiated) return own;
  const shown = own === 'avif' ? formats.includes(own) : !refused.includes(own);
  return shown ? own : null;
}

/** A format that every client shows. */
function plainFormat({ hasAlpha }: Choosing, animation: boolean): OutputFormat {
  if (animation) return 'gif';
  return hasAlpha ? 'png' : 'jpeg';
}
