import { tooLarge } from './errors.ts';
import type { DecodingCost, InspectionLimits, Weight } from './source-format.ts';
import { maxWebAssemblyBytes } from './wasm/memory.ts';

/** Returns the time in ms and the memory in bytes that decoding takes. */
export function computeDecodingCost(
  cost: DecodingCost,
  { width, height, is16Bit, hasAlpha }: Weight,
) {
  const pixels = width * height;
  const { ms, bytes } = (is16Bit ? cost.deep : undefined) ?? cost;
  const factor = hasAlpha ? (cost.alphaFactor ?? 1) : 1;
  return { ms: (ms * pixels) / 1e6, bytes: bytes * factor * pixels };
}

/**
 * Requires enough memory for a WebAssembly decoder to decode a source.
 *
 * @param processBytes a process's memory after decoding a small source
 * @throws ServiceError source_too_large
 */
export function requireDecoderMemory(
  cost: DecodingCost,
  weight: Weight,
  processBytes: number,
  { processMemoryBytes }: InspectionLimits,
): void {
  const bytes = processBytes + computeDecodingCost(cost, weight).bytes;
  const max = Math.min(processMemoryBytes, maxWebAssemblyBytes);
  if (bytes <= max) return;
  const [needed, available] = [bytes, max].map((value) => Math.ceil(value / 2 ** 20));
  throw tooLarge(
    `Decoding needs about ${needed} MiB, above the ${available} MiB limit per transform process.`,
  );
}
