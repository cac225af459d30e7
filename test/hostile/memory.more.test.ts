import { spawn } from 'node:child_process';
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

/** MiB of outputs; far more than both threads accumulate before they collect garbage. */
const [warmUp, measured] = isLong ? [200, 2_000] : [60, 120];
/** Maximum share of outputs still in memory. */
const maxShare = isLong ? 0.05 : 0.8;

const mebibytes = (bytes: number): number => Math.round(bytes / 2 ** 20);

t.test('frees delivered outputs', { timeout: 3_600_000 }, async (t) => {
  const program = fileURLToPath(scriptUrl('memory-program', import.meta.url));
  const rendering = spawn(
    process.execPath,
    [...scriptArguments, program, String(warmUp), String(measured)],
    // Uses the front ends' setting.
    { env: { ...process.env, MALLOC_ARENA_MAX: '2' }, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const { rendered, made, before, after }: MemoryGrowth = JSON.parse(await text(rendering.stdout));
  const sizes = `${mebibytes(made)} MiB; ${mebibytes(before)} to ${mebibytes(after)} MiB`;
  t.comment(`${rendered} variants, ${sizes}`);
  t.ok(after - before < maxShare * made, `memory after outputs of ${sizes}`);
});
