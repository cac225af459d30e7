/** Maximum memory of a decoder instance: wasm-vips, libheif or PDFium. */
export const maxWebAssemblyBytes = 2 ** 31;

let memory: WebAssembly.Memory | undefined;

/** Stores this thread's instance memory, which the instance imports or exports. */
export function rememberMemory(...parts: readonly object[]): void {
  const values = parts.flatMap((part) => Object.values(part));
  memory = values.find((value) => value instanceof WebAssembly.Memory);
}

/** Returns the bytes in the instance's memory, which are only freed when the thread ends. */
export const memoryBytes = (): number => memory?.buffer.byteLength ?? 0;

/**
 * Returns whether an error is a failed allocation. Some libraries report a failed allocation as a
 * damaged image, so any error counts once the instance has taken three quarters of its maximum:
 * images within the limits take less.
 */
export const isOutOfMemory = (error: unknown): boolean =>
  memoryBytes() > 0.75 * maxWebAssemblyBytes || /memory|alloc/i.test(getMessage(error));

/** Returns a message. A C++ exception's message is an array: the type's name, and the text. */
const getMessage = (error: unknown): string =>
  String((error as { readonly message?: unknown } | null)?.message ?? error);
