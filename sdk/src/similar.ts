/**
 * The known name that resembles another one most: it differs by a typing error for each three letters, or one begins
 * with the other. Undefined if none is similar.
 */
export function similarName(name: string, known: readonly string[]): string | undefined {
  const plain = name.slice(0, 40).toLowerCase();
  const candidates = known
    .map((other) => ({ other, errors: errorsBetween(plain, other.toLowerCase()) }))
    .filter(({ other, errors }) => {
      const [shorter = '', longer = ''] = [plain, other.toLowerCase()].sort(
        (a, b) => a.length - b.length,
      );
      const begins = shorter.length >= 3 && longer.startsWith(shorter);
      return begins || errors <= Math.floor(longer.length / 3);
    });
  return candidates.sort((a, b) => a.errors - b.errors)[0]?.other;
}

/** Letters to insert, to delete or to replace, and neighbours to exchange (optimal string alignment). */
function errorsBetween(text: string, other: string): number {
  const rows = [Array.from({ length: other.length + 1 }, (_, column) => column)];
  for (const [i, letter] of [...text].entries()) {
    const [row = [], before = []] = [rows[i], rows[i - 1]];
    const next = [i + 1];
    for (const [j, otherLetter] of [...other].entries()) {
      const isSame = letter === otherLetter;
      const isExchanged = letter === other[j - 1] && otherLetter === text[i - 1];
      next.push(
        Math.min(
          (row[j + 1] ?? 0) + 1,
          (next[j] ?? 0) + 1,
          (row[j] ?? 0) + (isSame ? 0 : 1),
          isExchanged ? (before[j - 1] ?? 0) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    rows.push(next);
  }
  return rows.at(-1)?.at(-1) ?? 0;
}
