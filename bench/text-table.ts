/** Formats a text table; aligns the first columns left and the others right. */
export function textTable(rows: ReadonlyArray<ReadonlyArray<string>>, leftColumns = 1): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]) => {
    const cells = row.map((cell, column) =>
      column < leftColumns ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
    );
    return cells.join('  ').trimEnd();
  };
  return rows.map(line).join('\n');
}
