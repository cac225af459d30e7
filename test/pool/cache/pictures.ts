import { createHash } from 'node:crypto';
import { entityTag, type Image } from '../../../pool/image.ts';

/** A key as the service makes them, different for each name. */
export const keyOf = (name: string): string => createHash('sha256').update(name).digest('hex');

/** An image of that many bytes, which differ with the name. */
export function picture(bytes: number, name = 'a'): Image {
  const body = Buffer.alloc(bytes, createHash('sha256').update(name).digest());
  return { body, contentType: 'image/webp', etag: entityTag(body), width: 40, height: 30 };
}
