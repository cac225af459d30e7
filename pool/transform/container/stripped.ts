import type { SourceKind } from '../kinds.ts';
import { strippedGif } from './gif.ts';
import { readHeif } from './heif.ts';
import { strippedJpeg } from './jpeg.ts';
import { strippedPng } from './png.ts';
import { strippedWebp } from './webp.ts';

/**
 * A source with the same coded pixels and without metadata, or null where it cannot be had without
 * encoding again. A profile is left out too, except in an AVIF.
 */
export function stripped(source: Uint8Array, kind: SourceKind): Uint8Array | null {
  switch (kind) {
    case 'jpeg':
      return strippedJpeg(source);
    case 'png':
      return strippedPng(source);
    case 'webp':
      return strippedWebp(source);
    case 'gif':
      return strippedGif(source);
    case 'avif': {
      // Nothing can be cut out, because a table says where in the file each image is.
      const { brand, onlyImages } = readHeif(source);
      return brand === 'avif' && onlyImages ? source : null;
    }
    case 'heif':
    case 'tiff':
    case 'svg':
    case 'bmp':
    case 'ico':
    case 'jxl':
      return null;
  }
}
