import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { scriptArguments, scriptUrl } from '../scripts.ts';
import type { MemoryGrowth } from './memory-program.ts';
import { isLong } from './run.ts';

/**
 * Memory stays constant during thousands of renders in every format. It would grow with sharp's
 * `toUint8Array()`, which never frees its output: see `write` in picture.ts, and test/upstream.
 */

/** `IMAGE_DELIVERY_JEMALLOC` names the library in another place. */
const jemalloc = [
  process.env['IMAGE_DELIVERY_JEMALLOC'],
  '/usr/lib/x86_64-linux-gnu/libjemalloc.so.2',
  '/usr/lib/aarch64-linux-gnu/libjemalloc.so.2',
].find((path) => path !== undefined && existsSync(path));

/** MiB of outputs; far more than both threads accumulate before they collect garbage. */
const [warmUp, measured] = isLong ? [200, 2_000] : [60, 120];
/** Maximum share of outputs still in memory. */
const maxShare = isLong ? 0.05 : 0.8;

const allocators: Readonly<Record<string, Readonly<Record<string, string>> | null>> = {
  // Use the front ends' setting.
  glibc: { MALLOC_ARENA_MAX: '2' },
  jemalloc: jemalloc === undefined ? null : { LD_PRELOAD: jemalloc, MALLOC_CONF: 'narenas:2' },
};
const mebibytes = (bytes: number): number => Math.round(bytes / 2 ** 20);

for (const [name, variables] of Object.entries(allocators)) {
  const skip =
    variables === null && 'libjemalloc.so.2 is missing; IMAGE_DELIVERY_JEMALLOC can name it';
  t.test(`frees delivered outputs: ${name}`, { skip, timeout: 3_600_000 }, async (t) => {
    const program = fileURLToPath(scriptUrl('memory-program', import.meta.url));
    const rendering = spawn(
      process.execPath,
      [...scriptArguments, program, String(warmUp), String(measured)],
      { env: { ...process.env, ...variables }, stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const { rendered, made, before, after }: MemoryGrowth = JSON.parse(
      await text(rendering.stdout),
    );
    const sizes = `${mebibytes(made)} MiB; ${mebibytes(before)} to ${mebibytes(after)} MiB`;
    t.comment(`${rendered} variants, ${sizes}`);
    t.ok(after - before < maxShare * made, `memory after outputs of ${sizes}`);
  });
}
