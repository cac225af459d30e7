import { fullFormats } from 'ajv-formats/dist/formats.js';
import type { Machine } from '../machine.ts';
import { percentDecode } from '../url-text.ts';
import { toListenHost } from './listeners.ts';

/** One setting: its environment variable, the values that it accepts, the default and the meaning. */
export interface Setting<T> {
  readonly variable: `SERVICE_${string}`;
  /** The value's form in a command's help, such as `number` or `on|off`. */
  readonly form: string;
  /** The accepted values, for messages. */
  readonly accepts: string;
  /**
   * Parses a non-empty value. Returns undefined for an invalid value, or throws a RangeError with
   * the reason but without the value.
   */
  readonly parse: (text: string) => T | undefined;
  /** A function if the default depends on settings higher up in the table, or on the machine. */
  readonly default: T | ((above: { readonly [name: string]: unknown }, machine: Machine) => T);
  /** The default as documented, if it is computed or an object. */
  readonly defaultInWords?: string;
  readonly meaning: string;
  /** Redacted in logs. Not an option of commands, because all users of a machine can read those. */
  readonly secret?: true;
  /** Returns the texts that logs must not contain, if a secret's value is not a text. */
  secretsIn?(value: T): readonly string[];
  /** Variables that platforms set; the first set one is used if the setting's own is not set. */
  readonly platformVariables?: readonly string[];
}

type Details<T> = Omit<Setting<T>, 'variable' | 'form' | 'accepts' | 'parse'>;

const orList = new Intl.ListFormat('en-GB', { type: 'disjunction' });

export function integer<T extends number | null = number>(
  variable: Setting<T>['variable'],
  minimum: number,
  maximum: number,
  details: Details<NoInfer<T>>,
): Setting<T> {
  const accepts = `a whole number from ${minimum} to ${maximum}`;
  const parse = (text: string) => {
    const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    return number >= minimum && number <= maximum ? (number as T) : undefined;
  };
  return { variable, form: 'number', accepts, parse, ...details };
}

export function text<T>(
  variable: Setting<T>['variable'],
  details: Omit<Setting<T>, 'variable' | 'form'>,
): Setting<T> {
  return { variable, form: 'text', ...details };
}

export function choice<const W extends string, N extends null = never>(
  variable: Setting<W>['variable'],
  words: readonly W[],
  details: Details<NoInfer<W> | N>,
): Setting<W | N> {
  const parse = (text: string) => words.find((word) => word === text);
  const form = words.length <= 3 ? words.join('|') : 'text';
  return { variable, form, accepts: orList.format(words), parse, ...details };
}

export function onOff(
  variable: Setting<boolean>['variable'],
  meaning: string,
  isOn = true,
): Setting<boolean> {
  const parse = (word: string) => (word === 'on' ? true : word === 'off' ? false : undefined);
  const words = ['on', 'off'];
  return {
    variable,
    form: words.join('|'),
    accepts: orList.format(words),
    parse,
    default: isOn,
    defaultInWords: isOn ? 'on' : 'off',
    meaning,
  };
}

export function listenHost(
  variable: Setting<string>['variable'],
  host: string,
  meaning: string,
): Setting<string> {
  const accepts = 'a host name or IP address to listen on';
  return text(variable, {
    accepts,
    parse: (name) => toListenHost(name),
    default: () => toListenHost(host),
    defaultInWords: host,
    meaning,
  });
}

const isUri = fullFormats.uri as (text: string) => boolean;

export function httpUrl(
  variable: Setting<string>['variable'],
  details: Details<string>,
): Setting<string> {
  const accepts = 'an absolute http or https URL without a query';
  const parse = (url: string) =>
    isUri(url) && /^https?:\/\/[^?#]+$/.test(url) ? url.replace(/\/+$/, '') : undefined;
  return text(variable, { accepts, parse, ...details });
}

/**
 * Returns whether this is an http or https URL without user information and fragment; a query is
 * allowed.
 */
export const isHookUrl = (url: string): boolean =>
  isUri(url) && /^https?:\/\/[^/@#]+(\/[^#]*)?$/.test(url);

/** Returns whether this is a proxy's URL, whose user name and password, if any, can be decoded. */
export function isProxyUrl(text: string): boolean {
  if (!/^https?:\/\/[^/?#\\]+\/?$/i.test(text) || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return percentDecode(username + password) !== null;
}

/** A parser of texts that match a pattern. */
export const matching = (pattern: RegExp) => (value: string) =>
  pattern.test(value) ? value : undefined;

/** The default as shown in the documents. */
export function defaultInWords(setting: Setting<unknown>): string {
  const { defaultInWords: words, default: value } = setting;
  const isEmpty = value === null || (Array.isArray(value) && value.length === 0);
  return words ?? (isEmpty ? '(unset)' : String(value));
}
