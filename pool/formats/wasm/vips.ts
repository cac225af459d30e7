import fs from 'node:fs';
import Vips from 'wasm-vips';
import { emscriptenOptions } from './thread.ts';

/**
 * Metadata to write (`VipsForeignKeep`). libvips would write EXIF even for an image without EXIF.
 */
export const keepFlags = { exif: 1, xmp: 2, icc: 8 } as const;

/**
 * Opens wasm-vips on this thread, from the compiled module in `workerData`: libvips with libjxl,
 * which sharp's binaries lack. One libvips thread is enough, and warnings would go to the process's
 * descriptors.
 */
export async function openVips(): Promise<typeof Vips> {
  const vips = await Vips({
    dynamicLibraries: ['vips-jxl.wasm'],
    preRun: ({ ENV }: { readonly ENV: Record<string, string> }) => {
      ENV['VIPS_WARNING'] = '0';
    },
    ...emscriptenOptions,
  });
  denyFiles();
  vips.concurrency(1);
  // Each operation is for one image.
  vips.Cache.max(0);
  return vips;
}

/**
 * Prevents this thread from opening more files. The package uses Node's file system, but images
 * need no file.
 */
function denyFiles(): void {
  const deny = () => {
    throw Object.assign(new Error('no files'), { code: 'EACCES' });
  };
  const functions: Record<string, unknown> = fs;
  for (const name of Object.keys(fs)) if (name.endsWith('Sync')) functions[name] = deny;
}
