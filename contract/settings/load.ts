import { existsSync } from 'node:fs';
import { findMachine } from '../machine.ts';
import { nearestVariable, similarName } from '../suggestion.ts';
import { type Settings, settingRows } from './table.ts';

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

/** Returns an ignored variable for a log line, with the most similar setting, if any. */
export function describeIgnored(name: string): string {
  const words = (variable: string) => variable.slice('SERVICE_'.length);
  const similar = similarName(words(name), variables.map(words));
  return similar === undefined ? name : `${name} (similar to SERVICE_${similar})`;
}

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
  return `; Kubernetes sets it to an address for a Service named ${name}, and so does Docker for a link of that name: set enableServiceLinks to false in the pod's spec, or change that name`;
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

/**
 * Loads settings from environment variables. Treats an empty variable as unset, because templates
 * and compose files produce empty variables. An unknown `SERVICE_...` variable similar to a setting
 * is an error, because a misspelt security setting must not be ignored; orchestrators set other
 * variables.
 *
 * @param optionNames the command-line options that set variables, by variable, for messages
 * @param machine for defaults that depend on it
 * @throws SettingsInvalid
 */
export function loadSettings(
  environment: Environment,
  optionNames: ReadonlyMap<string, string> = new Map(),
  machine = findMachine(),
): Settings {
  const errors: string[] = [];
  for (const name of unknownVariables(environment)) {
    const nearest = nearestVariable(name, variables);
    if (nearest === undefined) continue;
    errors.push(`${name} is not a setting of this service. Did you mean ${nearest}?`);
  }
  const values: Record<string, unknown> = {};
  for (const [key, setting] of settingRows) {
    const { variable, platformVariables = [], accepts, parse } = setting;
    const source = [variable, ...platformVariables].find((name) => environment[name]);
    const text = source === undefined ? '' : String(environment[source]);
    const name = optionNames.get(variable) ?? source ?? variable;
    const { value, reason } = text === '' ? {} : parsed(parse, text);
    if (text !== '' && value === undefined) {
      // Omits the value, which could be a misplaced secret.
      errors.push(`${name} must be ${accepts}${reason ?? linkText(variable, text)}`);
    }
    const byDefault = () =>
      typeof setting.default === 'function' ? setting.default(values, machine) : setting.default;
    values[key] = value === undefined ? byDefault() : value;
  }
  const settings = Object.freeze(values) as Settings;
  errors.push(...contradictions(settings, environment));
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
function loadEnvironmentFile(): void {
  if (existsSync('.env')) process.loadEnvFile('.env');
}

/**
 * Loads settings at a process's start, from the environment, then from `.env` in the working
 * directory. Prints invalid settings to standard error and exits with code 1.
 */
export function settingsOrExit(optionNames?: ReadonlyMap<string, string>): Settings {
  loadEnvironmentFile();
  try {
    return loadSettings(process.env, optionNames);
  } catch (error) {
    if (!(error instanceof SettingsInvalid)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}
