import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import type { Alignment } from '../../variant.ts';
import type { RgbaImage } from '../layer.ts';

export interface RenderedText extends RgbaImage {
  /** From the left edge of the text's area and from the top of its first line. */
  readonly left: number;
  readonly top: number;
}

export interface DrawOptions {
  /** Text in Pango's markup. */
  readonly markup: string;
  /** The font's family. */
  readonly font: string;
  /** Width of the text's area. */
  readonly width: number;
  readonly align: Alignment;
  /** Whether a word that is wider than the area is broken. */
  readonly breakWords: boolean;
}

/** More than Cairo can draw, 32,767 pixels. */
const oversizedInk: RenderedText = {
  pixels: Buffer.of(),
  width: Infinity,
  height: Infinity,
  left: 0,
  top: 0,
};

/** Header length in a `.v` file. */
const headerBytes = 64;

let drawn = 0;

/**
 * Draws a text with Pango. libvips crops the image to the ink. Only the header of libvips' own file
 * format (Xoffset and Yoffset), which sharp writes only to files, reveals the ink's position.
 *
 * @param folder for the file
 * @returns null for inkless text, such as blanks; infinite sizes for more than 32,767 pixels
 */
export async function draw(folder: string, options: DrawOptions): Promise<RenderedText | null> {
  const { markup, font, width, align, breakWords } = options;
  drawn += 1;
  const path = join(folder, `${drawn}.v`);
  const wrap = breakWords ? 'word-char' : 'word';
  const text = { text: markup, font, width, align, wrap, dpi: 72, rgba: true } as const;
  try {
    await sharp({ text }).toFile(path);
    return readInk(await readFile(path));
  } catch (error) {
    const { message } = error as Error;
    if (/no text to render/.test(message)) return null;
    if (/invalid value \(typically too big\)/.test(message)) return oversizedInk;
    throw error;
  } finally {
    await rm(path, { force: true });
  }
}

/** Reads the header, which is in the machine's byte order. */
function readInk(file: Buffer): RenderedText {
  const header = new Int32Array(new Uint8Array(file.subarray(0, headerBytes)).buffer);
  const [width = 0, height = 0, left = 0, top = 0] = [1, 2, 12, 13].map((index) => header[index]);
  const pixels = file.subarray(headerBytes, headerBytes + 4 * width * height);
  return { pixels, width, height, left, top };
}
