import { type Command, Option } from 'commander';
import type { KeyAccess } from '../../store/keys.ts';
import { requireProject } from '../project-not-found.ts';
import { organisationOf } from './organisation-commands.ts';
import { withStore } from './store.ts';
import { AdminError, day, jsonOption, print, printList } from './terminal.ts';

export function addKeyCommands(program: Command): void {
  const group = program.command('keys').description('API keys of the control plane');

  group
    .command('create')
    .description('create a key; it is shown only once')
    .option('--name <text>', 'the name of the key', 'admin')
    .option(
      '--org <id>',
      'the organisation whose projects the key can access (default: the default one)',
    )
    .option('--project <id>', 'limit the key to one project')
    .addOption(
      new Option('--access <kind>', 'the access of the key')
        .choices(['read', 'write'])
        .default('write'),
    )
    .action((options: { name: string; org?: string; project?: string; access: KeyAccess }) =>
      withStore(async (store) => {
        const { name, org, project = null, access } = options;
        const orgId =
          project === null
            ? await organisationOf(store, org)
            : requireProject(project, await store.projects.find(project)).orgId;
        const { key, secret } = await store.keys.issue({ name, orgId, projectId: project, access });
        print(`${key._id}  ${secret}`);
      }),
    );

  group
    .command('list')
    .description('list all keys, without their secrets')
    .option(...jsonOption)
    .action(({ json = false }: { json?: boolean }) =>
      withStore(async (store) =>
        printList({
          json,
          items: await store.keys.list(),
          fields: ({ _id: id, hash: _, ...key }) => ({ id, ...key }),
          cells: (key) => ({
            ID: key._id,
            NAME: key.name,
            ORGANISATION: key.orgId,
            PROJECT: key.projectId ?? '(all)',
            ACCESS: key.access,
            CREATED: day(key.createdAt),
            REVOKED: day(key.revokedAt),
          }),
        }),
      ),
    );

  group
    .command('revoke')
    .description('revoke a key')
    .argument('<id>', 'the id that `keys list` shows, key_...')
    .action((id: string) =>
      withStore(async (store) => {
        const key = await store.keys.revoke(id);
        if (key === null) throw new AdminError(`The key ${id} does not exist.`);
        print(`${key._id} is revoked.`);
      }),
    );
}
