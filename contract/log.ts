import { styleText } from 'node:util';
import { type Logger, pino, stdSerializers } from 'pino';
import { redactedMark, redactText } from './redact.ts';
import { type Settings, settingRows } from './settings/table.ts';

export type { Logger } from 'pino';

/** Shorter values could occur by chance in any log line. */
const minSecretLength = 4;

/** The values of secret settings, and the passwords of URLs among them. */
function findSecrets(settings: Settings): string[] {
  const values = settingRows
    .filter(([, { secret }]) => secret === true)
    .flatMap(([name, row]): readonly unknown[] => {
      const value = settings[name];
      return row.secretsIn?.(value) ?? [value];
    })
    .filter((value) => typeof value === 'string');
  const passwords = values.flatMap((value) => /:\/\/[^/@]*?:([^@]+)@/.exec(value)?.[1] ?? []);
  return [...values, ...passwords].filter(({ length }) => length >= minSecretLength);
}

/** Maximum bytes of unwritten lines. */
const maxBufferedBytes = 64 * 1024;

/** Whether a person reads the log: standard output is a terminal, and the format is not JSON. */
export const isOnTerminal = ({ logFormat }: Pick<Settings, 'logFormat'>): boolean =>
  process.stdout.isTTY === true && logFormat !== 'json';

/** NO_COLOR and TERM=dumb are conventions of terminals (https://no-color.org). */
const hasColours = (): boolean =>
  process.stdout.isTTY === true && !process.env['NO_COLOR'] && process.env['TERM'] !== 'dumb';

/**
 * Creates a logger to standard output, as JSON or text. It writes synchronously, because the last
 * lines before a crash matter most, and redacts secret settings, and the secret parts of URLs, even
 * in error messages. On a terminal the default level is `warn`. Write errors do not end the process:
 * a full disk (ENOSPC), a closed terminal (EIO), a closed pipe (EPIPE). The logger then
 * holds some lines, writes them later, and warns how many lines were lost.
 *
 * @param part the kind of process: `primary`, `front-end`, `worker`, `start`
 */
export function createLogger(settings: Settings, part: string): Logger {
  // Escaped as in JSON text.
  const secrets = findSecrets(settings).map((secret) => JSON.stringify(secret).slice(1, -1));
  const terminal = isOnTerminal(settings);
  const colours = hasColours();
  const asText = terminal || settings.logFormat === 'text';
  // `flush` has no effect if `minLength` is 0.
  const output = pino.destination({ sync: true, minLength: 1, maxLength: maxBufferedBytes });
  // pino's flush after a fatal line would never return on a full disk; each line is written
  // immediately.
  output.flushSync = () => {};
  const log = pino(
    {
      level: settings.logLevel ?? (terminal ? 'warn' : 'info'),
      base: { part, pid: process.pid },
      serializers,
      hooks: {
        streamWrite: (line) => {
          const text = secrets.reduce((text, secret) => text.replaceAll(secret, '[secret]'), line);
          const safe = withoutSecrets(text);
          return asText ? formatLogLine(safe, colours) : safe;
        },
      },
    },
    output,
  );
  // The next line retries the write.
  output.on('error', () => {});
  let lost = 0;
  output.on('drop', () => {
    if (lost === 0) {
      output.once('drain', () => {
        const lines = lost;
        lost = 0;
        log.warn({ lines }, 'log lines lost: writing failed');
      });
    }
    lost += 1;
    // Dropping a line does not write the held lines.
    output.flush();
  });
  return log;
}

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
 * Converts a JSON line of pino to text: `12:34:56 WARN front-end: message (key value, key value)`,
 * and the stack of an error below it. Returns other lines unchanged.
 */
function formatLogLine(line: string, colours: boolean): string {
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

/**
 * A URL within a JSON string, encoded any number of times. It contains only whole escape sequences,
 * because replaced secrets can cut them.
 */
const url = /https?(?::|%(?:25)*3A)(?:\/|%(?:25)*2F)(?:[^\s"\\]|\\(?:["\\/bfnrt]|u[\da-f]{4}))*/gi;
/** API keys and webhook secrets; the names of settings contain other characters before `sk_`. */
const key = /(?<![A-Za-z])(?:sk|whsec)_[\w+/=-]{8,}/g;

/** Redacts API keys, and parts of URLs that can be secret, in a line of JSON. */
export const withoutSecrets = (line: string): string =>
  line
    .replace(url, (found) => JSON.stringify(redactText(JSON.parse(`"${found}"`))).slice(1, -1))
    .replace(key, redactedMark);

/** Fields of errors that a log shows. Others can contain input, such as an invalid URL. */
const errorFields = ['type', 'message', 'stack', 'code', 'codeName', 'syscall'] as const;

/** The source follows this prefix. */
const imagePrefix = /^\/img\//;

function shownPath(path: string): string {
  const [prefix = ''] = imagePrefix.exec(path) ?? [];
  return prefix + redactText(path.slice(prefix.length));
}

/** How a logger shows fields of these names. */
export const serializers = {
  path: (path: unknown): unknown => (typeof path === 'string' ? shownPath(path) : path),
  err: (thrown: unknown): unknown => {
    if (!(thrown instanceof Error)) return thrown;
    const error = stdSerializers.err(thrown);
    return Object.fromEntries(errorFields.map((name) => [name, error[name]]));
  },
};
