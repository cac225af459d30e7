import { stdSerializers } from 'pino';
import { hidden, shownText } from './shown-source.ts';

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
    .replace(url, (found) => JSON.stringify(shownText(JSON.parse(`"${found}"`))).slice(1, -1))
    .replace(key, hidden);

/** Fields of errors that a log shows. Others can contain input, such as an invalid URL. */
const errorFields = ['type', 'message', 'stack', 'code', 'codeName', 'syscall'] as const;

/** The source follows this prefix. */
const imagePrefix = /^\/img\//;

function shownPath(path: string): string {
  const [prefix = ''] = imagePrefix.exec(path) ?? [];
  return prefix + shownText(path.slice(prefix.length));
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
