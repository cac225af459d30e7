import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Worker } from 'node:worker_threads';
import { ServiceError } from '../../../contract/errors.ts';
import { openThread } from '../../../contract/package.ts';
import { decoderFailed, tooMuchMemory, transformTimeout } from '../errors.ts';
import { isOutOfMemory } from './memory.ts';
import type { DecoderResult } from './thread.ts';

/** Parts of Node's WebAssembly that its types lack. */
declare global {
  namespace WebAssembly {
    interface Module {}
    function compile(bytes: Uint8Array): Promise<Module>;
    class Memory {
      readonly buffer: ArrayBufferLike;
    }
    class Instance {
      constructor(module: Module, imports: object);
      readonly exports: object;
    }
  }
}

/**
 * JavaScript heap per thread. It excludes a decoder's memory and pixels. The process's address
 * space is limited, and Node 22 would reserve more of it for code than remains.
 */
const heap = { maxOldGenerationSizeMb: 64, codeRangeSizeMb: 16 };

/** Interval between CPU time checks, in ms. */
const checkEveryMs = 100;

const modules = new Map<string, Promise<WebAssembly.Module>>();

/**
 * Runs a WebAssembly decoder for one source on a thread, so that the process can still check its
 * memory. Each source gets a new thread and instance, so no memory or bytes pass to the next
 * source. The process compiles the module once, for its first source.
 *
 * @param entry a file that calls `answer`
 * @param module from `loadModule`
 * @param maxCpuMs CPU time that the process can use meanwhile
 * @throws ServiceError source_unsupported, source_corrupt, source_too_large, transform_timeout
 */
export async function runDecoder<Task>(
  entry: URL,
  module: Promise<WebAssembly.Module>,
  task: Task,
  maxCpuMs = Number.POSITIVE_INFINITY,
): Promise<Uint8Array<ArrayBuffer>> {
  const thread = startThread(entry, { task, module: await module });
  const before = process.cpuUsage();
  let timer: NodeJS.Timeout | undefined;
  const result = await new Promise<DecoderResult>((resolve, reject) => {
    thread.once('message', resolve);
    // The decoder's abort, after a failed allocation or because of a fault.
    thread.once('error', (error) =>
      reject(isOutOfMemory(error) ? tooMuchMemory(error) : decoderFailed(error)),
    );
    thread.once('exit', (code) => reject(decoderFailed(`exit code ${code}`)));
    timer = setInterval(() => {
      const { user, system } = process.cpuUsage(before);
      if ((user + system) / 1e3 > maxCpuMs) reject(transformTimeout());
    }, checkEveryMs);
    // The system gets the memory back only when the thread ends, and the next thread needs it.
  }).finally(() => {
    clearInterval(timer);
    return thread.terminate();
  });
  if (result.ok) return result.data;
  throw ServiceError.fromData(result.error, result.detail);
}

const { resolve } = createRequire(import.meta.url);

/**
 * Returns a package's compiled module, such as `wasm-vips/vips.wasm`. While a module exists, V8
 * reuses its code for more modules with the same bytes.
 */
export function loadModule(specifier: string): Promise<WebAssembly.Module> {
  const known = modules.get(specifier);
  if (known !== undefined) return known;
  const compiled = compile(specifier);
  modules.set(specifier, compiled);
  // The next source tries again.
  compiled.catch(() => modules.delete(specifier));
  return compiled;
}

async function compile(specifier: string): Promise<WebAssembly.Module> {
  return WebAssembly.compile(await readFile(resolve(specifier)));
}

/** Returns libvips. It loads its separate JPEG XL module itself. */
export async function vipsModule(): Promise<WebAssembly.Module> {
  const [libvips] = await Promise.all([
    loadModule('wasm-vips/vips.wasm'),
    loadModule('wasm-vips/vips-jxl.wasm'),
  ]);
  return libvips;
}

/** @throws ServiceError source_too_large if the process lacks the memory for a thread */
export function startThread(entry: URL, workerData: object): Worker {
  try {
    return openThread(entry, { workerData, resourceLimits: heap });
  } catch (error) {
    throw tooMuchMemory(error);
  }
}
