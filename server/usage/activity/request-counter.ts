import type { Image } from '../../../pool/image.ts';

/**
 * The subject of a response, and its number of requests since the last collection. Responses in the
 * response cache keep it, so that a hit only increments two numbers.
 */
export class RequestCounter {
  readonly project: string;
  readonly source: string;
  readonly variant: string;
  /** Whether the URL would pass if the project required signatures. */
  readonly isSigned: boolean;
  /** Original bytes per image byte, or 0 if they cannot be compared. */
  readonly originalRatio: number;
  requests = 0;
  bytes = 0;

  constructor(
    { project, source, variant, isSigned }: RequestedImage,
    { body, contentType, sourceBytes = 0 }: Pick<Image, 'body' | 'contentType' | 'sourceBytes'>,
  ) {
    this.project = project;
    this.source = source;
    this.variant = variant;
    this.isSigned = isSigned;
    const isComparable = contentType.startsWith('image/') && body.byteLength > 0;
    this.originalRatio = isComparable ? sourceBytes / body.byteLength : 0;
  }
}

/** @see RequestCounter */
type RequestedImage = Pick<RequestCounter, 'project' | 'source' | 'variant' | 'isSigned'>;
