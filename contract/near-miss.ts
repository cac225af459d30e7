const prefix = 'SERVICE_';

/**
 * The variable that an unknown `SERVICE_...` variable was probably meant to be: one that differs by its
 * case, by few letters, or by words that are left out, cut short or in another order. Undefined for a
 * name that resembles none, such as the `SERVICE_NAME` of Consul or `SERVICE_SERVICE_HOST` of
 * Kubernetes.
 */
export function intendedVariable(name: string, known: readonly string[]): string | undefined {
  const words = wordsOf(name);
  if (words.length === 0) return undefined;
  const plain = words.join('');
  const candidates = known.map((variable) => {
    const others = wordsOf(variable);
    const whole = others.join('');
    const edits = editsBetween(plain, whole);
    const near = edits <= tolerated(whole.length) || isAbridged(words, others);
    return { variable, edits, near };
  });
  const [best] = candidates.filter(({ near }) => near).sort((a, b) => a.edits - b.edits);
  return best?.variable;
}

const wordsOf = (variable: string): string[] =>
  variable
    .slice(prefix.length)
    .toUpperCase()
    .split(/[^A-Z0-9]+/)
    .filter((word) => word !== '');

/** Among names as short as PORT, two edits make one word of another. */
const tolerated = (length: number): number => (length < 8 ? 1 : length < 12 ? 2 : 3);

/** Whether two or more words, all of them, are words of the other name, each at most once. */
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

/**
 * The least number of letters to insert, remove, replace, or exchange with a neighbour (optimal string
 * alignment distance).
 */
export function editsBetween(text: string, other: string): number {
  let previous: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let i = 1; i <= text.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const same = text[i - 1] === other[j - 1];
      const costs = [(row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (same ? 0 : 1)];
      const exchanged =
        i > 1 && j > 1 && text[i - 1] === other[j - 2] && text[i - 2] === other[j - 1];
      if (exchanged) costs.push((previous[j - 2] ?? 0) + 1);
      next.push(Math.min(...costs));
    }
    previous = row;
    row = next;
  }
  return row[other.length] ?? 0;
}
