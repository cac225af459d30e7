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

/** Fields that have a place of their own, or that say nothing to a person. */
const placed = new Set(['level', 'time', 'pid', 'part', 'msg', 'err']);

/** A terminal executes control characters, and the text of others may have them (also C1, and bidi). */
const printable = (text: string): string => text.replaceAll(/\p{C}/gu, '\u{fffd}');

/** A value without quotes where they add nothing. */
function valueInWords(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value) ?? '';
  return value === '' || /[\s"=]/.test(value) ? JSON.stringify(value) : value;
}

interface LoggedError {
  readonly message?: unknown;
  readonly stack?: unknown;
}

/** The stack, which begins with the message, or the message alone; each line indented. */
function errorInWords(error: LoggedError): string {
  const text = typeof error.stack === 'string' ? error.stack : valueInWords(error.message ?? error);
  return text
    .split('\n')
    .map((line) => `\n    ${printable(line.trim())}`)
    .join('');
}

/**
 * A line of JSON that pino has made, as text for a person: `12:34:56 WARN front-end: message (key
 * value, key value)`, with the stack of an error below it. Anything else is returned as it is.
 * @param colours whether the terminal shows colours
 */
export function logLineInWords(line: string, colours: boolean): string {
  const fields = parsed(line);
  if (fields === null) return line;
  const { level, time, part, msg, err } = fields;
  const [name, style] = levels[Number(level)] ?? ['LOG', 'white'];
  const paint = (text: string, with_: Style) => (colours ? styleText(with_, text) : text);
  const clock = new Date(Number(time)).toTimeString().slice(0, 8);
  const details = Object.entries(fields)
    .filter(([key]) => !placed.has(key))
    .map(([key, value]) => printable(`${key} ${valueInWords(value)}`))
    .join(', ');
  const error = typeof err === 'object' && err !== null ? errorInWords(err) : '';
  const text =
    printable(String(msg ?? '')) + (details === '' ? '' : paint(` (${details})`, 'gray'));
  return `${paint(clock, 'gray')} ${paint(name, style)} ${part}: ${text}${error}\n`;
}

function parsed(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? { ...value } : null;
  } catch {
    return null;
  }
}
