import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

/** pino's numbers. */
const levels: Readonly<Record<number, readonly [name: string, style: Style]>> = {
  10: ['TRACE', 'gray'],
  20: ['DEBUG', 'gray'],
  30: ['INFO', 'cyan'],
  40: ['WARN', 'yellow'],
  50: ['ERROR', 'red'],
  60: ['FATAL', 'red'],
};

/** Fields with a fixed place in the line, or without meaning for a person. */
const shownElsewhere = new Set(['level', 'time', 'pid', 'part', 'msg', 'err']);

/** Replaces control characters (also C1 and bidi), which a terminal would execute. */
const printable = (text: string): string => text.replaceAll(/\p{C}/gu, '\u{fffd}');

/** A value, quoted only if it has blanks, quotes or equals signs. */
function formatValue(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value) ?? '';
  return value === '' || /[\s"=]/.test(value) ? JSON.stringify(value) : value;
}

interface LoggedError {
  readonly message?: unknown;
  readonly stack?: unknown;
}

/** Returns the indented stack, which starts with the message, or else the indented message. */
function formatError(error: LoggedError): string {
  const text = typeof error.stack === 'string' ? error.stack : formatValue(error.message ?? error);
  return text
    .split('\n')
    .map((line) => `\n    ${printable(line.trim())}`)
    .join('');
}

/**
 * Converts a JSON line of pino to text: `12:34:56 WARN front-end: message (key value, key value)`, and
 * the stack of an error below it. Returns other lines unchanged.
 */
export function formatLogLine(line: string, colours: boolean): string {
  const fields = parseObject(line);
  if (fields === null) return line;
  const { level, time, part, msg, err } = fields;
  const [name, style] = levels[Number(level)] ?? ['LOG', 'white'];
  const paint = (text: string, format: Style) => (colours ? styleText(format, text) : text);
  const clock = new Date(Number(time)).toTimeString().slice(0, 8);
  const details = Object.entries(fields)
    .filter(([key]) => !shownElsewhere.has(key))
    .map(([key, value]) => printable(`${key} ${formatValue(value)}`))
    .join(', ');
  const error = typeof err === 'object' && err !== null ? formatError(err) : '';
  const text =
    printable(String(msg ?? '')) + (details === '' ? '' : paint(` (${details})`, 'gray'));
  return `${paint(clock, 'gray')} ${paint(name, style)} ${part}: ${text}${error}\n`;
}

function parseObject(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? { ...value } : null;
  } catch {
    return null;
  }
}
