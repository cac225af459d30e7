import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import sharp, { type Sharp } from 'sharp';
import { ssim as compare } from 'ssim.js';
import { openContainer } from '../pool/formats/source-formats.ts';
import { plainVariant } from '../pool/variant.ts';
import { temporaryFolder } from './resources.ts';

const run = promisify(execFile);

/** The pixels that an encoded image should have. */
interface Original {
  readonly width: number;
  readonly height: number;
  /** Returns a new sharp pipeline with the pixels as its input. */
  open(): Sharp;
}

/** Scores the quality of encoded images. */
export interface Meter {
  readonly name: 'SSIMULACRA2' | 'SSIM';
  /** Significant digits after the decimal point. */
  readonly digits: number;
  score(original: Original, encoded: Uint8Array): Promise<number>;
  close(): Promise<void>;
}

/** Help of the option that names the command of {@link openMeter}. */
export const meterHelp =
  'a command that takes two PNG files and prints their SSIMULACRA2, such as "ssimulacra2_rs image" after "cargo install ssimulacra2_rs --no-default-features"; without it the score is SSIM, which ignores chroma';

const ssimMeter: Meter = {
  name: 'SSIM',
  digits: 4,
  score: async (original, encoded) =>
    ssim(await toReference(original.open()), await readable(encoded)),
  close: async () => {},
};

/**
 * SSIMULACRA2 (github.com/cloudinary/ssimulacra2) measures perceived quality including chroma: 100
 * is identical, 90 hardly visible, 70 high, 50 medium, 30 low; very bad images score below 0.
 *
 * @param command takes two PNG files and prints SSIMULACRA2 as the last number; if omitted, uses
 *   SSIM
 */
export async function openMeter(command: string | undefined): Promise<Meter> {
  if (command === undefined) return ssimMeter;
  const [program = '', ...options] = command.trim().split(/\s+/);
  const folder = await temporaryFolder('scores');
  const files = ['original', 'encoded'].map((name) => path.join(folder.path, `${name}.png`));
  const [original = '', decoded = ''] = files;
  let written: unknown = null;
  return {
    name: 'SSIMULACRA2',
    digits: 1,
    async score(image, encoded) {
      if (written !== image) {
        await image.open().flatten().png({ compressionLevel: 1 }).toFile(original);
        written = image;
      }
      await sharp(await readable(encoded))
        .flatten()
        .png({ compressionLevel: 1 })
        .toFile(decoded);
      const { stdout } = await run(program, [...options, ...files]);
      const score = stdout.match(/-?\d+(?:\.\d+)?(?!.*\d)/s)?.[0];
      if (score === undefined) {
        throw new Error(`${command} printed no score for ${image.width} x ${image.height} px.`);
      }
      return Number(score);
    },
    close: folder.close,
  };
}

/** Converts a JPEG XL to PNG for sharp, and returns other images unchanged. */
async function readable(encoded: Uint8Array): Promise<Uint8Array> {
  const limits = { sourceMaxPixels: 100_000_000, isolated: true, processMemoryBytes: 2 ** 31 };
  const container = openContainer(encoded);
  const { file } = await container.format.examine(container, limits, plainVariant);
  return file.bytes;
}

/** An image's pixels. */
export interface Reference {
  readonly data: Uint8ClampedArray;
  readonly width: number;
  readonly height: number;
}

export async function toReference(image: Sharp): Promise<Reference> {
  const { data, info } = await image.ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  return { data: new Uint8ClampedArray(data), width: info.width, height: info.height };
}

/**
 * Returns the mean structural similarity between an encoded image's luma and its original's, in 11
 * x 11 Gaussian windows (Wang, Bovik, Sheikh, Simoncelli, 2004). 1 means identical. Ignores chroma.
 */
export async function ssim(reference: Reference, encoded: Uint8Array): Promise<number> {
  const decoded = await toReference(sharp(encoded));
  return compare(reference, decoded, { downsample: false }).mssim;
}
