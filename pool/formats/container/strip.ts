import type { Variant } from '../../variant.ts';
import { bufferOf } from '../bytes.ts';
import type { SourceKind } from '../kinds.ts';
import { type Container, containerFormats, maxParts } from './container.ts';
import { readHeif } from './heif.ts';
import { plainJfif } from './jpeg.ts';
import { type MetadataRole, metadataRoles } from './parts.ts';
import { correctWebp } from './webp.ts';

/**
 * A source with the same coded pixels and without metadata, or null if that requires encoding again. The
 * profile is removed too, except in an AVIF.
 */
export function withoutMetadata(source: Uint8Array, kind: SourceKind): Uint8Array | null {
  if (kind === 'avif') {
    // Nothing can be cut out of an AVIF, because a table has the offset of each image.
    const { brand, onlyImages } = readHeif(source);
    return brand === 'avif' && onlyImages ? source : null;
  }
  const result = withoutRoles(source, kind, new Set(metadataRoles));
  return result?.isWhole === true ? result.bytes : null;
}

/** Metadata that changes no pixel. */
const invisible: ReadonlySet<MetadataRole> = new Set(['xmp', 'iptc', 'text', 'c2pa', 'other']);

/** Cuts out metadata that a thread must not read, if the output needs none of it. */
export function withoutExcessMetadata(
  container: Container,
  { stripMetadata, copyright, gainMap }: Variant,
): Container {
  const { bytes, kind, excessMetadata } = container;
  if (excessMetadata.size === 0 || !stripMetadata || copyright || gainMap) return container;
  if (![...excessMetadata].every((role) => invisible.has(role))) return container;
  const result = withoutRoles(bytes, kind, invisible);
  if (result === null) return container;
  const { bytes: stripped } = result;
  return { ...container, bytes: stripped, deliverable: stripped, excessMetadata: new Set() };
}

/**
 * A source without parts of some roles, and without the bytes behind its end. `isWhole` is true if the
 * file was complete and all of its parts are known.
 *
 * @returns null for kinds that nothing can be cut out of, and for too many parts
 */
function withoutRoles(
  source: Uint8Array,
  kind: SourceKind,
  roles: ReadonlySet<MetadataRole>,
): { readonly bytes: Buffer; readonly isWhole: boolean } | null {
  const format = containerFormats[kind];
  if (format?.sequential !== true) return null;
  const file = bufferOf(source);
  const kept: Buffer[] = [];
  let at: number | null = null;
  let isComplete = false;
  let isKnown = true;
  for (const { role, from, to } of format.parts(file)) {
    if (kept.length > maxParts) return null;
    if (at === null) kept.push(file.subarray(0, from));
    at = to;
    const part = file.subarray(from, to);
    if (role === 'jfif') kept.push(plainJfif(part));
    else if (!(roles as ReadonlySet<string>).has(role)) kept.push(part);
    isComplete ||= role === 'end';
    isKnown &&= role !== 'unknown';
  }
  if (!isComplete) kept.push(file.subarray(at ?? 0));
  const bytes = Buffer.concat(kept);
  if (kind === 'webp') correctWebp(bytes, roles);
  return { bytes, isWhole: isComplete && isKnown };
}
