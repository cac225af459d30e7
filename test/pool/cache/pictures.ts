import { createHash } from 'node:crypto';
import { entityTag, type Image, type Provenance } from '../../../pool/image.ts';
import type { ImagePurges } from '../../../pool/validity.ts';

/** A key as the service makes them, different for each name. */
export const keyOf = (name: string): string => createHash('sha256').update(name).digest('hex');

/** An image of that many bytes, which differ with the name. */
export function picture(bytes: number, name = 'a'): Image {
  const body = Buffer.alloc(bytes, createHash('sha256').update(name).digest());
  return {
    body,
    contentType: 'image/webp',
    etag: entityTag(body),
    width: 40,
    height: 30,
    fetchedAt: [1],
  };
}

export const provenance: Provenance = {
  tags: { project: 'prj_1', inputs: ['a'] },
  stamp: 0,
};

/** The purges of an image whose project has purged nothing. */
export const noPurges: ImagePurges = {
  tags: provenance.tags,
  known: 0,
  validFrom: 0,
  renewBelow: 0,
  isCurrent: () => true,
};
