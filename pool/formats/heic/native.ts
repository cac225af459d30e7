import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { limiters } from '../heif/program.ts';
import { type PngForm, pngOfRows } from './png.ts';
import type { HeicTask } from './thread.ts';

const unprivileged = [limiters.setpriv, '--no-new-privs', '--pdeathsig', 'KILL'];

/** Address space for the program and its threads, besides the image. */
const baseBytes = 256 * 2 ** 20;
const bytesPerPixel = 12;

/** A TIFF's header, and its other parts: its directory, and two entries for every row. */
const headBytes = 8;
const tailBytes = 64 * 2 ** 10;
const tailBytesPerRow = 16;

/**
 * Decodes a HEIC of 8 bits with libheif's own program. A hostile source can end it, block it or run
 * code in it. So it has no environment, can gain no privileges, and is limited in memory and output,
 * which is only pixels. It inherits this process's limit on CPU time, and is killed with this
 * process, whose front end limits its time.
 *
 * @param program a path; it takes the arguments of `heif-dec`
 * @returns a PNG like the WebAssembly decoder's; null if anything is unexpected, so that the
 *   WebAssembly decoder must decide about the source
 */
export async function decodeNatively(
  program: string,
  { source, form, metadata }: Omit<HeicTask, 'page'>,
): Promise<Uint8Array | null> {
  const pixels = form.width * form.height;
  const outputBytes = headBytes + pixels * form.channels;
  const limits = {
    as: baseBytes + pixels * bytesPerPixel,
    fsize: outputBytes + tailBytes + tailBytesPerRow * form.height,
    nofile: 64,
    core: 0,
  };
  const limited = Object.entries(limits).map(([name, limit]) => `--${name}=${limit}`);
  const folder = await mkdtemp(join(tmpdir(), 'heic-')).catch(() => null);
  if (folder === null) return null;
  try {
    await writeFile(join(folder, 'source.heic'), source);
    const { stderr } = await promisify(execFile)(
      limiters.prlimit,
      [...limited, ...unprivileged, program, '--quiet', 'source.heic', 'image.tif'],
      // Each arena reserves 64 MiB.
      { cwd: folder, env: { MALLOC_ARENA_MAX: '2' } },
    );
    // Tiles that libheif cannot decode are black and cause only warnings.
    if (stderr !== '') return null;
    const tiff = await readFile(join(folder, 'image.tif'));
    if (!hasForm(tiff, form)) return null;
    const rowBytes = form.width * form.channels;
    return pngOfRows(form, metadata, (y, row) => {
      tiff.copy(row, 0, headBytes + y * rowBytes, headBytes + (y + 1) * rowBytes);
    });
  } catch {
    return null;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Returns whether a TIFF (revision 6.0, section 2) is as libtiff writes uncompressed rows of this
 * form, one after another: little-endian, and with the directory, which starts with width and
 * height, immediately after the pixels.
 */
function hasForm(tiff: Buffer, { width, height, channels }: PngForm): boolean {
  const pixelBytes = width * height * channels;
  const directory = headBytes + pixelBytes + (pixelBytes % 2);
  return (
    tiff.length > directory + 26 &&
    tiff.readUInt32LE(0) === 0x002a4949 &&
    tiff.readUInt32LE(4) === directory &&
    tiff.readUInt32LE(directory + 10) === width &&
    tiff.readUInt32LE(directory + 22) === height
  );
}
