/** The percentile of the samples (nearest rank); `share` is 0 to 1. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

/** A text table; the first columns are aligned left, the others right. */
export function table(rows: ReadonlyArray<ReadonlyArray<string>>, leftColumns = 1): string {
  const widths = rows[0]?.map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => {
        const width = widths?.[column] ?? 0;
        return column < leftColumns ? cell.padEnd(width) : cell.padStart(width);
      })
      .join('  ')
      .trimEnd();
  return rows.map(line).join('\n');
}
