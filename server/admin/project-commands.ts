import type { Command } from 'commander';
import { projectWebhookSecret } from '../../contract/webhook-secret.ts';
import { addSignCommand } from './sign-command.ts';
import { withStore } from './store.ts';
import { AdminError, print, printTable } from './terminal.ts';

export function addProjectCommands(program: Command): void {
  const group = program.command('projects').description('projects');

  group
    .command('create')
    .description('create a project; prints its id')
    .requiredOption('--name <text>', '1 to 80 characters')
    .requiredOption('--origin <url>', 'the address of the site; its host is allowed as a source')
    .option('--allow <host...>', 'other hosts that sources may come from')
    .option('--org <id>', 'organisation (default: the default one)')
    .action((options: { name: string; origin: string; allow?: string[]; org?: string }) =>
      withStore(async (store, settings) => {
        const { name, origin, allow = [], org } = options;
        const { createProject } = await import('./projects.ts');
        const input = { name, origin, allowedOrigins: allow };
        print((await createProject(store, settings, input, org))._id);
      }),
    );

  group
    .command('list')
    .description('list all projects')
    .action(() =>
      withStore(async (store) => {
        const all = await store.projects.list();
        printTable(
          ['ID', 'NAME', 'ORGANISATION', 'SIGNED', 'HOSTS'],
          all.map(
            ({ _id, name, orgId, requireSignedUrls, previousSigningSecret, allowedOrigins }) => [
              _id,
              name,
              orgId,
              requireSignedUrls
                ? typeof previousSigningSecret === 'string'
                  ? 'two secrets'
                  : 'yes'
                : 'no',
              allowedOrigins.join(' '),
            ],
          ),
        );
      }),
    );

  group
    .command('webhook-secret')
    .description('print the secret that signs the callbacks of a project')
    .argument('<project>')
    .action((id: string) =>
      withStore(async (store, { hookSecret }) => {
        const project = await store.projects.find(id);
        if (project === null) throw new AdminError(`There is no project ${id}.`);
        if (hookSecret === null) throw new AdminError('Set SERVICE_HOOK_SECRET first.');
        print(projectWebhookSecret(hookSecret, id));
      }),
    );

  addSignCommand(group);
}
