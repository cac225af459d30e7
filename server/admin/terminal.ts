/** An error that is printed as one line, without a stack, because the command or the store caused it. */
export class AdminError extends Error {}

export const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** The day of a date, or an empty string. */
export const day = (date: Date | null): string => date?.toISOString().slice(0, 10) ?? '';

/** Anyone with a write key can choose names, and a terminal executes control characters. */
const printable = (text: string): string => text.replaceAll(/\p{Cc}/gu, '\u{fffd}');

/** Prints rows under their heads, each column as wide as its widest cell. */
export function printTable(heads: readonly string[], rows: ReadonlyArray<readonly string[]>): void {
  const widths = heads.map((head, column) =>
    Math.max(head.length, ...rows.map((row) => row[column]?.length ?? 0)),
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
