import { type Logger, pino } from 'pino';
import { serializers, withoutSecrets } from './log-secrets.ts';
import { formatLogLine } from './log-text.ts';
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
