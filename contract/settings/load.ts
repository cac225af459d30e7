import { existsSync } from 'node:fs';
import { nearestVariable } from '../suggestion.ts';
import { likelyUrl } from '../url-text.ts';
import { hostSettings, type Listener, portConflicts } from './listeners.ts';
import { type SettingName, type Settings, settingRows } from './table.ts';

/** Lists all errors of the settings, one per line. */
export class SettingsInvalid extends Error {
  override readonly name = 'SettingsInvalid';
  readonly errors: readonly string[];

  constructor(errors: readonly string[]) {
    super(`The settings are not valid:\n${errors.map((error) => `  ${error}`).join('\n')}`);
    this.errors = errors;
  }
}

type Parse = (text: string) => unknown;
type Environment = Readonly<Record<string, string | undefined>>;

const variables = settingRows.map(([, { variable }]) => variable as string);

const unknownVariables = (environment: Environment): string[] =>
  Object.keys(environment).filter((name) => /^SERVICE_/.test(name) && !variables.includes(name));

/** Returns unknown `SERVICE_...` variables that resemble no setting, and so have no effect. */
export const ignoredVariables = (environment: Environment): string[] =>
  unknownVariables(environment).filter((name) => nearestVariable(name, variables) === undefined);

/**
 * Returns the egress proxy variables that are set, which have no effect; their values can contain a
 * password.
 */
export const proxyVariables = (environment: Environment): string[] =>
  Object.keys(environment).filter(
    (name) => /^(?:https?|all)_proxy$/i.test(name) && environment[name] !== '',
  );

/** A value as Kubernetes' service links and Docker's links have it, such as `tcp://10.0.0.1:80`. */
const linkPattern = /^(?:tcp|udp|sctp):\/\/[\w.:[\]-]+:\d+$/;

/** Explains a port variable that contains an address; returns '' for other values. */
function linkText(variable: string, value: string): string {
  if (!variable.endsWith('_PORT') || !linkPattern.test(value)) return '';
  const name = variable.slice(0, -'_PORT'.length).toLowerCase().replaceAll('_', '-');
  return `; it is an address, as Kubernetes sets it for a Service named ${name}, and Docker for a link of that name: set enableServiceLinks to false in the pod's spec, or change that name`;
}

const urlSchemes = ['https://', 'http://', 'mongodb://'];

/** Explains how to write a rejected value, without repeating it: it could be a misplaced secret. */
function hint(variable: string, text: string, parse: Parse): string {
  const isAccepted = (other: string) => parsed(parse, other).value !== undefined;
  const schemes = /_URL$/.test(variable) && likelyUrl(text) !== undefined ? urlSchemes : [];
  const accepted = schemes.filter((scheme) => isAccepted(scheme + text));
  if (accepted.length > 0) return `; start it with ${accepted.join(' or ')}`;
  return unitHint(variable, text, isAccepted) || linkText(variable, text);
}

/** Returns a value, or the setting's reason for rejecting it. */
function parsed(parse: Parse, text: string): { value?: unknown; reason?: string } {
  try {
    return { value: parse(text) };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { reason: `; ${error.message}` };
  }
}

interface SettingsOptions {
  /** The command-line options that set variables, by variable, for messages. */
  readonly optionNames?: ReadonlyMap<string, string>;
  /** The listeners that the program starts; each needs another port. */
  readonly listeners?: readonly Listener[];
}

/**
 * Loads settings from environment variables. Treats an empty variable as unset, because templates
 * and compose files produce empty variables. An unknown `SERVICE_...` variable similar to a setting
 * is an error, because a misspelt security setting must not be ignored; orchestrators set other
 * variables.
 * @throws SettingsInvalid
 */
export function loadSettings(
  environment: Environment,
  { optionNames = new Map(), listeners = [] }: SettingsOptions = {},
): Settings {
  const errors: string[] = [];
  for (const name of unknownVariables(environment)) {
    const nearest = nearestVariable(name, variables);
    if (nearest === undefined) continue;
    errors.push(`${name} is not a setting of this service. Did you mean ${nearest}?`);
  }
  const values: Record<string, unknown> = {};
  const names = new Map<SettingName, string>();
  const invalid = new Set<SettingName>();
  for (const [key, setting] of settingRows) {
    const { variable, platformVariable = variable, accepts, parse } = setting;
    const source = [variable, platformVariable].find((name) => environment[name]);
    const text = source === undefined ? '' : String(environment[source]);
    const name = optionNames.get(variable) ?? source ?? variable;
    const { value, reason } = text === '' ? {} : parsed(parse, text);
    names.set(key, name);
    if (text !== '' && value === undefined) {
      // Omits the value, which could be a misplaced secret.
      errors.push(`${name} must be ${accepts}${reason ?? hint(variable, text, parse)}`);
      invalid.add(key);
    }
    const byDefault = () =>
      typeof setting.default === 'function' ? setting.default(values) : setting.default;
    values[key] = value === undefined ? byDefault() : value;
  }
  const settings = Object.freeze(values) as Settings;
  errors.push(...contradictions(settings, environment));
  const addresses = listeners
    .filter((key) => !invalid.has(key) && !invalid.has(hostSettings[key]))
    .map((key) => ({
      name: names.get(key) ?? key,
      host: settings[hostSettings[key]],
      port: settings[key],
    }));
  errors.push(...portConflicts(addresses));
  if (errors.length > 0) throw new SettingsInvalid(errors.sort());
  return settings;
}

/** The errors of settings that need or exclude others. */
function contradictions(
  { purgeHookUrl, autoFirst, autoFormats, memoryCacheBytes, diskCacheBytes }: Settings,
  environment: Environment,
): string[] {
  const errors: string[] = [];
  if (!environment['SERVICE_WORKBENCH_USERNAME'] !== !environment['SERVICE_WORKBENCH_PASSWORD']) {
    errors.push('SERVICE_WORKBENCH_USERNAME and SERVICE_WORKBENCH_PASSWORD must be set together');
  }
  if (purgeHookUrl !== null && !environment['SERVICE_HOOK_SECRET']) {
    errors.push(
      'SERVICE_PURGE_HOOK_URL requires SERVICE_HOOK_SECRET, which signs the requests for the receiver',
    );
  }
  if (autoFirst !== null && !autoFormats.includes(autoFirst)) {
    errors.push(`SERVICE_AUTO_FIRST must be one of SERVICE_AUTO_FORMATS: ${autoFormats.join()}`);
  }
  if (autoFirst !== null && memoryCacheBytes === 0 && diskCacheBytes === 0) {
    errors.push('SERVICE_AUTO_FIRST requires a cache, to keep the image for the next request');
  }
  return errors;
}

/** Sets the variables of `.env` in the working directory that are not set. */
export function loadEnvironmentFile(): void {
  if (existsSync('.env')) process.loadEnvFile('.env');
}

/**
 * Loads settings at a process's start, from the environment, then from `.env` in the working
 * directory. Prints invalid settings to standard error and exits with code 1.
 */
export function settingsOrExit(options?: SettingsOptions): Settings {
  loadEnvironmentFile();
  try {
    return loadSettings(process.env, options);
  } catch (error) {
    if (!(error instanceof SettingsInvalid)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}

const bytes: Readonly<Record<string, number>> = { k: 1, m: 2, g: 3, t: 4 };
const milliseconds: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/**
 * What to write instead of a number with a unit, such as `10GB`, or with separators; '' for other
 * values.
 *
 * @param isAccepted whether the setting accepts a value
 */
function unitHint(variable: string, text: string, isAccepted: (text: string) => boolean): string {
  const [, digits = '', unit = ''] =
    /^(\d{1,3}(?:[,_ ]\d{3})+|\d{1,15}(?:\.\d{1,6})?) ?([a-z]{0,3})$/i.exec(text) ?? [];
  if (digits === '') return '';
  const amount = Number(digits.replaceAll(/[,_ ]/g, ''));
  const values = possibleValues(variable, amount, unit.toLowerCase()).filter(([, value]) =>
    isAccepted(String(value)),
  );
  if (values.length === 0) return '';
  const written = values.map(([name, value]) =>
    name === '' ? value : `${value} for ${amount} ${name}`,
  );
  return `; write it as ${written.join(', or ')}`;
}

/** Returns the numbers that an amount with a unit can stand for, each with its unit's name. */
function possibleValues(
  variable: string,
  amount: number,
  unit: string,
): [name: string, value: number][] {
  if (unit === '') return [['', amount]];
  if (/_BYTES$/.test(variable)) {
    const [, prefix = '', binary] = /^([kmgt])(i)?b?$/.exec(unit) ?? [];
    const power = bytes[prefix];
    if (power === undefined) return [];
    const upper = prefix.toUpperCase();
    const value = (base: number) => Math.round(amount * base ** power);
    const decimal: [string, number][] = binary ? [] : [[`${upper}B`, value(1_000)]];
    return [...decimal, [`${upper}iB`, value(1_024)]];
  }
  const length = milliseconds[unit];
  if (length === undefined) return [];
  if (/_MS$/.test(variable)) return [['', amount * length]];
  return /_SECONDS$/.test(variable) ? [['', (amount * length) / 1_000]] : [];
}
