import { createInterface } from 'node:readline/promises';
import { ServiceError } from '../../contract/errors.ts';

/** An error of the command or the store: printed as one line, without a stack. */
export class AdminError extends Error {}

export const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Returns the day of a date, or an empty string. */
export const day = (date: Date | null): string => date?.toISOString().slice(0, 10) ?? '';

/** Replaces control characters, which clients can put into names and terminals execute. */
export const printable = (text: string): string => text.replaceAll(/\p{Cc}/gu, '\u{fffd}');

export const count = (number: number, what: string): string =>
  `${number} ${what}${number === 1 ? '' : 's'}`;

/** Returns the line that the user types after a question, or null without a terminal or a line. */
export async function ask(question: string): Promise<string | null> {
  if (!process.stdin.isTTY) return null;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // After the end of the input, such as Ctrl-D, no line follows.
  const ended = new Promise<null>((resolve) => terminal.once('close', () => resolve(null)));
  try {
    return await Promise.race([terminal.question(question), ended]);
  } finally {
    terminal.close();
  }
}

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

/**
 * A field at the start of a message. A message can contain several, separated by semicolons:
 * `sources[0] must be …`, or `the host of origin must be …`.
 */
const fieldPattern = /(^the host of |^|; )([A-Za-z]+)(?:\[\d+\])?(?= )/g;

/**
 * Runs a control plane operation, naming the command's options in its errors instead of body
 * fields.
 * @param options by field, such as `--allow` by `allowedOrigins`
 */
export async function namingOptions<T>(
  options: Readonly<Record<string, string>>,
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'invalid_request') throw error;
    const name = (text: string, start: string, field: string) =>
      Object.hasOwn(options, field) ? `${start}${options[field]}` : text;
    throw new ServiceError(error.code, error.message.replace(fieldPattern, name));
  }
}
