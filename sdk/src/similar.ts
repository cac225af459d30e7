/**
 * Longer than any known name. Longer names are not compared, because a comparison takes time per
 * pair of letters.
 */
const maxLength = 80;

/**
 * Returns the most similar known name, for a hint that can be wrong: the names differ by at most an
 * edit per three letters, or either starts with the other. Returns undefined if no name is similar.
 */
export function similarName(name: string, known: readonly string[]): string | undefined {
  if (name.length > maxLength) return undefined;
  const plain = name.toLowerCase();
  const candidates = known.flatMap((other) => {
    const lower = other.toLowerCase();
    const maxEdits = Math.floor(Math.max(plain.length, lower.length) / 3);
    const isFar = Math.abs(plain.length - lower.length) > maxEdits;
    if (isFar && !isAbbreviated(plain, lower)) return [];
    const edits = editsBetween(plain, lower);
    return edits <= maxEdits || isAbbreviated(plain, lower) ? [{ other, edits }] : [];
  });
  return candidates.sort((a, b) => a.edits - b.edits)[0]?.other;
}

/** Returns whether either text starts with the other, if the shorter has at least three letters. */
export function isAbbreviated(text: string, other: string): boolean {
  const shorter = Math.min(text.length, other.length);
  return shorter >= 3 && (text.startsWith(other) || other.startsWith(text));
}

/** Optimal string alignment distance: insertions, deletions, substitutions, adjacent transpositions. */
export function editsBetween(text: string, other: string): number {
  let previous: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let i = 1; i <= text.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const same = text[i - 1] === other[j - 1];
      const replaced = (row[j - 1] ?? 0) + (same ? 0 : 1);
      let cost = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, replaced);
      const transposed =
        i > 1 && j > 1 && text[i - 1] === other[j - 2] && text[i - 2] === other[j - 1];
      if (transposed) cost = Math.min(cost, (previous[j - 2] ?? 0) + 1);
      next.push(cost);
    }
    previous = row;
    row = next;
  }
  return row[other.length] ?? 0;
}
