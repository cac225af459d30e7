import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import sharp from 'sharp';
import type { Source } from './sources.ts';

const run = promisify(execFile);

/**
 * SSIMULACRA2 (github.com/cloudinary/ssimulacra2): perceived quality including chroma. 100 is no
 * difference, 90 hardly visible, 70 high, 50 medium, 30 low; very bad pictures are below 0.
 */
export class Ssimulacra2 {
  readonly #command: readonly string[];
  readonly #folder: string;
  #scores = 0;

  private constructor(command: readonly string[], folder: string) {
    this.#command = command;
    this.#folder = folder;
  }

  /** @param command that takes two PNG files and prints the score as the last number */
  static async open(command: string): Promise<Ssimulacra2> {
    const folder = await mkdtemp(path.join(tmpdir(), 'encoders-'));
    return new Ssimulacra2(command.trim().split(/\s+/), folder);
  }

  /** Several at a time do not disturb each other. */
  async score({ open, width, height }: Source, encoded: Uint8Array): Promise<number> {
    const serial = this.#scores++;
    const inFolder = (name: string) => path.join(this.#folder, `${serial}-${name}.png`);
    const files = [inFolder('original'), inFolder('encoded')] as const;
    const [original, decoded] = files;
    await open().png({ compressionLevel: 1 }).toFile(original);
    await sharp(encoded).removeAlpha().png({ compressionLevel: 1 }).toFile(decoded);
    const [program = '', ...options] = this.#command;
    const { stdout } = await run(program, [...options, ...files]);
    await Promise.all(files.map((file) => rm(file)));
    const score = stdout.match(/-?\d+(?:\.\d+)?(?!.*\d)/s)?.[0];
    if (score === undefined) {
      throw new Error(`${this.#command.join(' ')} printed no score for ${width} x ${height} px.`);
    }
    return Number(score);
  }

  close(): Promise<void> {
    return rm(this.#folder, { recursive: true, force: true });
  }
}
