export const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Returns the day of a date, or an empty string. */
export const day = (date: Date | null): string => date?.toISOString().slice(0, 10) ?? '';

/** Replaces control characters, which clients can put into names and terminals execute. */
export const printable = (text: string): string => text.replaceAll(/\p{Cc}/gu, '\u{fffd}');

export const count = (number: number, what: string): string =>
  `${number} ${what}${number === 1 ? '' : 's'}`;

/** A list as JSON for programs, or as a table for people. */
export interface PrintedList<T> {
  readonly items: readonly T[];
  /** Returns an item's JSON fields; by default the item. */
  readonly fields?: (item: T) => object;
  /** Returns an item's cells, by column heading. */
  readonly cells: (item: T) => Readonly<Record<string, string>>;
  /** Printed instead of an empty table. */
  readonly empty?: string;
}

/** The option of every command that prints a list. */
export const jsonOption = ['--json', 'print an array of JSON objects'] as const;

export function printList<T>(
  { items, fields = (item) => item as object, cells, empty = 'No entries.' }: PrintedList<T>,
  json = false,
): void {
  if (json) return print(escaped(JSON.stringify(items.map(fields), null, 2)));
  const rows = items.map(cells);
  const [first] = rows;
  if (first === undefined) return print(empty);
  printTable(Object.keys(first), rows.map(Object.values));
}

/** Escapes control characters, which JSON can contain and terminals execute. */
const escaped = (json: string): string =>
  json.replaceAll(
    /[\u007f-\u009f]/g,
    (character) => `\\u00${character.charCodeAt(0).toString(16)}`,
  );

export function printTable(heads: readonly string[], rows: ReadonlyArray<readonly string[]>): void {
  const widths = heads.map((head, column) =>
    rows.reduce((width, row) => Math.max(width, row[column]?.length ?? 0), head.length),
  );
  for (const row of [heads, ...rows]) {
    const cells = row.map(printable).map((text, column) => text.padEnd(widths[column] ?? 0));
    print(cells.join('  ').trimEnd());
  }
}
