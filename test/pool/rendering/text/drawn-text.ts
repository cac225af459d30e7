import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Test } from 'tap';
import type { Size } from '../../../../pool/geometry.ts';
import type { RgbaImage } from '../../../../pool/rendering/layer.ts';
import { prepareFonts } from '../../../../pool/rendering/text/font-folder.ts';
import { renderText, type TextStyle } from '../../../../pool/rendering/text/render-text.ts';
import { temporaryFolder } from '../../../temporary-root.ts';

/** Loads the packaged fonts and others into this process until the end of the test file. */
export async function useFonts(
  t: Pick<Test, 'teardown'>,
  added: Readonly<Record<string, Uint8Array>> = {},
): Promise<void> {
  const folder = await temporaryFolder(t);
  const [own, more] = [join(folder, 'own & <fonts>'), join(folder, 'added')];
  for (const fontFolder of [own, more]) await mkdir(fontFolder);
  for (const [name, bytes] of Object.entries(added)) await writeFile(join(more, name), bytes);
  await prepareFonts({ own, added: more });
}

export const plainStyle: TextStyle = {
  font: 'Open Sans',
  weight: 400,
  size: 40,
  color: '#000000ff',
  background: '#00000000',
  padding: 0,
  align: 'left',
  maxLines: null,
};

/** A rectangle of pixels. The right and lower edges are the last pixels inside. */
export interface Bounds {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

export class DrawnText {
  readonly width: number;
  readonly height: number;
  readonly pixels: Buffer;

  constructor({ width, height, pixels }: RgbaImage) {
    this.width = width;
    this.height = height;
    this.pixels = pixels;
  }

  at(x: number, y: number): number[] {
    return [...this.pixels.subarray(4 * (y * this.width + x), 4 * (y * this.width + x + 1))];
  }

  /** Returns the bounds of pixels that are at least a quarter opaque. */
  ink(within: { from: number; to: number } = { from: 0, to: this.height }): Bounds {
    const bounds = { left: this.width, top: this.height, right: -1, bottom: -1 };
    for (let y = within.from; y < within.to; y += 1) {
      for (let x = 0; x < this.width; x += 1) {
        if ((this.pixels[4 * (y * this.width + x) + 3] ?? 0) < 64) continue;
        bounds.left = Math.min(bounds.left, x);
        bounds.top = Math.min(bounds.top, y);
        bounds.right = Math.max(bounds.right, x);
        bounds.bottom = y;
      }
    }
    return bounds;
  }

  /** Returns the ink's bounds in a 40-pixel line. */
  line(index: number): Bounds {
    return this.ink({ from: index * 56, to: (index + 1) * 56 });
  }

  /** Total opacity, in opaque pixels. */
  get darkness(): number {
    let sum = 0;
    for (let at = 3; at < this.pixels.length; at += 4) sum += this.pixels[at] ?? 0;
    return Math.round(sum / 255);
  }

  /** Returns the opaque colours. */
  get colours(): ReadonlySet<string> {
    const found = new Set<string>();
    for (let at = 0; at < this.pixels.length; at += 4) {
      if (this.pixels[at + 3] === 255) found.add(this.pixels.toString('hex', at, at + 3));
    }
    return found;
  }

  equals({ width, height, pixels }: DrawnText): boolean {
    return width === this.width && height === this.height && pixels.equals(this.pixels);
  }
}

/**
 * Draws a text in a box of 400 × 300 pixels, by default in black, 40 pixels high, on a transparent
 * background.
 */
export async function text(
  words: string,
  style: Partial<TextStyle> = {},
  box: Size = { width: 400, height: 300 },
): Promise<DrawnText> {
  const made = await renderText({ ...plainStyle, ...style }, words, box);
  if (made.width > box.width || made.height > box.height) throw new Error('larger than the box');
  if (made.pixels.length !== 4 * made.width * made.height) throw new Error('other bytes');
  return new DrawnText(made);
}
