/** Percent-decodes a text once; returns null if it is not valid UTF-8 or percent-encoding. */
export function percentDecode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
