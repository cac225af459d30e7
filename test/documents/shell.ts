import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { rootPath } from '../root.ts';
import { temporaryFolder } from '../temporary-root.ts';
import { until } from '../until.ts';
import { type Example, isShown } from './examples.ts';

/** Changes by another process take effect within two seconds; a busy machine takes longer. */
const retryWithinMs = 8_000;
const retryEveryMs = 100;

export interface ShellOptions {
  readonly environment: Readonly<Record<string, string>>;
  /** Addresses in the pages and in this test. The shell replaces them in this order. */
  readonly addresses: ReadonlyArray<readonly [inPage: string, inTest: string]>;
  readonly rootKey: string;
  /** Identifiers in the pages and in this test. */
  readonly identifiers: ReadonlyMap<string, string>;
}

/**
 * npm for the examples. `npm start` has no effect, because the service already runs. Commands other
 * than `admin` fail, so that pages only show tested commands.
 */
const npm = `npm() {
  if [ "$*" = start ]; then return; fi
  if [ "$1 $2 $3 $4" != "run --silent admin --" ]; then echo "no test runs npm $*"; return 1; fi
  shift 4
  env -u NODE_OPTIONS "$NODE" "$ADMIN" "$@"
}`;

/**
 * Starts a shell for a page's examples.
 * @returns a function that repeats an example until it prints the output on the page. Examples that
 * change something run only once. Resolves with the error, or null.
 */
export async function startShell(
  t: { teardown(action: () => Promise<unknown>): void },
  { environment, addresses, rootKey, identifiers }: ShellOptions,
): Promise<(example: Example) => Promise<string | null>> {
  const ADMIN = join(rootPath, 'dist/server/admin/main.js');
  const shell = spawn('bash', ['--noprofile', '--norc'], {
    cwd: await temporaryFolder(t),
    env: { ...environment, NODE: process.execPath, ADMIN },
  });
  t.teardown(async () => shell.kill('SIGKILL'));
  let output = '';
  shell.stdout.on('data', (bytes) => {
    output += bytes;
  });
  shell.stdin.write(`exec 2>&1\nset -o pipefail\n${npm}\n`);
  const replacements = new Map([['sk_…', rootKey], ...addresses, ...identifiers]);

  const execute = async (command: string): Promise<{ status: number; printed: string }> => {
    const end = randomBytes(9).toString('hex');
    output = '';
    shell.stdin.write(`${command}\nprintf '\\n%s %s\\n' ${end} $?\n`);
    const pattern = new RegExp(`\\n${end} (\\d+)\\n`);
    const found = await until(`the end of ${command}`, () => {
      if (shell.exitCode !== null) throw new Error(`the shell has ended: ${output}`);
      return pattern.exec(output) ?? undefined;
    });
    let printed = output.slice(0, found.index);
    for (const [inPage, inTest] of addresses) printed = printed.replaceAll(inTest, inPage);
    return { status: Number(found[1]), printed };
  };

  /** Maps identifiers and keys in the output of the page to the printed ones. */
  const addReplacements = (shown: string, printed: string): void => {
    const pattern = /\b(?:prj|org|key)_[0-9a-z]{16}\b/g;
    const printedIdentifiers = printed.match(pattern) ?? [];
    for (const [index, identifier] of (shown.match(pattern) ?? []).entries()) {
      const inTest = printedIdentifiers[index];
      if (inTest !== undefined) replacements.set(identifier, inTest);
    }
    const [key] = /\bsk_[\w-]{43}\b/.exec(printed) ?? [];
    if (key !== undefined && shown.includes('sk_…')) replacements.set('sk_…', key);
  };

  return async ({ command, output: shown }) => {
    let text = command;
    for (const [inPage, inTest] of replacements) text = text.replaceAll(inPage, inTest);
    const changes = /\bnpm\b|\s-X\s|\s-d\s/.test(command);
    const deadline = Date.now() + retryWithinMs;
    let error: string | null = null;
    for (;;) {
      const { status, printed } = await execute(text);
      if (status === 0 && (shown === '' || isShown(shown, printed))) {
        addReplacements(shown, printed);
        return null;
      }
      // Keep the first error: the next attempt gets the image from a cache.
      error ??= `exit code ${status}, printed:\n${printed}`;
      if (changes || Date.now() > deadline) return error;
      await sleep(retryEveryMs);
    }
  };
}
