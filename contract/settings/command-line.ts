import { type Command, Option } from 'commander';
import type { Listener } from './listeners.ts';
import { settingsOrExit } from './load.ts';
import {
  defaultInWords,
  type Setting,
  type SettingName,
  type Settings,
  settingRows,
  settingsTable,
} from './table.ts';

/** `--data-dir` for `SERVICE_DATA_DIR`. */
const optionOf = ({ variable }: Setting<unknown>): string =>
  `--${variable.replace('SERVICE_', '').toLowerCase().replaceAll('_', '-')}`;

/** Markdown's backticks are left out, and so is the full stop, because more follows. */
const plain = (text: string): string => text.replaceAll('`', '');

function toOption(setting: Setting<unknown>): Option {
  const value = setting.schema['type'] === 'integer' ? 'number' : 'text';
  const { meaning, variable } = setting;
  return new Option(
    `${optionOf(setting)} <${value}>`,
    plain(`${meaning} ${variable}; default: ${defaultInWords(setting)}`),
  );
}

const secretHelp = settingRows
  .filter(([, { secret }]) => secret === true)
  .map(([, setting]) => {
    const { variable, meaning } = setting;
    return plain(`  ${variable}\n      ${meaning} Default: ${defaultInWords(setting)}`);
  })
  .join('\n');

const environmentHelp = `
Each option is also an environment variable, which a .env file in the working directory may set. Options
take precedence over the environment, and that over the file.`;

/**
 * Adds an option for each setting that is no secret to a command, parses the command line, and ends the
 * process when it or a setting is wrong. Options become environment variables of this process, so that
 * they take precedence over the environment and `.env`, and so that child processes have them too.
 * @param listeners those that the command starts
 */
export function settingsFromCommandLine(
  command: Command,
  listeners: readonly Listener[],
): Settings {
  command.addHelpText(
    'after',
    `${environmentHelp} These have no option, because all users of a machine can\nread command lines:\n\n${secretHelp}`,
  );
  return parseOptions(
    command,
    settingRows.map(([name]) => name),
    listeners,
  ).settings;
}

/**
 * As {@link settingsFromCommandLine}, for a command that has only some of the settings.
 * @returns the variables whose options were given, too
 */
export function someSettingsFromCommandLine(
  command: Command,
  names: readonly SettingName[],
  listeners: readonly Listener[],
) {
  command.addHelpText('after', environmentHelp);
  return parseOptions(command, names, listeners);
}

function parseOptions(
  command: Command,
  names: readonly SettingName[],
  listeners: readonly Listener[],
) {
  const rows = names
    .map((name): Setting<unknown> => settingsTable[name] as Setting<unknown>)
    .filter(({ secret }) => secret !== true)
    .map((setting) => ({ setting, option: toOption(setting) }));
  for (const { option } of rows) command.addOption(option);
  command.showHelpAfterError('(--help lists all options)').allowExcessArguments(false).parse();
  const given = new Map<string, string>();
  for (const { setting, option } of rows) {
    const value: unknown = command.getOptionValue(option.attributeName());
    if (typeof value !== 'string') continue;
    process.env[setting.variable] = value;
    given.set(setting.variable, optionOf(setting));
  }
  return { settings: settingsOrExit({ optionNames: given, listeners }), given };
}
