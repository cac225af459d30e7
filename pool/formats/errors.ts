import { ServiceError } from '../../contract/errors.ts';

/** Creates the error for an unsupported source or encoding (415). */
export const unsupported = (message: string, cause?: unknown): ServiceError =>
  new ServiceError('source_unsupported', message, cause);

/** Creates the error for a damaged source (422). */
export const corrupt = (message: string, cause?: unknown): ServiceError =>
  new ServiceError('source_corrupt', message, cause);

/** Returns the error for a decoder that ended unexpectedly (422). */
export const decoderFailed = (cause: unknown): ServiceError =>
  corrupt('The source cannot be decoded: its decoder failed.', cause);

/** Returns the error for a source that needs more memory than a process has (413). */
export const tooMuchMemory = (cause: unknown): ServiceError =>
  new ServiceError('source_too_large', 'The transform of the source needs too much memory.', cause);

/** Returns the error for a transform that exceeds its timeout (504). */
export const transformTimeout = (cause?: unknown): ServiceError =>
  new ServiceError('transform_timeout', 'The transform took too long.', cause);

/** Returns the error for a source that exceeds a limit (413). */
export const tooLarge = (message: string): ServiceError =>
  new ServiceError('source_too_large', message);
