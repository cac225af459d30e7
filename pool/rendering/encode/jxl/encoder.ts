import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { programUrl } from '../../../../contract/own-files.ts';
import { tooMuchMemory, transformTimeout } from '../../../formats/errors.ts';
import { startThread, vipsModule } from '../../../formats/wasm/run.ts';
import type { JxlInput, JxlOptions, JxlResult, JxlTask } from './thread.ts';

const entry = programUrl('pool/rendering/encode/jxl/thread');

/** Time after which an unused encoder ends, in ms. A start takes 0.35 s of CPU time, and one holds 75 MB. */
const idleMs = 60_000;

/** Memory above which an encoder ends after its image. That of WebAssembly begins with 256 MiB and never shrinks. */
const maxKeptBytes = 768 * 2 ** 20;

let running: Worker | null = null;
let idle: NodeJS.Timeout | undefined;
/** Of the last image: each waits for the one before. */
let turn: Promise<unknown> = Promise.resolve();

/**
 * Encodes a JPEG XL with libjxl in WebAssembly, on a thread of its own: a fault of the encoder fails one image, and the
 * end of the thread gives its memory back. The thread starts with the first image, and is kept for the next one.
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
    // sharp's buffers cannot be transferred to another thread, which reads this copy.
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
    const result = await answerOf(thread, task, seconds, done.signal);
    if (!result.ok) throw failed(result.detail, result.outOfMemory);
    if (result.memoryBytes > maxKeptBytes) await end(thread);
    return result.data;
  } catch (error) {
    // Its instance may be damaged.
    await end(thread);
    throw error;
  } finally {
    done.abort();
    thread.unref();
    idle = setTimeout(() => void end(thread), idleMs).unref();
  }
}

/** @param signal aborts when the answer is no longer awaited */
async function answerOf(
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
  for (const one of outcomes) one.catch(() => {});
  return Promise.race(outcomes);
}

async function start(): Promise<Worker> {
  const thread = startThread(entry, { module: await vipsModule() });
  // Also of an idle thread, which would end this one.
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
