import { inspect } from 'node:util';
import { parentPort, workerData } from 'node:worker_threads';
import { type ErrorData, ServiceError } from '../../../contract/errors.ts';

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
    received(instance, workerData.module);
    return instance.exports;
  },
};

/** Runs the task of this thread and sends its result; other errors than ServiceErrors end the thread. */
export async function answer<Task>(
  decode: (task: Task) => Buffer<ArrayBuffer> | Promise<Buffer<ArrayBuffer>>,
): Promise<void> {
  const result = await run(decode);
  parentPort?.postMessage(result, result.ok ? [result.data.buffer] : []);
}

async function run<Task>(decode: Parameters<typeof answer<Task>>[0]): Promise<DecoderResult> {
  try {
    const { buffer, byteOffset, byteLength } = await decode(workerData.task);
    return { ok: true, data: new Uint8Array(buffer, byteOffset, byteLength) };
  } catch (thrown) {
    if (!(thrown instanceof ServiceError)) throw thrown;
    return { ok: false, error: thrown.toData(), detail: inspect(thrown.cause) };
  }
}
