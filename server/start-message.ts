import { adminCommand, documentPath } from '../contract/launch-command.ts';
import { version } from '../contract/own-files.ts';
import type { Settings } from '../contract/settings/table.ts';
import type { ChosenServer } from './http/choose-server.ts';

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

  /** Prints a few lines to a terminal. */
  print(httpServer: ChosenServer | null): void {
    const { baseUrl, host, port } = this.#settings;
    const key = this.#firstKey;
    const keyLine =
      key === null
        ? `the one that you have; another: ${adminCommand('keys create --root')}`
        : `${key} (for all projects, shown only this once)`;
    print(`Ready    ${baseUrl}/ (version ${version}; listening on ${host} port ${port}; Ctrl-C stops it)
API key  ${keyLine}
${httpServer === null ? '' : `HTTP     ${serverLine(httpServer)}\n`}Next     open the address in a browser, or create a project: ${adminCommand('projects create --help')}
`);
    this.#firstKey = null;
  }
}
