import { requirePage, requirePixels } from '../bounds.ts';
import { plainFacts } from '../raw-pixels.ts';
import type { Container, Examined, ExamineOptions, InspectionLimits } from '../source-format.ts';
import type { BitmapHeader } from './header.ts';

/**
 * Examines a bitmap, which contains no metadata. Checks its size before allocating memory.
 *
 * @throws ServiceError source_too_large, parameter_invalid for any page except 0
 */
export function examineBitmap(
  file: Container,
  { width, height }: BitmapHeader,
  hasAlpha: boolean,
  { sourceMaxPixels }: InspectionLimits,
  { page }: Pick<ExamineOptions, 'page'>,
): Examined {
  if (page !== null) requirePage(page, 1);
  requirePixels(width * height, sourceMaxPixels);
  const { format } = file;
  const facts = { ...plainFacts, format, width, height, pages: 1, page, hasAlpha };
  return { facts, file };
}
