import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { rootPath } from '../root.ts';
import { temporaryRoot } from '../temporary-root.ts';
import { type Example, isShown } from './examples.ts';

/** Changes by another process take effect within two seconds; a busy machine takes longer. */
const settledWithinMs = 8_000;
const retryEveryMs = 100;

export interface SessionOptions {
  readonly environment: Readonly<Record<string, string>>;
  /** What stands in the pages, and what it is here; in this order. */
  readonly addresses: ReadonlyArray<readonly [inPage: string, here: string]>;
  readonly rootKey: string;
  /** Identifiers of the pages that exist from the start. */
  readonly identifiers: ReadonlyMap<string, string>;
}

interface Test {
  teardown(action: () => Promise<unknown>): void;
}

/**
 * npm as the pages use it. `npm start` has no effect: the service runs. Everything else fails, so that
 * a page cannot name a command that no test runs.
 */
const npm = `npm() {
  if [ "$*" = start ]; then return; fi
  if [ "$1 $2 $3 $4" != "run --silent admin --" ]; then echo "no test runs npm $*"; return 1; fi
  shift 4
  env -u NODE_OPTIONS "$NODE" "$ADMIN" "$@"
}`;

/** One shell in which the examples of a page are run, one after the other. */
export class Session {
  readonly #options: SessionOptions;
  readonly #shell;
  readonly #identifiers: Map<string, string>;
  #key: string;
  #printed = '';
  #wake: () => void = () => {};

  private constructor(options: SessionOptions, folder: string) {
    this.#options = options;
    this.#key = options.rootKey;
    this.#identifiers = new Map(options.identifiers);
    const NODE = process.execPath;
    const ADMIN = join(rootPath, 'dist/server/admin/main.js');
    const env = { ...options.environment, NODE, ADMIN };
    this.#shell = spawn('bash', ['--noprofile', '--norc'], { cwd: folder, env });
    this.#shell.stdout.on('data', (bytes) => {
      this.#printed += bytes;
      this.#wake();
    });
    this.#shell.on('exit', () => this.#wake());
    this.#shell.stdin.write(`exec 2>&1\nset -o pipefail\n${npm}\n`);
  }

  static async start(t: Test, options: SessionOptions): Promise<Session> {
    const folder = await mkdtemp(join(temporaryRoot, 'image-delivery-page-'));
    const session = new Session(options, folder);
    t.teardown(async () => {
      session.#shell.kill('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    });
    return session;
  }

  /**
   * Runs an example until it prints what the page shows; those that change something only once.
   *
   * @returns what is wrong; null for nothing
   */
  async run({ command, output }: Example): Promise<string | null> {
    const changes = /\bnpm\b|\s-X\s|\s-d\s/.test(command);
    const deadline = Date.now() + settledWithinMs;
    let wrong: string | null = null;
    for (;;) {
      const { status, printed } = await this.#execute(this.#here(command));
      if (status === 0 && (output === '' || isShown(output, printed))) {
        this.#learn(output, printed);
        return null;
      }
      // What is printed first tells most: the next time an image comes from a cache.
      wrong ??= `exit code ${status}, printed:\n${printed}`;
      if (changes || Date.now() > deadline) return wrong;
      await sleep(retryEveryMs);
    }
  }

  #here(command: string): string {
    let text = command.replaceAll('sk_…', this.#key);
    for (const [inPage, here] of this.#options.addresses) text = text.replaceAll(inPage, here);
    for (const [inPage, here] of this.#identifiers) text = text.replaceAll(inPage, here);
    return text;
  }

  /** Identifiers and keys that a page shows as printed stand for those that were printed here. */
  #learn(shown: string, printed: string): void {
    const identifiers = /\b(?:prj|org|key)_[0-9a-z]{16}\b/g;
    const [inPage, here] = [shown, printed].map((text) => text.match(identifiers) ?? []);
    inPage?.forEach((identifier, index) => {
      const printedHere = here?.[index];
      if (printedHere !== undefined) this.#identifiers.set(identifier, printedHere);
    });
    const [key] = /\bsk_[\w-]{43}\b/.exec(printed) ?? [];
    if (key !== undefined && shown.includes('sk_…')) this.#key = key;
  }

  async #execute(command: string): Promise<{ status: number; printed: string }> {
    const end = randomBytes(9).toString('hex');
    this.#printed = '';
    this.#shell.stdin.write(`${command}\nprintf '\\n%s %s\\n' ${end} $?\n`);
    const pattern = new RegExp(`\\n${end} (\\d+)\\n`);
    for (;;) {
      const found = pattern.exec(this.#printed);
      if (found !== null) {
        const printed = this.#inPage(this.#printed.slice(0, found.index));
        return { status: Number(found[1]), printed };
      }
      if (this.#shell.exitCode !== null) throw new Error(`the shell ended: ${this.#printed}`);
      await new Promise<void>((wake) => {
        this.#wake = wake;
      });
    }
  }

  #inPage(printed: string): string {
    return this.#options.addresses.reduce(
      (text, [inPage, here]) => text.replaceAll(here, inPage),
      printed,
    );
  }
}
