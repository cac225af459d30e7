import { readdir } from 'node:fs/promises';
import type { Logger } from '../contract/log.ts';
import { adminCommand, documentPath, version } from '../contract/package.ts';
import { describeIgnored, ignoredVariables, proxyVariables } from '../contract/settings/load.ts';
import type { Settings } from '../contract/settings/table.ts';
import { FontError } from '../pool/rendering/text/font-file.ts';
import { readInstalledFonts } from '../pool/rendering/text/fonts.ts';
import { findErrorCode } from '../pool/source/fetch-errors.ts';
import type { ChosenServer } from './http/choose-server.ts';

/** Logs variables that seem to have an effect but do not. */
export function warnOfVariables(log: Logger, { sourceProxy }: Pick<Settings, 'sourceProxy'>): void {
  const ignored = ignoredVariables(process.env);
  if (ignored.length > 0) {
    log.warn(
      { variables: ignored.map(describeIgnored) },
      'ignoring variables that are not settings',
    );
  }
  const proxies = proxyVariables(process.env);
  if (sourceProxy !== null) {
    log.info({ proxy: new URL(sourceProxy).host }, 'fetching sources through a proxy');
  } else if (proxies.length > 0) {
    log.warn(
      { variables: proxies },
      'ignoring proxy variables: a proxy would resolve source hosts itself and bypass the address checks',
    );
  }
}

/** Returns why a folder in the settings is unusable, or null if all are usable. */
export async function findFolderFailure({
  origins,
  fonts,
}: Pick<Settings, 'origins' | 'fonts'>): Promise<string | null> {
  for (const { host, target } of origins) {
    const code = target.kind === 'folder' ? await findReadError(target.folder) : null;
    if (target.kind !== 'folder' || code === null) continue;
    return `SERVICE_ORIGINS: the folder ${target.folder} of ${host} cannot be read (${code}).`;
  }
  return fontFolderFailure(fonts);
}

/** Returns the code of the error of listing a folder, or null. */
const findReadError = (folder: string): Promise<string | null> =>
  readdir(folder).then(
    () => null,
    (error: unknown) => findErrorCode(error) ?? 'unknown',
  );

/** Returns why the operator's fonts are unusable, or null if all are usable. */
async function fontFolderFailure(folder: string | null): Promise<string | null> {
  if (folder === null) return null;
  try {
    await readInstalledFonts(folder);
    return null;
  } catch (error) {
    if (error instanceof FontError) return `SERVICE_FONTS: ${error.message}`;
    return `SERVICE_FONTS: the folder ${folder} cannot be read (${findErrorCode(error) ?? 'unknown'}).`;
  }
}

const print = (text: string): void => void process.stdout.write(text);

function serverLine({ engine, release, because }: ChosenServer): string {
  if (engine === 'uws') return `uWebSockets.js (${release})`;
  return because === undefined
    ? "Node's own server"
    : `Node's own server, which serves fewer hits: ${because} (${documentPath('http-engines.md')})`;
}

/** The output of a start: the address, the first key, and the next step. */
export class StartMessage {
  readonly #settings: Settings;
  /** Null if there is no new key, or after printing it. */
  #firstKey: string | null;

  constructor(settings: Settings, firstKey: string | null) {
    this.#settings = settings;
    this.#firstKey = firstKey;
  }

  /** Prints the first key between log lines, once. */
  printKey(): void {
    if (this.#firstKey === null) return;
    print(`\nFirst API key, for all projects, shown only this once:\n\n  ${this.#firstKey}\n\n`);
    this.#firstKey = null;
  }

  print(httpServer: ChosenServer | null): void {
    const { baseUrl, host, port } = this.#settings;
    const key = this.#firstKey;
    const keyLine =
      key === null
        ? `use your existing key, or create one: ${adminCommand('keys create --root')}`
        : `${key} (for all projects, shown only this once)`;
    print(`Ready    ${baseUrl}/ (version ${version}; listening on ${host} port ${port}; Ctrl-C stops it)
API key  ${keyLine}
${httpServer === null ? '' : `HTTP     ${serverLine(httpServer)}\n`}Next     open the address in a browser, or create a project: ${adminCommand('projects create --help')}
`);
    this.#firstKey = null;
  }
}
