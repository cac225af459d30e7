import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import { ServiceError } from '../../contract/errors.ts';
import { requireProject } from '../project-not-found.ts';
import { withStore } from './store.ts';
import { AdminError, print, printable } from './terminal.ts';

export function addDeleteCommand(group: Command): void {
  group
    .command('delete')
    .description(
      'delete a project with its keys, presets, layers, origins, secrets, usage and cached images; asks for its name',
    )
    .argument('<id>')
    .option('--yes', 'do not ask')
    .option('--force', 'cancel its prewarming; without it, a project that is being prewarmed stays')
    .action((id: string, { yes = false, force = false }: { yes?: boolean; force?: boolean }) =>
      withStore(async (store, settings) => {
        const { deleteProject, servicesOf } = await import('./control.ts');
        const { name } = requireProject(id, await store.projects.find(id));
        if (!yes) await confirm(id, name);
        const services = servicesOf(store, settings);
        await deleteProject(services, id, { force }).catch((error: unknown) => {
          const isRefused = error instanceof ServiceError && error.code === 'prewarm_in_progress';
          throw isRefused ? new AdminError(`${error.message} --force cancels it.`) : error;
        });
        print(`${id} is deleted. A running service notices this within 2 seconds.`);
      }),
    );
}

/** @throws AdminError unless the name of the project is typed in a terminal */
async function confirm(id: string, name: string): Promise<void> {
  const shown = printable(name);
  if (!process.stdin.isTTY) {
    throw new AdminError(
      `This deletes the project ${id}, ${shown}, for good. Run it in a terminal, or with --yes.`,
    );
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // At the end of the input, such as Ctrl-D, no answer follows.
  const ended = new Promise<null>((resolve) => terminal.once('close', () => resolve(null)));
  const question = `This deletes the project ${id} for good. To confirm it, type its name, ${shown}: `;
  try {
    const answer = await Promise.race([terminal.question(question), ended]);
    if (answer !== shown) throw new AdminError('Not deleted: the name differs.');
  } finally {
    terminal.close();
  }
}
