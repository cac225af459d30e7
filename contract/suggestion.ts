import { editsBetween, isAbbreviated } from '../sdk/src/similar.ts';

// The SDK is a separate package, so it cannot import this folder.
export { similarName } from '../sdk/src/similar.ts';

/** Shorter names are one edit away from too many others. */
const minLength = 4;
/** Longer than any known name, even after HTML escaping; longer names are not compared. */
const maxLength = 80;

/**
 * The known name that an unknown one probably stands for: it differs in case, by an HTML-escaped `&`
 * before it, or, from four letters on, by one edit. Undefined if no known name is
 * similar.
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > maxLength) return undefined;
  const plain = name.replace(/^(?:amp;)+/i, '').toLowerCase();
  const isNear = (other: string): boolean =>
    other.length >= minLength && isOneEditAway(plain, other.toLowerCase());
  return known.find((other) => other.toLowerCase() === plain) ?? known.find(isNear);
}

/**
 * Returns the variable that an unknown `SERVICE_...` variable probably stands for: it differs in
 * case, by few letters, or by omitted, abbreviated or reordered words. Returns undefined if no
 * variable is similar, as for Consul's `SERVICE_NAME` or Kubernetes' `SERVICE_SERVICE_HOST`.
 */
export function nearestVariable(name: string, known: readonly string[]): string | undefined {
  const words = splitWords(name);
  if (words.length === 0) return undefined;
  const plain = words.join('');
  const candidates = known.map((variable) => {
    const others = splitWords(variable);
    const whole = others.join('');
    const edits = editsBetween(plain, whole);
    return { variable, edits, near: edits <= maxEdits(whole.length) || isAbridged(words, others) };
  });
  const [best] = candidates.filter(({ near }) => near).sort((a, b) => a.edits - b.edits);
  return best?.variable;
}

const prefix = 'SERVICE_';

const splitWords = (variable: string): string[] =>
  variable
    .slice(prefix.length)
    .toUpperCase()
    .split(/[^A-Z0-9]+/)
    .filter((word) => word !== '');

/** Among names as short as PORT, two edits turn one word into another. */
const maxEdits = (length: number): number => (length < 8 ? 1 : length < 12 ? 2 : 3);

/** Whether at least two words all match different words of the other name. */
function isAbridged(words: readonly string[], others: readonly string[]): boolean {
  if (words.length < 2) return false;
  const rest = [...others];
  return words.every((word) => {
    const at = rest.findIndex((other) => isSameWord(word, other));
    if (at !== -1) rest.splice(at, 1);
    return at !== -1;
  });
}

function isSameWord(word: string, other: string): boolean {
  if (word === other) return true;
  if (isAbbreviated(word, other)) return true;
  return Math.min(word.length, other.length) >= minLength && isOneEditAway(word, other);
}

/** Whether one edit of `editsBetween` turns one text into the other, in linear time. */
function isOneEditAway(text: string, other: string): boolean {
  const longer = text.length - other.length;
  if (longer < -1 || longer > 1 || text === other) return false;
  let at = 0;
  while (at < text.length && text.charCodeAt(at) === other.charCodeAt(at)) at += 1;
  if (longer === 1) return endsEqual(text, other, other.length - at);
  if (longer === -1) return endsEqual(text, other, text.length - at);
  const rest = text.length - at - 1;
  if (endsEqual(text, other, rest)) return true;
  const isTransposed = text[at] === other[at + 1] && text[at + 1] === other[at];
  return isTransposed && endsEqual(text, other, rest - 1);
}

/** Whether the last characters of two texts are equal. */
function endsEqual(text: string, other: string, count: number): boolean {
  for (let fromEnd = 1; fromEnd <= count; fromEnd += 1) {
    const same =
      text.charCodeAt(text.length - fromEnd) === other.charCodeAt(other.length - fromEnd);
    if (!same) return false;
  }
  return true;
}
