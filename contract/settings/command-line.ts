import { Command, Option } from 'commander';
import { type ProgramName, usageCommand, version } from '../package.ts';
import { settingsOrExit } from './load.ts';
import { defaultInWords, type Setting } from './setting.ts';
import { type SettingName, settingRows } from './table.ts';

/** `--data-dir` for `SERVICE_DATA_DIR`. */
const toOptionName = ({ variable }: Setting<unknown>): string =>
  `--${variable.replace('SERVICE_', '').toLowerCase().replaceAll('_', '-')}`;

/** Removes the backticks of Markdown. */
const plain = (text: string): string => text.replaceAll('`', '');

function toOption(setting: Setting<unknown>, byDefault = defaultInWords(setting)): Option {
  const { form, meaning, variable } = setting;
  return new Option(
    `${toOptionName(setting)} <${form}>`,
    plain(`${meaning} ${variable}; default: ${byDefault}`),
  );
}

/** The help's headings, each by the first setting below it in the table. */
const headings: Readonly<Partial<Record<SettingName, string>>> = {
  host: 'Listeners and addresses',
  dataDir: 'Data and store',
  console: 'Console, API and responses',
  processes: 'Processes, queues and memory',
  memoryCacheBytes: 'Caches',
  fetchConcurrency: 'Sources',
  autoFormats: 'Formats and fonts',
  workerConcurrency: 'Worker and webhooks',
  logLevel: 'Logs',
};

const allNames = settingRows.map(([name]) => name);

const environmentHelp = `
Each option also has an environment variable, which a .env file in the working
directory can set. Options take precedence over the environment, and the
environment over the file.`;

/** Explains how to set settings, and lists the settings without options. */
function settingsHelp(settings: readonly Setting<unknown>[]): string {
  const secrets = settings.filter(({ secret }) => secret);
  if (secrets.length === 0) return environmentHelp;
  const lines = secrets.map((setting) =>
    plain(`  ${setting.variable}\n      ${setting.meaning} Default: ${defaultInWords(setting)}`),
  );
  return `${environmentHelp}

All users of a machine can read command lines, so these settings have no option:

${lines.join('\n')}`;
}

/**
 * Adds setting options to a command and parses the command line. Exits if an option or a setting is
 * invalid. Options become environment variables of this process, take precedence over `.env`, and
 * are inherited by child processes.
 * @param names the settings that the help describes; secrets get no option
 * @param defaults the command's own defaults, in words
 * @returns the settings, and the given options by variable
 */
export function settingsFromCommandLine(
  command: Command,
  names: readonly SettingName[] = allNames,
  defaults: Partial<Readonly<Record<SettingName, string>>> = {},
) {
  let heading = '';
  const described = settingRows.flatMap(([name, setting]) => {
    heading = headings[name] ?? heading;
    return names.includes(name) ? [{ heading, name, setting }] : [];
  });
  const rows = described
    .filter(({ setting }) => !setting.secret)
    .map(({ heading, name, setting }) => ({
      setting,
      option: toOption(setting, defaults[name]).helpGroup(`${heading}:`),
    }));
  for (const { option } of rows) command.addOption(option);
  command
    .addHelpText('after', settingsHelp(described.map(({ setting }) => setting)))
    .showHelpAfterError('(--help lists all options)')
    .allowExcessArguments(false)
    .parse();
  const given = new Map<string, string>();
  for (const { setting, option } of rows) {
    const value: unknown = command.getOptionValue(option.attributeName());
    if (typeof value !== 'string') continue;
    process.env[setting.variable] = value;
    given.set(setting.variable, toOptionName(setting));
  }
  return { settings: settingsOrExit(given), given };
}

/** Returns a program's command, with `--version`. Its help shows the command as the user types it. */
export function newCommand(program: ProgramName): Command {
  const command = new Command(usageCommand(program));
  return command.version(version, '--version', 'print the version');
}
