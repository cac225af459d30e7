/** Shorter names are one edit away from too many others. */
const minLength = 4;
/** Longer names than any known one, also after HTML escaping, are not compared. */
const maxLength = 80;

/**
 * The known name that an unknown one probably stands for: it differs in case, by an HTML-escaped `&`
 * before it, or, from four letters on, by one edit. Undefined if no known name is
 * similar.
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > maxLength) return undefined;
  const plain = name.replace(/^(?:amp;)+/i, '').toLowerCase();
  const isNear = (other: string) =>
    other.length >= minLength &&
    Math.abs(other.length - plain.length) <= 1 &&
    editsBetween(plain, other.toLowerCase()) === 1;
  return known.find((one) => one.toLowerCase() === plain) ?? known.find(isNear);
}

/**
 * The known name that resembles an unknown one most, for a hint that may be wrong: it differs by an edit for each
 * three letters, or one begins with the other. Undefined if none is similar.
 */
export function similarName(name: string, known: readonly string[]): string | undefined {
  if (name.length > maxLength) return undefined;
  const plain = name.toLowerCase();
  const candidates = known
    .map((other) => ({ other, edits: editsBetween(plain, other) }))
    .filter(({ other, edits }) => {
      const longer = Math.max(plain.length, other.length);
      return edits <= Math.floor(longer / 3) || isSameWord(plain, other);
    });
  return candidates.sort((a, b) => a.edits - b.edits)[0]?.other;
}

/**
 * The variable that an unknown `SERVICE_...` variable probably stands for: it differs in case, by few
 * letters, or by words that are omitted, abbreviated or in another order. Undefined if none is similar,
 * as for the `SERVICE_NAME` of Consul or the `SERVICE_SERVICE_HOST` of Kubernetes.
 */
export function nearestVariable(name: string, known: readonly string[]): string | undefined {
  const words = wordsOf(name);
  if (words.length === 0) return undefined;
  const plain = words.join('');
  const candidates = known.map((variable) => {
    const others = wordsOf(variable);
    const whole = others.join('');
    const edits = editsBetween(plain, whole);
    return { variable, edits, near: edits <= maxEdits(whole.length) || isAbridged(words, others) };
  });
  const [best] = candidates.filter(({ near }) => near).sort((a, b) => a.edits - b.edits);
  return best?.variable;
}

const prefix = 'SERVICE_';

const wordsOf = (variable: string): string[] =>
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
  const shorter = Math.min(word.length, other.length);
  if (shorter >= 3 && (word.startsWith(other) || other.startsWith(word))) return true;
  return shorter >= 4 && editsBetween(word, other) === 1;
}

/** Optimal string alignment distance: insertions, deletions, substitutions, adjacent transpositions. */
function editsBetween(text: string, other: string): number {
  let previous: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let i = 1; i <= text.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const same = text[i - 1] === other[j - 1];
      const costs = [(row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (same ? 0 : 1)];
      const transposed =
        i > 1 && j > 1 && text[i - 1] === other[j - 2] && text[i - 2] === other[j - 1];
      if (transposed) costs.push((previous[j - 2] ?? 0) + 1);
      next.push(Math.min(...costs));
    }
    previous = row;
    row = next;
  }
  return row[other.length] ?? 0;
}
