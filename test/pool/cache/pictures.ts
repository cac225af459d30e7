import { createHash } from 'node:crypto';
import { entityTag, type Image } from '../../../pool/image.ts';
import type { Generation } from '../../../pool/validity.ts';

/** Returns a different key per name, in the service's form. */
export function toKey(name: string): string {
  const digits = createHash('sha256').update(name).digest('hex');
  return `${digits.slice(0, 32)}-0--${digits.slice(32)}`;
}

/** Returns an image of that many bytes, which depend on the name. */
export function picture(bytes: number, name = 'a'): Image {
  const body = Buffer.alloc(bytes, createHash('sha256').update(name).digest());
  return {
    body,
    contentType: 'image/webp',
    etag: entityTag(body),
    width: 40,
    height: 30,
    fetchedAt: [1],
    sourceBytes: 100,
  };
}

/** Generation of an image in a project that never purged. */
export const noPurge: Generation = { number: 0, isCurrent: () => true };
