import { type Logger, pino } from 'pino';
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

/**
 * JSON lines on standard output, written synchronously so that the last lines before a crash are
 * not lost. Secret settings are redacted, including where an error message quotes them.
 *
 * @param part the kind of process: `primary`, `front-end`, `worker`, `start`
 */
export function createLogger(settings: Settings, part: string): Logger {
  // Escaped as in JSON text.
  const secrets = secretsOf(settings).map((secret) => JSON.stringify(secret).slice(1, -1));
  return pino(
    {
      level: settings.logLevel,
      base: { part, pid: process.pid },
      hooks: {
        streamWrite: (line) =>
          secrets.reduce((text, secret) => text.replaceAll(secret, '[secret]'), line),
      },
    },
    pino.destination({ sync: true }),
  );
}
