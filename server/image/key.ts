import { createHash } from 'node:crypto';
import { rendererVersion } from '../../pool/rendering/version.ts';
import { type OutputFormat, plainVariant, type Variant } from '../../pool/variant.ts';

/** The formats whose bytes an option affects. */
const affectedFormats = {
  quality: ['avif', 'webp', 'jpeg'],
  lossless: ['avif', 'webp'],
  animated: ['webp', 'gif'],
} as const satisfies Readonly<Record<string, readonly OutputFormat[]>>;

/** A variant in which every option that cannot affect its bytes has its plain value. */
function relevant(variant: Variant): Variant {
  const { width, height, fit, formats, negotiated, page, animated, quality, maxBytes } = variant;
  const boxed = width !== null && height !== null;
  const cutOrPlaced = boxed && (fit === 'cover' || fit === 'contain');
  const [format] = negotiated ? [] : formats;
  const affects = (affected: readonly OutputFormat[]): boolean =>
    format === undefined || affected.includes(format);
  const lossless = affects(affectedFormats.lossless) ? variant.lossless : plainVariant.lossless;
  const isLossy = affects(affectedFormats.quality) && !(lossless === true && format !== undefined);
  const isAnimated = affects(affectedFormats.animated) && page === null;
  return {
    ...variant,
    fit: boxed ? fit : plainVariant.fit,
    position: cutOrPlaced ? variant.position : plainVariant.position,
    animated: isAnimated ? animated : plainVariant.animated,
    lossless,
    quality: isLossy ? quality : plainVariant.quality,
    maxBytes: isLossy ? maxBytes : plainVariant.maxBytes,
  };
}

/** A variant as text; the same for all requests that produce the same bytes. */
export function canonicalForm(variant: Variant): string {
  return Object.entries(relevant(variant))
    .map(([name, value]) => [name, JSON.stringify(value)] as const)
    .filter(([name, value]) => value !== JSON.stringify(plainVariant[name as keyof Variant]))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

/** Hexadecimal SHA-256 of the renderer's version, project, source and canonical form. */
export function variantKey(
  projectId: string,
  source: URL,
  variant: Variant,
  version = rendererVersion,
): string {
  return createHash('sha256')
    .update(`${version}\n${projectId}\n${source.href}\n${canonicalForm(variant)}`)
    .digest('hex');
}
