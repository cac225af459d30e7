import type { Size } from '../../geometry.ts';

export interface SmallPixels extends Size {
  /** RGBA, 8 bits per channel, not premultiplied. */
  readonly data: Uint8ClampedArray;
}
