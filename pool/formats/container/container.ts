import type { Variant } from '../../variant.ts';
import { asBuffer } from '../bytes.ts';
import { withUsualOrientation } from '../metadata/exif.ts';
import type { Container, SourceFormat } from '../source-format.ts';
import {
  type ContainerFormat,
  type Examination,
  examineParts,
  type MetadataRole,
  maxParts,
  metadataRoles,
  notExamined,
} from './examination.ts';

/**
 * Examines the parts of a source before sharp or any parser opens it.
 *
 * @param format recognised by its first bytes
 * @throws ServiceError source_too_large for too many parts
 */
export function openAs(format: SourceFormat, source: Uint8Array): Container {
  const { container } = format;
  if (container === null) {
    return { bytes: source, deliverable: source, isIncomplete: false, format, ...notExamined };
  }
  const deliverable = container.opened?.(source) ?? source;
  const examined = examineParts(asBuffer(deliverable), container);
  // Runs after checking the limits of parts.
  const ended = container.ended?.(deliverable) ?? deliverable;
  const completed = container.completed?.(ended) ?? ended;
  const all = completed === deliverable ? examined : examineParts(asBuffer(completed), container);
  return {
    bytes: oriented(completed, all, container),
    deliverable,
    isIncomplete: ended !== deliverable,
    format,
    ...all,
  };
}

/** Removes an orientation that browsers ignore, in a copy if the file contains one. */
function oriented(bytes: Uint8Array, { exif }: Examination, { seal }: ContainerFormat): Uint8Array {
  if (exif === null) return bytes;
  const old = asBuffer(bytes).subarray(...exif);
  const usual = withUsualOrientation(old);
  if (usual === old) return bytes;
  const copy = Buffer.from(bytes);
  copy.set(usual, exif[0]);
  seal?.(copy, exif);
  return copy;
}

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
