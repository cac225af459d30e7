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

/** Whether a person reads the standard output: it is a terminal, and JSON is not set. */
export const isOnTerminal = ({ logFormat }: Pick<Settings, 'logFormat'>): boolean =>
  process.stdout.isTTY === true && logFormat !== 'json';

/** NO_COLOR and TERM=dumb are conventions of terminals (https://no-color.org). */
const hasColours = (): boolean =>
  process.stdout.isTTY === true && !process.env['NO_COLOR'] && process.env['TERM'] !== 'dumb';

/**
 * Lines on standard output, as JSON or text, written synchronously so that the last lines before a
 * crash are not lost. Secret settings are redacted, including where an error message quotes them.
 * On a terminal only warnings and errors are logged, unless a level is set.
 *
 * @param part the kind of process: `primary`, `front-end`, `worker`, `start`
 */
export function createLogger(settings: Settings, part: string): Logger {
  // Escaped as in JSON text.
  const secrets = secretsOf(settings).map((secret) => JSON.stringify(secret).slice(1, -1));
  const terminal = isOnTerminal(settings);
  const colours = hasColours();
  const inWords = terminal || settings.logFormat === 'text';
  return pino(
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
    standardOutput(),
  );
}

/**
 * Where the terminal has closed (EIO) there is nobody to tell, and no reason to end; pino has the same
 * for a pipe that nobody reads (EPIPE).
 */
function standardOutput() {
  const destination = pino.destination({ sync: true });
  return destination.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EIO') destination.write = () => true;
    else if (error.code !== 'EPIPE') throw error;
  });
}
