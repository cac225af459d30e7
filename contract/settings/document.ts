import { type Setting, settingRows } from './table.ts';

/** The default as the documents show it. */
export function defaultInWords(setting: Setting<unknown>): string {
  if (setting.defaultInWords !== undefined) return setting.defaultInWords;
  return String(setting.default);
}

/** The settings as a Markdown table, for docs/settings.md. */
export function settingsMarkdown(): string {
  const rows = settingRows.map(
    ([, setting]) =>
      `| \`${setting.variable}\` | ${defaultInWords(setting)} | ${setting.meaning} |`,
  );
  return ['| Variable | Default | Meaning |', '| --- | --- | --- |', ...rows].join('\n');
}

/** The settings as a commented environment file, for `.env.example`. */
export function settingsExample(): string {
  const blocks = settingRows.map(
    ([, setting]) =>
      `# ${setting.meaning}\n# Accepts ${setting.accepts}. Default: ${defaultInWords(setting)}\n#${setting.variable}=`,
  );
  return `# Settings of the image delivery service. Copy to .env and uncomment what differs.\n\n${blocks.join('\n\n')}\n`;
}
