import { existsSync } from 'node:fs';
import { Ajv, type ErrorObject } from 'ajv';
import formats from 'ajv-formats';
import { nearestVariable } from '../near-miss.ts';
import { isDnsServer, parseNetwork } from '../networks.ts';
import { parsePort, parsePrivateSource } from '../private-sources.ts';
import { type Listener, sharedPorts } from './listeners.ts';
import {
  type Setting,
  type SettingName,
  type Settings,
  settingRows,
  settingsTable,
  splitList,
} from './table.ts';

/** Thrown with all invalid settings at once, one per line. */
export class SettingsInvalid extends Error {
  override readonly name = 'SettingsInvalid';
  readonly mistakes: readonly string[];

  constructor(mistakes: readonly string[]) {
    super(`The settings are not valid:\n${mistakes.map((mistake) => `  ${mistake}`).join('\n')}`);
    this.mistakes = mistakes;
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

const byVariable = new Map(settingRows.map(([, setting]) => [setting.variable as string, setting]));
const variables = [...byVariable.keys()];

// The schemas are constants, which a test validates: here it would take most of the time.
const ajv = new Ajv({ allErrors: true, meta: false, validateSchema: false });
formats.default(ajv, ['uri']);
ajv.addFormat('source-list', (list) =>
  splitList(list).every((entry) => parsePrivateSource(entry) !== null),
);
ajv.addFormat('network-list', (list) =>
  splitList(list).every((entry) => parseNetwork(entry) !== null),
);
ajv.addFormat('port-list', (list) => {
  const ports = splitList(list);
  return ports.length > 0 && ports.every((port) => port === '*' || parsePort(port) !== null);
});
ajv.addFormat('dns-server-list', (list) => {
  const servers = splitList(list);
  return servers.length > 0 && servers.every(isDnsServer);
});

/** Compiles only the schemas of what is given, because every process does this at its start. */
function faultsOf(given: Readonly<Record<string, unknown>>): readonly ErrorObject[] {
  const rows = settingRows.filter(([, { variable }]) => variable in given);
  const properties = Object.fromEntries(rows.map(([, { variable, schema }]) => [variable, schema]));
  const validate = ajv.compile({ type: 'object', properties });
  validate(given);
  return validate.errors ?? [];
}

/** Converts a text to its setting's type. A malformed number stays a string, which ajv rejects. */
function typed(text: string, { schema }: Setting<unknown>): string | number {
  return schema['type'] === 'integer' && /^\d+$/.test(text) ? Number(text) : text;
}

/** A value as Kubernetes' service links and Docker's links have it, such as `tcp://10.0.0.1:80`. */
const linkPattern = /^(?:tcp|udp|sctp):\/\/[\w.:[\]-]+:\d+$/;

/** What sets a port's variable to an address, and what helps; null for any other value. */
function linkInWords(variable: string, value: unknown): string | null {
  if (!variable.endsWith('_PORT') || !linkPattern.test(String(value))) return null;
  const name = variable.slice(0, -'_PORT'.length).toLowerCase().replaceAll('_', '-');
  return `it is an address, as Kubernetes sets it for a Service named ${name}, and Docker for a link of that name: set enableServiceLinks to false in the pod's spec, or change that name`;
}

/** The message for an invalid value. It omits the value, which may be a misplaced secret. */
function describe(error: ErrorObject, given: Readonly<Record<string, Given>>): string {
  const variable = error.instancePath.slice(1);
  const accepts = byVariable.get(variable)?.accepts ?? error.message;
  const { name = variable, value } = given[variable] ?? {};
  const link = linkInWords(variable, value);
  return `${name} must be ${accepts}${link === null ? '' : `; ${link}`}`;
}

/** A value, and the name under which it was given. */
interface Given {
  readonly name: string;
  readonly value: string | number;
}

/** The values that an environment has for the settings, by the settings' variables. */
function givenIn(environment: Environment): Record<string, Given> {
  const given: Record<string, Given> = {};
  for (const [, setting] of settingRows) {
    const names = [setting.variable, setting.platformVariable ?? setting.variable];
    for (const name of names) {
      const text = environment[name] ?? '';
      if (text !== '') given[setting.variable] ??= { name, value: typed(text, setting) };
    }
  }
  return given;
}

/** The `SERVICE_...` variables of an environment that are no settings. */
const unknownVariables = (environment: Environment): string[] =>
  Object.keys(environment).filter((name) => name.startsWith('SERVICE_') && !byVariable.has(name));

/** Unknown variables that resemble no setting, and so have no effect. */
export const ignoredVariables = (environment: Environment): string[] =>
  unknownVariables(environment).filter((name) => nearestVariable(name, variables) === undefined);

export interface LoadOptions {
  /** The options that have set variables, for messages. */
  readonly optionNames?: ReadonlyMap<string, string>;
  /** Those that the program starts: each needs a port of its own. */
  readonly listeners?: readonly Listener[];
}

/** What is given, and the defaults; `given` has what is valid only. */
function withDefaults(given: Readonly<Record<string, unknown>>): Settings {
  const settings: Record<string, unknown> = {};
  for (const [name, setting] of settingRows) {
    const value = given[setting.variable];
    if (value !== undefined) {
      settings[name] = setting.convert === undefined ? value : setting.convert(value as never);
    } else {
      settings[name] =
        typeof setting.default === 'function' ? setting.default(settings) : setting.default;
    }
  }
  return Object.freeze(settings) as Settings;
}

/**
 * Settings from environment variables. An empty variable counts as not set, because templates and
 * compose files produce empty variables. An unknown `SERVICE_...` name that resembles a setting's is an
 * error, because a misspelt security setting must not be ignored; others are what orchestrators set.
 * @throws SettingsInvalid with every invalid setting
 */
export function loadSettings(
  environment: Environment,
  { optionNames = new Map(), listeners = [] }: LoadOptions = {},
): Settings {
  const mistakes = new Set<string>();
  for (const name of unknownVariables(environment)) {
    const intended = nearestVariable(name, variables);
    if (intended === undefined) continue;
    mistakes.add(`${name} is not a setting of this service. Did you mean ${intended}?`);
  }
  const named = givenIn(environment);
  for (const [variable, { value }] of Object.entries(named)) {
    const option = optionNames.get(variable);
    if (option !== undefined) named[variable] = { name: option, value };
  }
  const given: Record<string, unknown> = Object.fromEntries(
    Object.entries(named).map(([variable, { value }]) => [variable, value]),
  );
  const faults = faultsOf(given);
  for (const error of faults) mistakes.add(describe(error, named));

  if ('SERVICE_WORKBENCH_USERNAME' in given !== 'SERVICE_WORKBENCH_PASSWORD' in given) {
    mistakes.add(
      'SERVICE_WORKBENCH_USERNAME and SERVICE_WORKBENCH_PASSWORD must be set together: both or neither',
    );
  }
  const nameOf = (name: SettingName): string => {
    const { variable } = settingsTable[name];
    return named[variable]?.name ?? variable;
  };
  // Ports that are valid are compared also when other settings are not.
  const invalid = new Set(faults.map(({ instancePath }) => instancePath.slice(1)));
  const isValid = (name: SettingName): boolean => !invalid.has(settingsTable[name].variable);
  const settings = withDefaults(
    Object.fromEntries(Object.entries(given).filter(([variable]) => !invalid.has(variable))),
  );
  for (const mistake of sharedPorts(settings, { listeners, isValid, nameOf }))
    mistakes.add(mistake);
  if (mistakes.size > 0) throw new SettingsInvalid([...mistakes].sort());
  return settings;
}

/** Settings from the environment, and from `.env` in the working directory for those not set. */
export function processSettings(options?: LoadOptions): Settings {
  if (existsSync('.env')) process.loadEnvFile('.env');
  return loadSettings(process.env, options);
}

/** For process startup: invalid settings are printed to standard error, with exit code 1. */
export function settingsOrExit(options?: LoadOptions): Settings {
  try {
    return processSettings(options);
  } catch (error) {
    if (!(error instanceof SettingsInvalid)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}
