import { runAdmin } from '../../server/admin/command.ts';
import type { AdminResult } from './admin.ts';

/** Runs the admin commands that it receives, as if each had a process: see `startAdmin`. */

class Exit extends Error {}

/** Ends the command, but not this process. */
process.exit = (code) => {
  process.exitCode = code ?? process.exitCode ?? 0;
  throw new Exit();
};

/** @returns the output since the call */
function collect(stream: NodeJS.WriteStream): () => string {
  let text = '';
  stream.write = (part: string | Uint8Array) => {
    text += part;
    return true;
  };
  return () => text;
}

async function run(args: readonly string[]): Promise<AdminResult> {
  process.exitCode = 0;
  const [stdout, stderr] = [collect(process.stdout), collect(process.stderr)];
  await runAdmin(['node', 'admin', ...args]).catch((error) => {
    if (!(error instanceof Exit)) throw error;
  });
  const code = Number(process.exitCode);
  process.exitCode = 0;
  return { code, stdout: stdout(), stderr: stderr() };
}

process.on('message', async (args: readonly string[]) => process.send?.(await run(args)));
