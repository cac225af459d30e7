import { readFileSync } from 'node:fs';
import { errorCatalogue } from '../../contract/errors.ts';
import { defaultInWords } from '../../contract/settings/setting.ts';
import { settingRows } from '../../contract/settings/table.ts';
import { type FactSchema, imageFacts } from '../../pool/rendering/image-facts/fields.ts';
import { adminCommand } from '../../server/admin/command.ts';
import { jsonOption } from '../../server/admin/terminal.ts';
import type { Operation } from '../../server/control/operation.ts';
import { operations } from '../../server/control/operations.ts';
import { fieldsOfKind, type LayerField, layerKinds } from '../../server/image/layer-fields.ts';
import { parameterNames, parameters } from '../../server/image/parameters.ts';
import { colour, flag } from '../../server/image/values.ts';
import { type Metric, serviceMetrics } from '../../server/telemetry/metrics.ts';
import { workerMetrics } from '../../worker/metrics.ts';
import { root } from '../root.ts';

/** Returns a Markdown table. */
export function markdownTable(
  head: readonly string[],
  rows: ReadonlyArray<readonly (string | number)[]>,
): string {
  const lines = [head, head.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** Names of values that docs/parameters.md describes once. */
const valueNames = [
  [flag.accepts, 'a flag'],
  [colour.accepts, 'a colour'],
] as const;

/** Returns every image parameter, for docs/parameters.md. */
export function parametersMarkdown(): string {
  const rows = parameterNames.map((name) => {
    const { aliases, accepts, meaning, defaultInWords, example } = parameters[name];
    const names = [name, ...aliases].map((parameterName) => `\`${parameterName}\``).join(', ');
    const values = valueNames.reduce((text, [long, short]) => text.replace(long, short), accepts);
    return [names, values, defaultInWords, meaning, `\`${name}=${example}\``];
  });
  return markdownTable(['Name', 'Accepts', 'Default', 'Meaning', 'Example'], rows);
}

/** Returns every admin command, for docs/admin.md, which describes `--json` of lists once. */
export function adminMarkdown(): string {
  const leaves = adminCommand().commands.flatMap((command) =>
    command.commands.length === 0
      ? [{ prefix: '', command }]
      : command.commands.map((child) => ({ prefix: `${command.name()} `, command: child })),
  );
  const rows = leaves.map(({ prefix, command }) => {
    const usage = `${prefix}${command.name()} ${command.usage()}`.replace(' [options]', '');
    const options = command.options
      .filter(({ description }) => description !== jsonOption[1])
      .map(({ flags, description }) => `\`${flags}\` ${description}`);
    return [`\`${usage.trim()}\``, [command.description(), ...options].join('<br>')];
  });
  return markdownTable(['Command', 'Effect and options'], rows);
}

/** Returns every operation of the control plane, for docs/api.md. */
export function apiMarkdown(): string {
  const keys = { root: 'root', 'all-projects': 'all projects' };
  const rows = Object.entries<Operation>(operations).map(
    ([id, { method, path, summary, scope }]) => [
      `\`${method} ${path}\``,
      summary,
      scope === undefined ? '' : keys[scope],
      `\`${id}\``,
    ],
  );
  return markdownTable(['Operation', 'Effect', 'Key', 'SDK method'], rows);
}

/** Returns every field of `fmt=json`, for docs/information.md. */
export function factsMarkdown(): string {
  return markdownTable(['Field', 'Type', 'Meaning'], factRows('', imageFacts.schema));
}

function factRows(
  name: string,
  { type, description = '', properties, items }: FactSchema,
): string[][] {
  const prefix = name === '' ? '' : `${name}.`;
  const own = name === '' ? [] : [[`\`${name}\``, [type].flat().join(' or '), description]];
  const inside = Object.entries(properties ?? {}).flatMap(([field, schema]) =>
    factRows(prefix + field, schema),
  );
  return [...own, ...inside, ...(items === undefined ? [] : factRows(`${name}[]`, items))];
}

/** Returns layer fields by kind, followed by shared fields, for docs/layers.md. */
export function layersMarkdown(): string {
  const isShared = ([name, field]: LayerFieldEntry) =>
    layerKinds.every((kind) => fieldsOfKind(kind)[name] === field);
  const groups = layerKinds.map((kind) => {
    const fields = Object.entries(fieldsOfKind(kind));
    return {
      kind,
      own: fields.filter((entry) => !isShared(entry)),
      shared: fields.filter(isShared),
    };
  });
  const tables = [
    ...groups.map(({ kind, own }) => layerTable(kind, own)),
    layerTable(layerKinds.join(' and '), groups[0]?.shared ?? []),
  ];
  return `\n${tables.join('\n\n')}\n`;
}

type LayerFieldEntry = readonly [name: string, field: LayerField<unknown>];

function layerTable(title: string, fields: readonly LayerFieldEntry[]): string {
  const rows = fields.map(([name, field]) => {
    const { accepts, meaning, example } = field;
    return [`\`${name}\``, accepts, layerDefault(field), meaning, jsonCode(example)];
  });
  return `### ${title}\n\n${markdownTable(['Name', 'Accepts', 'Default', 'Meaning', 'Example'], rows)}`;
}

const jsonCode = (value: unknown): string => `\`${JSON.stringify(value)}\``;

function layerDefault({ default: value }: LayerField<unknown>): string {
  if (value === undefined) return 'required';
  return value === null ? '–' : jsonCode(value);
}

/** Returns every error, by status, for docs/errors.md. */
export function errorsMarkdown(): string {
  const entries = Object.entries(errorCatalogue).sort(([, a], [, b]) => a.status - b.status);
  const rows = entries.map(([code, { status, hint }]) => [status, `\`${code}\``, hint]);
  return markdownTable(['Status', 'Code', 'What to do'], rows);
}

/** Returns every setting, for docs/settings.md. */
export function settingsMarkdown(): string {
  const rows = settingRows.map(([, setting]) => [
    `\`${setting.variable}\``,
    defaultInWords(setting),
    setting.meaning,
  ]);
  return markdownTable(['Variable', 'Default', 'Meaning'], rows);
}

/** Returns the settings as a commented environment file, for `.env.example`. */
export function settingsExample(): string {
  const blocks = settingRows.map(
    ([, setting]) =>
      `# ${setting.meaning}\n# Accepts ${setting.accepts}. Default: ${defaultInWords(setting)}\n#${setting.variable}=`,
  );
  return `# Settings of the image delivery service. Copy to .env and uncomment what differs.\n\n${blocks.join('\n\n')}\n`;
}

/** Returns docs/operating/metrics.md, with the metrics that the alert rules use. */
export function metricsMarkdown(): string {
  const alerts = readFileSync(new URL('docs/operating/alerts.yml', root), 'utf8');
  const alerting = (metrics: Readonly<Record<string, Metric>>) =>
    metricsTable(Object.values(metrics).filter(({ name }) => alerts.includes(name)));
  return [
    '# Metrics',
    'The [alerts](alerts.yml) use these metrics, and the [dashboard](grafana-dashboard.json) also uses others. The HELP lines of `/metrics` describe them all.',
    "The service's `/metrics` ([monitoring](monitoring.md#metrics)) contains totals for all processes on the machine, which report their figures once a second. No counter decreases while the service runs.",
    alerting(serviceMetrics),
    "The worker's `/metrics` (`SERVICE_WORKER_HOST`, `SERVICE_WORKER_PORT`) also contains the Node.js metrics of prom-client.",
    `${alerting(workerMetrics)}\n`,
  ].join('\n\n');
}

function metricsTable(metrics: readonly Metric[]): string {
  const rows = metrics.map(({ name, type, labels, help }) => [
    `\`${name}\``,
    type,
    labels.map((label) => `\`${label}\``).join(' '),
    help,
  ]);
  return markdownTable(['Metric', 'Type', 'Labels', 'Meaning'], rows);
}
