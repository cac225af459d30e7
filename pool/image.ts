import { hash } from 'node:crypto';

/** A finished output: what the caches hold and the responses carry. Never changed once made. */
export interface Image {
  readonly body: Uint8Array;
  readonly contentType: string;
  /** Strong entity tag with its quotes (RFC 9110, 8.8.3): see entityTag. */
  readonly etag: string;
  /** Pixels, of one frame. */
  readonly width: number;
  readonly height: number;
}

/** The strong entity tag of a body: 128 bits of its SHA-256, base64url, quoted. */
export function entityTag(body: Uint8Array): string {
  return `"${hash('sha256', body, 'base64url').slice(0, 22)}"`;
}
