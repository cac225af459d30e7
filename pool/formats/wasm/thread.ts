import { inspect } from 'node:util';
import { parentPort, workerData } from 'node:worker_threads';
import { type ErrorData, ServiceError } from '../../../contract/errors.ts';
import { tooMuchMemory } from '../errors.ts';
import { isOutOfMemory, rememberMemory } from './memory.ts';

/** The message of a decoder's thread. */
export type DecoderResult =
  | { readonly ok: true; readonly data: Uint8Array<ArrayBuffer> }
  | { readonly ok: false; readonly error: ErrorData; readonly detail: string };

/** Options of a module made by Emscripten, which then uses the compiled module of this thread. */
export const emscriptenOptions = {
  instantiateWasm(
    imports: object,
    // A module with threads passes itself on to them.
    received: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
  ): object {
    const instance = new WebAssembly.Instance(workerData.module, imports);
    rememberMemory(...Object.values(imports), instance.exports);
    received(instance, workerData.module);
    return instance.exports;
  },
};

/** Runs this thread's task and sends its result. Errors other than ServiceErrors end the thread. */
export async function runTask<Task>(
  decode: (task: Task) => Buffer<ArrayBuffer> | Promise<Buffer<ArrayBuffer>>,
): Promise<void> {
  const result = await run(decode);
  parentPort?.postMessage(result, result.ok ? [result.data.buffer] : []);
}

async function run<Task>(decode: Parameters<typeof runTask<Task>>[0]): Promise<DecoderResult> {
  try {
    const { buffer, byteOffset, byteLength } = await decode(workerData.task);
    return { ok: true, data: new Uint8Array(buffer, byteOffset, byteLength) };
  } catch (thrown) {
    const error = isLackOfMemory(thrown) ? tooMuchMemory(thrown) : thrown;
    if (!(error instanceof ServiceError)) throw error;
    return { ok: false, error: error.toData(), detail: inspect(error.cause) };
  }
}

/** Other errors of the service than `source_corrupt` name a property of the source. */
function isLackOfMemory(error: unknown): boolean {
  if (!(error instanceof ServiceError)) return isOutOfMemory(error);
  return error.code === 'source_corrupt' && isOutOfMemory(error.cause);
}
