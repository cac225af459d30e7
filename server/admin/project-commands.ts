import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import { ServiceError } from '../../contract/errors.ts';
import { projectWebhookSecret } from '../../contract/webhook-secret.ts';
import type { ListedProject } from '../../store/projects.ts';
import { requireProject } from '../require-project.ts';
import { namingOptions } from './option-names.ts';
import { findOrganisation } from './organisation-commands.ts';
import { addSignCommand } from './sign-command.ts';
import { withStore } from './store.ts';
import { AdminError, jsonOption, print, printable, printList } from './terminal.ts';

const projectOptions = { name: '--name', origin: '--origin', allowedOrigins: '--allow' };

export function addProjectCommands(program: Command): void {
  const group = program.command('projects').description('manage projects');

  group
    .command('create')
    .description('create a project, and print its id')
    .requiredOption('--name <text>', '1 to 80 characters')
    .requiredOption('--origin <url>', 'site URL (allows its host as a source)')
    .option('--allow <host...>', 'allow more source hosts')
    .option('--org <id>', 'organisation (default: the default organisation)')
    .action((options: { name: string; origin: string; allow?: string[]; org?: string }) => {
      const { name, origin, allow = [], org } = options;
      const input = { name, origin, allowedOrigins: allow };
      return withStore(
        async (store, settings) => {
          const { createProject, createServices } = await import('./control.ts');
          const orgId = await findOrganisation(store, org);
          const created = await namingOptions(projectOptions, () =>
            createProject(createServices(store, settings), input, orgId),
          );
          print(created._id);
        },
        {
          // A new store contains only the default organisation.
          creates: org === undefined,
          check: async (settings) => {
            const control = await import('./control.ts');
            await namingOptions(projectOptions, async () => {
              control.requireValid(control.createProjectInput, input);
              control.projectHosts(input, control.createGuard(settings));
            });
          },
        },
      );
    });

  group
    .command('list')
    .description('list all projects')
    .option(...jsonOption)
    .action(({ json = false }: { json?: boolean }) =>
      withStore(async (store) => {
        const { projectBody } = await import('../control/project-body.ts');
        printList({
          json,
          items: await store.projects.list(),
          fields: (project) => ({ ...projectBody(project), createdAt: project.createdAt }),
          cells: (project) => ({
            ID: project._id,
            NAME: project.name,
            ORGANISATION: project.orgId,
            SIGNED: signedText(project),
            HOSTS: project.allowedOrigins.join(' '),
          }),
        });
      }),
    );

  group
    .command('update')
    .description("change a project's name or site")
    .argument('<id>', 'project id')
    .option('--name <text>', '1 to 80 characters')
    .option('--origin <url>', 'site URL (allows its host as a source)')
    .action((id: string, input: { name?: string; origin?: string }) => {
      if (Object.keys(input).length === 0) throw new AdminError('Name --name, --origin or both.');
      return withStore(async (store, settings) => {
        const control = await import('./control.ts');
        const { name, origin } = await namingOptions(projectOptions, async () => {
          control.requireValid(control.updateProjectInput, input);
          return control.updateProject(control.createServices(store, settings), id, input);
        });
        print(`${id} is ${printable(name)}, of ${origin}`);
      });
    });

  group
    .command('delete')
    .description('delete a project and all its data, after asking for its name')
    .argument('<id>', 'project id')
    .option('--yes', 'delete without asking')
    .option('--force', 'cancel its prewarming, which otherwise prevents the deletion')
    .action((id: string, { yes = false, force = false }: { yes?: boolean; force?: boolean }) =>
      withStore(async (store, settings) => {
        const { deleteProject, createServices } = await import('./control.ts');
        const { name } = requireProject(id, await store.projects.find(id));
        if (!yes) await confirm(id, name);
        const services = createServices(store, settings);
        await deleteProject(services, id, { force }).catch((error: unknown) => {
          const isRefused = error instanceof ServiceError && error.code === 'prewarm_in_progress';
          throw isRefused ? new AdminError(`${error.message} --force cancels it.`) : error;
        });
        print(`${id} is deleted. The running service applies this within 2 seconds.`);
      }),
    );

  group
    .command('webhook-secret')
    .description("print the secret that signs a project's callbacks")
    .argument('<project>', 'project id')
    .action((id: string) =>
      withStore(async (store, { hookSecret }) => {
        requireProject(id, await store.projects.find(id));
        if (hookSecret === null) throw new AdminError('Set SERVICE_HOOK_SECRET first.');
        print(projectWebhookSecret(hookSecret, id));
      }),
    );

  addSignCommand(group);
}

const signedText = ({ requireSignedUrls, previousSigningSecret }: ListedProject): string => {
  if (!requireSignedUrls) return 'no';
  return typeof previousSigningSecret === 'string' ? 'two secrets' : 'yes';
};

/** @throws AdminError unless the user types the project's name in a terminal */
async function confirm(id: string, name: string): Promise<void> {
  const shown = printable(name);
  if (!process.stdin.isTTY) {
    throw new AdminError(
      `This deletes the project ${id}, ${shown}, for good. Run it in a terminal, or with --yes.`,
    );
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // After the end of the input, such as Ctrl-D, no line follows.
  const ended = new Promise<null>((resolve) => terminal.once('close', () => resolve(null)));
  const question = `This deletes the project ${id} for good. To confirm it, type its name, ${shown}: `;
  try {
    const answer = await Promise.race([terminal.question(question), ended]);
    if (answer !== shown) throw new AdminError('Not deleted: the name differs.');
  } finally {
    terminal.close();
  }
}
