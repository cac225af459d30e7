import { bufferOf } from '../bytes.ts';
import type { Container, SourceFormat } from '../source-format.ts';
import { examineParts, notExamined } from './examination.ts';

/**
 * Examines the parts of a source before sharp or any parser opens it.
 *
 * @param format recognised by its first bytes
 * @throws ServiceError source_too_large for too many parts
 */
export function openAs(format: SourceFormat, source: Uint8Array): Container {
  const { container } = format;
  if (container === null) return { bytes: source, deliverable: source, format, ...notExamined };
  const deliverable = container.opened?.(source) ?? source;
  const examined = examineParts(bufferOf(deliverable), container);
  // After the limits of parts were checked.
  const bytes = container.completed?.(deliverable) ?? deliverable;
  const all = bytes === deliverable ? examined : examineParts(bufferOf(bytes), container);
  return { bytes, deliverable, format, ...all };
}
