import { existsSync } from 'node:fs';
import { Ajv, type ErrorObject } from 'ajv';
import formats from 'ajv-formats';
import { isDnsServer, parseNetwork } from '../networks.ts';
import { parsePort, parsePrivateSource } from '../private-sources.ts';
import { type Setting, type Settings, settingRows, splitList } from './table.ts';

/** Thrown with all invalid settings at once, one per line. */
export class SettingsInvalid extends Error {
  override readonly name = 'SettingsInvalid';
  readonly mistakes: readonly string[];

  constructor(mistakes: readonly string[]) {
    super(`The settings are not valid:\n${mistakes.map((mistake) => `  ${mistake}`).join('\n')}`);
    this.mistakes = mistakes;
  }
}

const byVariable = new Map(settingRows.map(([, setting]) => [setting.variable as string, setting]));

const ajv = new Ajv({ allErrors: true });
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
const validate = ajv.compile({
  type: 'object',
  properties: Object.fromEntries(
    settingRows.map(([, setting]) => [setting.variable, setting.schema]),
  ),
});

/** Converts a text to its setting's type. A malformed number stays a string, which ajv rejects. */
function typed(text: string, { schema }: Setting<unknown>): string | number {
  return schema['type'] === 'integer' && /^\d+$/.test(text) ? Number(text) : text;
}

/** The message for an invalid value. It omits the value, which may be a misplaced secret. */
function describe(error: ErrorObject): string {
  const variable = error.instancePath.slice(1);
  return `${variable} must be ${byVariable.get(variable)?.accepts ?? error.message}`;
}

/**
 * Settings from environment variables. An empty variable counts as not set, because templates and
 * compose files produce empty variables. An unknown `SERVICE_...` name is an error, because a
 * misspelt security setting must not be ignored.
 * @throws SettingsInvalid with every invalid setting
 */
export function loadSettings(environment: Readonly<Record<string, string | undefined>>): Settings {
  const given: Record<string, unknown> = {};
  const mistakes = new Set<string>();
  for (const [variable, value] of Object.entries(environment)) {
    if (!variable.startsWith('SERVICE_') || value === undefined) continue;
    const setting = byVariable.get(variable);
    if (setting === undefined) mistakes.add(`${variable} is not a setting of this service`);
    else if (value !== '') given[variable] = typed(value, setting);
  }
  validate(given);
  for (const error of validate.errors ?? []) mistakes.add(describe(error));

  if ('SERVICE_WORKBENCH_USERNAME' in given !== 'SERVICE_WORKBENCH_PASSWORD' in given) {
    mistakes.add(
      'SERVICE_WORKBENCH_USERNAME and SERVICE_WORKBENCH_PASSWORD must be set together: both or neither',
    );
  }
  if (mistakes.size > 0) throw new SettingsInvalid([...mistakes].sort());

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
  const { opsPort } = settings;
  if (opsPort !== 0 && (opsPort === settings['port'] || opsPort === settings['workerPort'])) {
    throw new SettingsInvalid([
      'SERVICE_OPS_PORT must be another port than SERVICE_PORT and SERVICE_WORKER_PORT',
    ]);
  }
  return Object.freeze(settings) as Settings;
}

/** Settings from the environment, and from `.env` in the working directory for those not set. */
export function processSettings(): Settings {
  if (existsSync('.env')) process.loadEnvFile('.env');
  return loadSettings(process.env);
}

/** For process startup: invalid settings are printed to standard error, with exit code 1. */
export function settingsOrExit(): Settings {
  try {
    return processSettings();
  } catch (error) {
    if (!(error instanceof SettingsInvalid)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}
