import { asBuffer } from '../bytes.ts';
import { withUsualOrientation } from '../metadata/exif.ts';
import type { Container, SourceFormat } from '../source-format.ts';
import {
  type ContainerFormat,
  type Examination,
  examineParts,
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
