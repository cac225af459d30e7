/** Maximum memory of one instance of a decoder: that of wasm-vips, libheif and PDFium. */
export const maxWebAssemblyBytes = 2 ** 31;

let memory: WebAssembly.Memory | undefined;

/** Remembers the memory of the instance on this thread, which it imports or exports. */
export function rememberMemory(...parts: readonly object[]): void {
  const values = parts.flatMap((part) => Object.values(part));
  memory = values.find((value) => value instanceof WebAssembly.Memory);
}

/** Returns the bytes of the instance's memory, which only the end of the thread gives back. */
export const memoryBytes = (): number => memory?.buffer.byteLength ?? 0;

/**
 * Returns true if an error is that of a failed allocation. Some libraries report one as a damaged image, so any error
 * counts as one once the instance has taken three quarters of its maximum: images within the limits take less.
 */
export const isOutOfMemory = (error: unknown): boolean =>
  memoryBytes() > 0.75 * maxWebAssemblyBytes || /memory|alloc/i.test(messageOf(error));

/** The message of an exception in C++ is an array: the name of its type, and the text. */
const messageOf = (error: unknown): string =>
  String((error as { readonly message?: unknown } | null)?.message ?? error);
