/** Decodes a text once; null if it is not UTF-8, percent-encoded. */
export function percentDecode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
