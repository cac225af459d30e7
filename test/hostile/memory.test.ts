import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { scriptArguments, scriptUrl } from '../scripts.ts';
import type { Growth } from './memory-program.ts';
import { isLong } from './options.ts';

/**
 * Memory stays the same while thousands of distinct variants of every format are rendered. It did not
 * with sharp's `toUint8Array()`, which never frees its output: see `write` in picture.ts, and
 * test/upstream.
 */

/** `IMAGE_DELIVERY_JEMALLOC` names the library where it is elsewhere. */
const jemalloc = [
  process.env['IMAGE_DELIVERY_JEMALLOC'],
  '/usr/lib/x86_64-linux-gnu/libjemalloc.so.2',
  '/usr/lib/aarch64-linux-gnu/libjemalloc.so.2',
].find((path) => path !== undefined && existsSync(path));

/** Far more than the heaps of both threads let accumulate before they collect garbage. */
const [warmUp, measured] = isLong ? [200, 2_000] : [60, 120];
/** A part of the outputs that may not be freed yet. */
const most = isLong ? 0.05 : 0.8;

const allocators: Readonly<Record<string, Readonly<Record<string, string>> | null>> = {
  // As the front ends have it.
  glibc: { MALLOC_ARENA_MAX: '2' },
  jemalloc: jemalloc === undefined ? null : { LD_PRELOAD: jemalloc },
};

for (const [name, variables] of Object.entries(allocators)) {
  const skip =
    variables === null && 'there is no libjemalloc.so.2; IMAGE_DELIVERY_JEMALLOC can name it';
  t.test(
    `outputs are freed when they were delivered: ${name}`,
    { skip, timeout: 3_600_000 },
    async (t) => {
      const program = fileURLToPath(scriptUrl('memory-program', import.meta.url));
      const rendering = spawn(
        process.execPath,
        [...scriptArguments, program, String(warmUp), String(measured)],
        { env: { ...process.env, ...variables }, stdio: ['ignore', 'pipe', 'inherit'] },
      );
      const { rendered, made, before, after }: Growth = JSON.parse(await text(rendering.stdout));
      const grown = after - before;
      t.comment(
        `${rendered} variants, ${mebibytes(made)} MiB; ${mebibytes(before)} to ${mebibytes(after)} MiB`,
      );
      t.ok(
        grown < most * made,
        `of ${mebibytes(made)} MiB, ${mebibytes(grown)} MiB are still in memory`,
      );
    },
  );
}

const mebibytes = (bytes: number): number => Math.round(bytes / 2 ** 20);
