import { hash } from 'node:crypto';
import { keyTagDigits } from '../../pool/cache/object-key.ts';
import type { Input } from '../../pool/inputs.ts';
import { type OutputFormat, outputFormatsWith } from '../../pool/rendering/encode/encodings.ts';
import { rendererVersion } from '../../pool/rendering/version.ts';
import { plainVariant, type Variant } from '../../pool/variant.ts';

/** The formats whose bytes an option affects. */
const affectedFormats = {
  quality: outputFormatsWith(({ lossy }) => lossy !== null),
  lossless: outputFormatsWith(({ lossless }) => lossless !== null),
  animated: outputFormatsWith(({ animates }) => animates),
} as const;

/** A variant in which every option that cannot affect its bytes has its plain value. */
function withoutUnusedOptions(variant: Variant): Variant {
  const { width, height, fit, formats, negotiated, page, animated, quality, maxBytes } = variant;
  const { layers, pixelRatio } = variant;
  const isWhole = fit === 'inside' || fit === 'outside';
  const aspectRatio = isWhole ? plainVariant.aspectRatio : variant.aspectRatio;
  const hasBox = (width !== null && height !== null) || aspectRatio !== null;
  const usesPosition = hasBox && (fit === 'cover' || fit === 'contain');
  const [format] = negotiated ? [] : formats;
  const affects = (affected: readonly OutputFormat[]): boolean =>
    format === undefined || affected.includes(format);
  const lossless = affects(affectedFormats.lossless) ? variant.lossless : plainVariant.lossless;
  const isLossy = affects(affectedFormats.quality) && !(lossless === true && format !== undefined);
  const isAnimated = affects(affectedFormats.animated) && page === null;
  return {
    ...variant,
    pixelRatio: layers === null ? plainVariant.pixelRatio : pixelRatio,
    aspectRatio,
    fit: hasBox ? fit : plainVariant.fit,
    position: usesPosition ? variant.position : plainVariant.position,
    animated: isAnimated ? animated : plainVariant.animated,
    lossless,
    quality: isLossy ? quality : plainVariant.quality,
    maxBytes: isLossy ? maxBytes : plainVariant.maxBytes,
  };
}

/** The fields of a variant in the order of their names, with their plain values as text. */
const plainForms = Object.entries(plainVariant)
  .map(([name, value]) => [name as keyof Variant, JSON.stringify(value)] as const)
  .sort(([a], [b]) => (a < b ? -1 : 1));

/** A variant as text; the same for all requests that produce the same bytes. */
function canonicalForm(variant: Variant): string {
  const used = withoutUnusedOptions(variant);
  let text = '';
  for (const [name, plain] of plainForms) {
    // Most have it, and need no text.
    if (used[name] === plainVariant[name]) continue;
    const value = JSON.stringify(used[name]);
    if (value !== plain) text += `${text === '' ? '' : '&'}${name}=${value}`;
  }
  return text;
}

/**
 * The cache key of an image, 64 hexadecimal digits: 16 of its project, 16 of its source, by which purged images
 * are found, and 32 of the SHA-256 of all that determines it.
 */
export function variantKey(
  project: string,
  { url, tag, version }: Pick<Input, 'url' | 'tag' | 'version'>,
  variant: Variant,
  ofRenderer = rendererVersion,
): string {
  const parts = [ofRenderer, project, url.href, canonicalForm(variant)];
  if (version !== null) parts.push(version);
  const digest = hash('sha256', parts.join('\n'));
  return keyPrefix(project, tag) + digest.slice(0, 32);
}

/** The first digits of the keys of a project's images, of one source if it is given. */
export function keyPrefix(project: string, sourceTag = ''): string {
  return hash('sha256', project).slice(0, keyTagDigits) + sourceTag.slice(0, keyTagDigits);
}

/** Whether a key begins with one of several results of `keyPrefix`. */
export function hasPrefix(key: string, prefixes: ReadonlySet<string>): boolean {
  return prefixes.has(key.slice(0, keyTagDigits)) || prefixes.has(key.slice(0, 2 * keyTagDigits));
}
