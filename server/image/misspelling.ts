/** Shorter names are one edit away from too many others. */
const minLength = 4;
/** Longer ones than any known name, and than what HTML escaping makes of it, are not compared. */
const maxLength = 80;

/** A name without what HTML escaping of `&` puts before it. */
const unescaped = (name: string): string => name.replace(/^(?:amp;)+/i, '').toLowerCase();

/**
 * The known name that a name was probably meant to be: one that differs in case, by an HTML-escaped
 * `&` before it, or, from four letters on, by one edit. Undefined for a name that resembles none.
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > maxLength) return undefined;
  const plain = unescaped(name);
  return (
    known.find((one) => one.toLowerCase() === plain) ??
    known.find((one) => one.length >= minLength && isOneEditAway(plain, one.toLowerCase()))
  );
}

/** One letter inserted, removed or replaced, or two neighbours exchanged. */
function isOneEditAway(text: string, other: string): boolean {
  const [short, long] = text.length <= other.length ? [text, other] : [other, text];
  if (long.length - short.length > 1) return false;
  let at = 0;
  while (at < short.length && short[at] === long[at]) at += 1;
  if (short.length < long.length) return short.slice(at) === long.slice(at + 1);
  const exchanged =
    short.charAt(at) === long.charAt(at + 1) && short.charAt(at + 1) === long.charAt(at);
  return (
    short.slice(at + 1) === long.slice(at + 1) ||
    (exchanged && short.slice(at + 2) === long.slice(at + 2))
  );
}
