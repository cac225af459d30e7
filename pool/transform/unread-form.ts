import { ServiceError } from '../../contract/errors.ts';
import { kinds, type SourceKind } from './kinds.ts';

/**
 * What libvips and libtiff say of files that are complete, in a form that they do not read: TIFF has
 * more of them than any library reads.
 */
const forms = [
  /([\w -]+ compression support is not configured)/,
  /(tiled separate planes not supported)/,
  /(samples_per_pixel not a whole number of bytes)/,
  /(bad labq format)/,
] as const;

/** The error for such a source; null where the message says something else. */
export function unreadForm(kind: SourceKind, error: unknown): ServiceError | null {
  if (kind !== 'tiff' || !(error instanceof Error)) return null;
  const said = forms.map((form) => form.exec(error.message)?.[1]?.trim()).find(Boolean);
  if (said === undefined) return null;
  return new ServiceError(
    'source_unsupported',
    `The source is a ${kinds[kind].label} in a form that is not read (${said}). To use it: save it with another compression, or as PNG.`,
    error,
  );
}
