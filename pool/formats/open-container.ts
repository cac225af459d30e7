import { openAs } from './container/container.ts';
import type { Container } from './source-format.ts';
import { recognise } from './source-formats.ts';
import { unsupportedFormat } from './unsupported-formats.ts';

/**
 * Recognises the format of a source, and examines its parts before sharp or any parser opens it.
 *
 * @throws ServiceError source_unsupported for an unsupported format, source_too_large for too many parts
 */
export function openContainer(source: Uint8Array): Container {
  const format = recognise(source);
  if (format === null) throw unsupportedFormat(source);
  return openAs(format, source);
}
