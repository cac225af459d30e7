/** A mistake of the person at the keyboard: told in a line, without a stack. */
export class Mistake extends Error {}

export const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** A date's day, or nothing. */
export const day = (date: Date | null): string => date?.toISOString().slice(0, 10) ?? '';

/** Names come from anybody with a key, and a terminal obeys control characters. */
const harmless = (text: string): string => text.replaceAll(/\p{Cc}/gu, '\u{fffd}');

/** Rows under their heads, each column as wide as its widest entry. */
export function printTable(heads: readonly string[], rows: ReadonlyArray<readonly string[]>): void {
  const widths = heads.map((head, column) =>
    Math.max(head.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  for (const row of [heads, ...rows]) {
    print(
      row
        .map(harmless)
        .map((text, column) => text.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
  }
}
