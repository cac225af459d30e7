import { type Logger, pino } from 'pino';
import { type Settings, settingRows } from './settings/table.ts';

export type { Logger } from 'pino';

/** Shorter values are no secrets, and could stand in every line. */
const minSecretLength = 4;

/** The values that the settings table marks as secret, and the password of a URL among them. */
function secretsOf(settings: Settings): string[] {
  const values = settingRows
    .filter(([, { secret }]) => secret === true)
    .map(([name]) => settings[name])
    .filter((value) => typeof value === 'string');
  const passwords = values.flatMap((value) => /:\/\/[^/@]*?:([^@]+)@/.exec(value)?.[1] ?? []);
  return [...values, ...passwords].filter(({ length }) => length >= minSecretLength);
}

/**
 * JSON lines on standard output, written before the call returns, so that the last lines of a
 * dying process are not lost. A secret setting never appears in one, whatever error quotes it.
 *
 * @param part the kind of process: `primary`, `front-end`, `worker`, `start`
 */
export function createLogger(settings: Settings, part: string): Logger {
  // As they stand in a JSON text.
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
