/** Longer texts are not examined. */
const maxLength = 2_048;

/** A host with a dot, or one of this machine, with an optional port: what people write without `https://`. */
const hostPattern =
  /^(?:(?:[a-z\d_](?:[a-z\d_-]{0,62})\.)+[a-z]{2,63}|localhost|\d{1,3}(?:\.\d{1,3}){3})(?::\d{1,5})?(?=[/?#]|$)/i;

/** File extensions that look like top-level domains. */
const filePattern =
  /^[^/?#]*\.(?:jpe?g|png|webp|gif|avif|svg|heic|tiff?|bmp|ico|pdf|html?|php)(?:[?#]|$)/i;

/** Returns whether a text starts like a percent-encoded URL, even if encoded several times. */
export const isEncodedUrl = (text: string): boolean => /^https?%(?:25)*3a/i.test(text);

/**
 * Returns the http or https URL that a text probably stands for: the text lacks `https://` or some
 * of its characters, or is percent-encoded. Returns undefined for other texts, such as paths and
 * URLs with another scheme.
 */
export function likelyUrl(text: string): string | undefined {
  if (text.length > maxLength) return undefined;
  const decoded = decodedUrl(text.trim());
  const [, scheme = 'https', rest = ''] =
    /^(?:(https?)(?=[:/])[:/]*|[:/]*\/\/)?(.*)$/is.exec(decoded) ?? [];
  const written = decoded === rest && filePattern.test(rest);
  if (written || !hostPattern.test(rest)) return undefined;
  const url = `${scheme.toLowerCase()}://${rest}`;
  return url !== text && URL.canParse(url) ? url : undefined;
}

function decodedUrl(text: string): string {
  let decoded = text;
  for (let round = 0; round < 4 && isEncodedUrl(decoded); round++) {
    const next = percentDecode(decoded);
    if (next === null) return text;
    decoded = next;
  }
  return decoded;
}

/** Percent-decodes a text once; returns null if it is not valid UTF-8 or percent-encoding. */
export function percentDecode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
