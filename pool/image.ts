import { hash } from 'node:crypto';
import type { Size } from './geometry.ts';
import { encodings, type OutputType } from './rendering/encode/encodings.ts';

const otherTypes = ['text/plain; charset=utf-8', 'application/json'] as const;
export type ContentType = OutputType | (typeof otherTypes)[number];

/** Media types of all rendered content. */
export const contentTypes: readonly ContentType[] = [
  ...Object.values(encodings).map(({ contentType }) => contentType),
  ...otherTypes,
];

/** A rendered image, as the caches store it and the responses send it. Immutable. */
export interface Image {
  readonly body: Uint8Array;
  readonly contentType: ContentType;
  /** Strong entity tag with its quotes (RFC 9110, 8.8.3); see entityTag. */
  readonly etag: string;
  /** A frame's size in pixels. */
  readonly width: number;
  readonly height: number;
  /** When its inputs' fetches started, Unix ms. */
  readonly fetchedAt: readonly number[];
  /** Bytes of the source; absent for an image of an earlier version. */
  readonly sourceBytes?: number;
  /**
   * SHA-256 of its inputs' bytes, base64url; absent if the project's images do not follow their
   * sources.
   */
  readonly digests?: readonly string[];
  /** The upright source's frame size in pixels; only in facts, `fmt=json`. */
  readonly sourceSize?: Size;
  /** Absent for an image that is as requested. */
  readonly warnings?: readonly ImageWarning[];
}

/**
 * How an image differs from the request: it is a still image of an animation, although neither the
 * URL nor the project requested that; `crop` reaches beyond the source; the source or a layer lacks
 * its end, and possibly pixels; a text contains characters missing from all fonts, drawn as boxes;
 * or the smallest output exceeds `maxbytes`.
 */
export type ImageWarning =
  | 'animation_dropped'
  | 'crop_clipped'
  | 'source_incomplete'
  | 'text_missing_glyphs'
  | 'maxbytes_exceeded';

/** Facts about an image's input bytes. */
export type InputFacts = Pick<Image, 'fetchedAt' | 'digests'>;

/** Returns a body's strong entity tag: 128 bits of its SHA-256, base64url, quoted. */
export function entityTag(body: Uint8Array): string {
  return `"${hash('sha256', body, 'base64url').slice(0, 22)}"`;
}
