import { distance } from 'fastest-levenshtein';

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
    other.length >= minLength && countEdits(plain, other.toLowerCase()) === 1;
  return known.find((other) => other.toLowerCase() === plain) ?? known.find(isNear);
}

/**
 * Returns the most similar known name, for a hint that can be wrong: the names differ by at most an
 * edit per three letters, or either starts with the other. Returns undefined if no name is similar.
 */
export function similarName(name: string, known: readonly string[]): string | undefined {
  if (name.length > maxLength) return undefined;
  const plain = name.toLowerCase();
  const candidates = known.map((other) => {
    const lower = other.toLowerCase();
    const edits = countEdits(plain, lower);
    const maxEdits = Math.floor(Math.max(plain.length, lower.length) / 3);
    return { other, edits, near: edits <= maxEdits || isAbbreviated(plain, lower) };
  });
  return candidates.filter(({ near }) => near).sort((a, b) => a.edits - b.edits)[0]?.other;
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
    const edits = countEdits(plain, whole);
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
  if (word === other || isAbbreviated(word, other)) return true;
  return Math.min(word.length, other.length) >= minLength && countEdits(word, other) === 1;
}

/** Returns whether either text starts with the other, if the shorter has at least three letters. */
function isAbbreviated(text: string, other: string): boolean {
  const shorter = Math.min(text.length, other.length);
  return shorter >= 3 && (text.startsWith(other) || other.startsWith(text));
}

/**
 * Returns how many letters are inserted, deleted or replaced between two texts. Two exchanged
 * neighbours, as the only difference, are one edit.
 */
function countEdits(text: string, other: string): number {
  const edits = distance(text, other);
  if (edits !== 2 || text.length !== other.length) return edits;
  let at = 0;
  while (text[at] === other[at]) at += 1;
  const exchanged = `${text.slice(0, at)}${text[at + 1]}${text[at]}${text.slice(at + 2)}`;
  return exchanged === other ? 1 : edits;
}
