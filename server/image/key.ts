import { createHash } from 'node:crypto';
import { rendererVersion } from '../../pool/rendering/version.ts';
import { type OutputFormat, plainVariant, type Variant } from '../../pool/variant.ts';

/** Which options affect the bytes of each format. */
const affectsBytes: Readonly<
  Record<OutputFormat, Readonly<Record<'quality' | 'lossless' | 'animated', boolean>>>
> = {
  avif: { quality: true, lossless: true, animated: false },
  webp: { quality: true, lossless: true, animated: true },
  jpeg: { quality: true, lossless: false, animated: false },
  png: { quality: false, lossless: false, animated: false },
  gif: { quality: false, lossless: false, animated: true },
};

/** A variant in which every option that cannot affect its bytes has its plain value. */
function relevant(variant: Variant): Variant {
  const { width, height, fit, formats, negotiated, page, animated, quality, maxBytes } = variant;
  const boxed = width !== null && height !== null;
  const cutOrPlaced = boxed && (fit === 'cover' || fit === 'contain');
  const [only] = negotiated ? [] : formats;
  const affects =
    only === undefined ? { quality: true, lossless: true, animated: true } : affectsBytes[only];
  const lossless = affects.lossless ? variant.lossless : plainVariant.lossless;
  const isLossy = affects.quality && !(lossless === true && only !== undefined);
  return {
    ...variant,
    fit: boxed ? fit : plainVariant.fit,
    position: cutOrPlaced ? variant.position : plainVariant.position,
    animated: affects.animated && page === null ? animated : plainVariant.animated,
    lossless,
    quality: isLossy ? quality : plainVariant.quality,
    maxBytes: isLossy ? maxBytes : plainVariant.maxBytes,
  };
}

/** A variant as text, the same for all requests that produce the same bytes. */
export function canonicalForm(variant: Variant): string {
  const plain = Object.entries(relevant(variant)).map(([name, value]) => [
    name,
    JSON.stringify(value),
  ]);
  return plain
    .filter(([name, value]) => value !== JSON.stringify(plainVariant[name as keyof Variant]))
    .sort(([a = ''], [b = '']) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

/**
 * The cache key of a variant: hexadecimal SHA-256 of the renderer's version, project, source and
 * canonical form.
 */
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
