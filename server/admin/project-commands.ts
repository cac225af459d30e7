import type { Command } from 'commander';
import { addSignCommand } from './sign-command.ts';
import { withStore } from './store.ts';
import { print, printTable } from './terminal.ts';

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

  addSignCommand(group);
}
