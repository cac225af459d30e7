/** An error of the command or the store: printed as one line, without a stack. */
export class AdminError extends Error {}

export const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** The day of a date, or an empty string. */
export const day = (date: Date | null): string => date?.toISOString().slice(0, 10) ?? '';

/** Replaces control characters, which clients can put into names and terminals execute. */
const printable = (text: string): string => text.replaceAll(/\p{Cc}/gu, '\u{fffd}');

/** Prints a table with aligned columns. */
export function printTable(heads: readonly string[], rows: ReadonlyArray<readonly string[]>): void {
  const widths = heads.map((head, column) =>
    rows.reduce((width, row) => Math.max(width, row[column]?.length ?? 0), head.length),
  );
  for (const row of [heads, ...rows]) {
    print(
      row
        .map(printable)
        .map((text, column) => text.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
  }
}
