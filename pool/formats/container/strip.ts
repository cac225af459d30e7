import type { Variant } from '../../variant.ts';
import { asBuffer } from '../bytes.ts';
import type { Container } from '../source-format.ts';
import { type ContainerFormat, maxParts } from './examination.ts';
import { type MetadataRole, metadataRoles } from './parts.ts';

/**
 * Returns a source with the same coded pixels and no metadata, or null if that requires encoding
 * again. Also removes the profile, unless the source's parts cannot be cut out.
 */
export function withoutMetadata(
  source: Uint8Array,
  format: ContainerFormat | null,
): Uint8Array | null {
  if (format?.hasOnlyImages !== undefined) return format.hasOnlyImages(source) ? source : null;
  const result = withoutRoles(source, format, new Set(metadataRoles));
  return result?.isWhole === true ? result.bytes : null;
}

/** Metadata that changes no pixel. */
const invisible: ReadonlySet<MetadataRole> = new Set(['xmp', 'iptc', 'text', 'other']);

/** Cuts out metadata that a thread must not read, if the output does not need it. */
export function withoutExcessMetadata(
  container: Container,
  { stripMetadata, copyright, gainMap }: Variant,
): Container {
  const { bytes, format, excessMetadata } = container;
  if (excessMetadata.size === 0 || !stripMetadata || copyright || gainMap) return container;
  if (![...excessMetadata].every((role) => invisible.has(role))) return container;
  const result = withoutRoles(bytes, format.container, invisible);
  if (result === null) return container;
  const { bytes: stripped } = result;
  return { ...container, bytes: stripped, deliverable: stripped, excessMetadata: new Set() };
}

/**
 * Removes parts in some roles from a source, and the bytes after its end. `isWhole` is true if the
 * file was complete and all its parts are known.
 *
 * @returns null for formats whose parts cannot be cut out, and for too many parts
 */
function withoutRoles(
  source: Uint8Array,
  format: ContainerFormat | null,
  roles: ReadonlySet<MetadataRole>,
): { readonly bytes: Buffer; readonly isWhole: boolean } | null {
  if (format?.sequential !== true) return null;
  const file = asBuffer(source);
  const kept: Buffer[] = [];
  let at: number | null = null;
  let isComplete = false;
  let isKnown = true;
  for (const { role, from, to, plain } of format.parts(file)) {
    if (kept.length > maxParts) return null;
    if (at === null) kept.push(file.subarray(0, from));
    at = to;
    if (!(roles as ReadonlySet<string>).has(role)) {
      kept.push(plain?.() ?? file.subarray(from, to));
    }
    isComplete ||= role === 'end';
    isKnown &&= role !== 'unknown';
  }
  if (!isComplete) kept.push(file.subarray(at ?? 0));
  const bytes = Buffer.concat(kept);
  format.correct?.(bytes, roles);
  return { bytes, isWhole: isComplete && isKnown };
}
