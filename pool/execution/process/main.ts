import { rmSync } from 'node:fs';
import sharp from 'sharp';
import { isolatedCost } from '../../rendering/execution-plan.ts';
import type { RenderTask } from '../../rendering/render.ts';
import { prepareFonts } from '../../rendering/text/font-folder.ts';
import { plainVariant } from '../../variant.ts';
import { allowGainMaps, blockDecoders } from '../decoders.ts';
import { avifThreads } from '../encoder-threads.ts';
import { runTask } from '../task.ts';
import { residentMemory } from './resident-memory.ts';
import type { FromProcess } from './transform-process.ts';

/**
 * The entry point of a transform process. It transforms one image at a time, and ends when its
 * memory exceeds the limit or the front end is gone. Native code runs on libuv's threads, so this
 * thread is always free to do both.
 */

/** `addedFonts` is empty without an operator's folder, and absent if the process draws no letters. */
const [memoryBytes, cpuSeconds, folder = '', addedFonts] = process.argv.slice(2);
const [maxMemoryBytes, maxCpuSeconds] = [Number(memoryBytes), Number(cpuSeconds)];

/** Interval of the memory checks, in ms. A core fills about 50 MB in this time. */
const checkEveryMs = 20;

sharp.cache(false);
sharp.concurrency(avifThreads);
blockDecoders({ onThread: false });

const end = (signal: NodeJS.Signals) => void process.kill(process.pid, signal);

// The front end decides when this process ends, even if the whole process group receives a signal.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
// An ordinary exit would wait for native code.
process.on('disconnect', () => {
  try {
    // The front end normally removes the folder, but might have been killed.
    rmSync(folder, { recursive: true, force: true });
  } finally {
    end('SIGKILL');
  }
});

const send = (message: FromProcess, sent = () => {}) => void process.send?.(message, sent);

process.on('message', async (task: RenderTask) => {
  const cost = task.execution?.cost;
  const memoryBytes = cost?.isMemoryCapped ? Math.min(cost.bytes, maxMemoryBytes) : maxMemoryBytes;
  const timer = setInterval(() => {
    if (residentMemory() <= memoryBytes) return;
    clearInterval(timer);
    // A failed native allocation ends with SIGABRT too.
    if (memoryBytes === maxMemoryBytes) return end('SIGABRT');
    const unlimited = { ...isolatedCost, bytes: maxMemoryBytes, isMemoryCapped: false };
    const execution = { isolated: true, cost: unlimited };
    send({ type: 'done', result: { ok: false, execution }, exhausted: true }, () => end('SIGKILL'));
  }, checkEveryMs);
  allowGainMaps(task.variant.gainMap);
  const result = await runTask(task);
  // Native code that took too long still runs, until the front end kills this process.
  const isRunning = 'error' in result && result.error.code === 'transform_timeout';
  if (!isRunning) clearInterval(timer);
  send({ type: 'done', result, exhausted: isRunning || isExhausted() });
});

/**
 * Returns whether the process has too little memory or CPU time left for another transform. The
 * system does not always get native memory back, and the CPU limit applies to the process's whole
 * life.
 */
function isExhausted(): boolean {
  const { user, system } = process.cpuUsage();
  const halfCpu = (user + system) / 1e6 > maxCpuSeconds / 2;
  return halfCpu || residentMemory() > isolatedCost.bytes;
}

/**
 * Exits unless this Node and libvips work within the limits; loads the modules that the first SVG
 * needs.
 */
async function requireWorking(): Promise<void> {
  const source = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>');
  const limits = {
    sourceMaxPixels: 1,
    softTimeoutSeconds: 60,
    svgTimeoutMs: 60_000,
    processMemoryBytes: maxMemoryBytes,
  };
  const execution = { isolated: true, cost: null };
  const task = { source, layers: [], variant: plainVariant, limits, execution };
  if (!(await runTask(task)).ok) process.exit(1);
}

async function start(): Promise<void> {
  if (addedFonts !== undefined) await prepareFonts({ own: folder, added: addedFonts || null });
  await requireWorking();
  // Not before: the start counts as a part of the first task's time.
  send({ type: 'ready' });
}

void start();
