import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { parseBytes } from '../../formats/bytes.ts';
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
    const file = await readFile(path);
    return parseBytes(
      () => readInk(file),
      () => new Error('libvips wrote an incomplete file.'),
    );
  } catch (error) {
    const { message } = error as Error;
    if (/no text to render/.test(message)) return null;
    if (/invalid value \(typically too big\)/.test(message)) return oversizedInk;
    throw error;
  } finally {
    await rm(path, { force: true });
  }
}

/** Reads the header, in the machine's byte order, which the magic number reveals. */
function readInk(file: Buffer): RenderedText {
  const isBig = file.readUInt32BE(0) === 0x08f2a6b6;
  const integer = (offset: number) => (isBig ? file.readInt32BE(offset) : file.readInt32LE(offset));
  const [width, height] = [integer(4), integer(8)];
  const pixels = file.subarray(headerBytes, headerBytes + 4 * width * height);
  return { pixels, width, height, left: integer(48), top: integer(52) };
}
