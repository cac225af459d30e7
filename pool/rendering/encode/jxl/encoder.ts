import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { programUrl } from '../../../../contract/package.ts';
import { tooMuchMemory, transformTimeout } from '../../../formats/errors.ts';
import { startThread, vipsModule } from '../../../formats/wasm/run.ts';
import type { JxlInput, JxlOptions, JxlResult, JxlTask } from './thread.ts';

const entry = programUrl('pool/rendering/encode/jxl/thread');

/**
 * How long an unused encoder lives, in ms. Starting takes 0.35 s of CPU time, and an encoder holds
 * 75 MB.
 */
const idleMs = 60_000;

/**
 * Memory above which an encoder ends after its image. WebAssembly memory starts at 256 MiB and
 * never shrinks.
 */
const maxKeptBytes = 768 * 2 ** 20;

let running: Worker | null = null;
let idle: NodeJS.Timeout | undefined;
/** Resolves after the last image: each image waits for its predecessor. */
let turn: Promise<unknown> = Promise.resolve();

/**
 * Encodes a JPEG XL with libjxl in WebAssembly, on a separate thread: an encoder fault fails a
 * single image, and the thread's end frees its memory. The first image starts the thread, which
 * stays for the next image.
 *
 * @param seconds the timeout
 * @throws ServiceError transform_timeout, source_too_large, internal_error
 */
export function encodeJxl(
  input: JxlInput,
  options: JxlOptions,
  seconds: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const encoded = turn.then(() => {
    // Copies, because sharp's buffers cannot be transferred to another thread.
    const bytes = new Uint8Array(new SharedArrayBuffer(input.bytes.byteLength));
    bytes.set(input.bytes);
    return encode({ ...options, input: { ...input, bytes } }, seconds);
  });
  turn = encoded.catch(() => {});
  return encoded;
}

async function encode(task: JxlTask, seconds: number): Promise<Uint8Array<ArrayBuffer>> {
  clearTimeout(idle);
  const thread = running ?? (await start());
  thread.ref();
  const done = new AbortController();
  try {
    const result = await waitForResult(thread, task, seconds, done.signal);
    if (!result.ok) throw failed(result.detail, result.outOfMemory);
    if (result.memoryBytes > maxKeptBytes) await end(thread);
    return result.data;
  } catch (error) {
    // The thread's instance might be damaged.
    await end(thread);
    throw error;
  } finally {
    done.abort();
    thread.unref();
    idle = setTimeout(() => void end(thread), idleMs).unref();
  }
}

/** @param signal aborts when the caller does not need the result */
async function waitForResult(
  thread: Worker,
  task: JxlTask,
  seconds: number,
  signal: AbortSignal,
): Promise<JxlResult> {
  const ended = once(thread, 'exit', { signal }).then(([code]) => {
    throw failed(`exit code ${code}`, false);
  });
  const late = sleep(seconds * 1_000, undefined, { signal }).then(() => {
    throw transformTimeout();
  });
  // `once` also rejects with the error of a thread.
  const answered = once(thread, 'message', { signal }).then(([result]): JxlResult => result);
  thread.postMessage(task);
  const outcomes = [answered, ended, late];
  for (const outcome of outcomes) outcome.catch(() => {});
  return Promise.race(outcomes);
}

async function start(): Promise<Worker> {
  const thread = startThread(entry, { module: await vipsModule() });
  // An unhandled error, even on an idle thread, would end this thread.
  thread.on('error', () => {});
  thread.once('exit', () => void (running === thread && end(thread)));
  running = thread;
  return thread;
}

async function end(thread: Worker): Promise<void> {
  if (running === thread) running = null;
  await thread.terminate();
}

const failed = (detail: string, outOfMemory: boolean): Error =>
  outOfMemory ? tooMuchMemory(detail) : new Error(`The JPEG XL encoder failed: ${detail}`);
