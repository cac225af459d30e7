import type { Variant } from '../../variant.ts';
import type { SourceKind } from '../kinds.ts';
import { bufferOf, type Container, containerFormats, maxParts } from './container.ts';
import { readHeif } from './heif.ts';
import { plainJfif } from './jpeg.ts';
import { type MetadataRole, metadataRoles } from './parts.ts';
import { correctWebp } from './webp.ts';

/**
 * A source with the same coded pixels and without metadata, or null where it cannot be had without
 * encoding again. A profile is left out too, except in an AVIF.
 */
export function withoutMetadata(source: Uint8Array, kind: SourceKind): Uint8Array | null {
  if (kind === 'avif') {
    // Nothing can be cut out, because a table says where in the file each image is.
    const { brand, onlyImages } = readHeif(source);
    return brand === 'avif' && onlyImages ? source : null;
  }
  const result = withoutRoles(source, kind, new Set(metadataRoles));
  return result?.whole === true ? result.bytes : null;
}

/** Metadata that changes no pixel. */
const invisible: ReadonlySet<MetadataRole> = new Set(['xmp', 'iptc', 'text', 'other']);

/** A source without metadata that is above what a thread reads, where the output has none of it. */
export function withoutExcessMetadata(
  container: Container,
  { stripMetadata, copyright, gainMap }: Variant,
): Container {
  const { bytes, kind, excessMetadata: excess } = container;
  if (excess.size === 0 || !stripMetadata || copyright || gainMap) return container;
  if (![...excess].every((role) => invisible.has(role))) return container;
  const lighter = withoutRoles(bytes, kind, invisible);
  return lighter === null
    ? container
    : { ...container, bytes: lighter.bytes, excessMetadata: new Set() };
}

/**
 * A source without some of its metadata, and without what is behind its end. `whole` is true when the
 * file was complete, and all of its parts are known.
 *
 * @returns null for a kind from which nothing can be cut out, and for too many parts
 */
export function withoutRoles(
  source: Uint8Array,
  kind: SourceKind,
  roles: ReadonlySet<MetadataRole>,
): { readonly bytes: Buffer; readonly whole: boolean } | null {
  const format = containerFormats[kind];
  if (format?.sequential !== true) return null;
  const file = bufferOf(source);
  const kept: Buffer[] = [];
  let at: number | null = null;
  let complete = false;
  let known = true;
  for (const { role, from, to } of format.parts(file)) {
    if (kept.length > maxParts) return null;
    if (at === null) kept.push(file.subarray(0, from));
    at = to;
    const part = file.subarray(from, to);
    if (role === 'jfif') kept.push(plainJfif(part));
    else if (!(roles as ReadonlySet<string>).has(role)) kept.push(part);
    complete ||= role === 'end';
    known &&= role !== 'unknown';
  }
  if (!complete) kept.push(file.subarray(at ?? 0));
  const bytes = Buffer.concat(kept);
  if (kind === 'webp') correctWebp(bytes, roles);
  return { bytes, whole: complete && known };
}
