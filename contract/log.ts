import { type Logger, pino } from 'pino';
import { logLineInWords } from './log-text.ts';
import { type Settings, settingRows } from './settings/table.ts';

export type { Logger } from 'pino';

/** Shorter values are not real secrets, and could occur by chance in every log line. */
const minSecretLength = 4;

/** The values that the settings table marks as secret, and passwords in URLs among them. */
function secretsOf(settings: Settings): string[] {
  const values = settingRows
    .filter(([, { secret }]) => secret === true)
    .map(([name]) => settings[name])
    .filter((value) => typeof value === 'string');
  const passwords = values.flatMap((value) => /:\/\/[^/@]*?:([^@]+)@/.exec(value)?.[1] ?? []);
  return [...values, ...passwords].filter(({ length }) => length >= minSecretLength);
}

/** Of lines that cannot be written now. */
const heldBytes = 64 * 1024;

/** Whether a person reads the standard output: it is a terminal, and JSON is not set. */
export const isOnTerminal = ({ logFormat }: Pick<Settings, 'logFormat'>): boolean =>
  process.stdout.isTTY === true && logFormat !== 'json';

/** NO_COLOR and TERM=dumb are conventions of terminals (https://no-color.org). */
const hasColours = (): boolean =>
  process.stdout.isTTY === true && !process.env['NO_COLOR'] && process.env['TERM'] !== 'dumb';

/**
 * Lines on standard output, as JSON or text, written synchronously so that the last lines before a
 * crash are not lost. Secret settings are redacted, including where an error message quotes them.
 * On a terminal only warnings and errors are logged, unless a level is set. Lines that cannot be written
 * are no reason to end: the disk is full (ENOSPC), the terminal has closed (EIO), or nobody reads the
 * pipe (EPIPE). Some are held and written later, and it is said how many were lost.
 *
 * @param part the kind of process: `primary`, `front-end`, `worker`, `start`
 */
export function createLogger(settings: Settings, part: string): Logger {
  // Escaped as in JSON text.
  const secrets = secretsOf(settings).map((secret) => JSON.stringify(secret).slice(1, -1));
  const terminal = isOnTerminal(settings);
  const colours = hasColours();
  const inWords = terminal || settings.logFormat === 'text';
  // Without a least length, `flush` would do nothing.
  const output = pino.destination({ sync: true, minLength: 1, maxLength: heldBytes });
  // Each line is written at once, and pino's flush after a fatal line would never end on a full disk.
  output.flushSync = () => {};
  const log = pino(
    {
      level: settings.logLevel ?? (terminal ? 'warn' : 'info'),
      base: { part, pid: process.pid },
      hooks: {
        streamWrite: (line) => {
          const safe = secrets.reduce((text, secret) => text.replaceAll(secret, '[secret]'), line);
          return inWords ? logLineInWords(safe, colours) : safe;
        },
      },
    },
    output,
  );
  // The next line tries again.
  output.on('error', () => {});
  let lost = 0;
  output.on('drop', () => {
    if (lost === 0) {
      output.once('drain', () => {
        const lines = lost;
        lost = 0;
        log.warn({ lines }, 'lines of this log were lost: it could not be written');
      });
    }
    lost += 1;
    // A line that is not held does not try to write those that are.
    output.flush();
  });
  return log;
}
