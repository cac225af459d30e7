import { type Command, Option } from 'commander';
import type { KeyAccess } from '../../store/keys.ts';
import { organisationOf } from './organisation-commands.ts';
import { withStore } from './store.ts';
import { AdminError, day, print, printTable } from './terminal.ts';

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
        const project =
          options.project === undefined ? null : await store.projects.find(options.project);
        if (options.project !== undefined && project === null) {
          throw new AdminError(`The project ${options.project} does not exist.`);
        }
        const orgId = project?.orgId ?? (await organisationOf(store, options.org));
        const { key, secret } = await store.keys.issue({
          name: options.name,
          orgId,
          projectId: project?._id ?? null,
          access: options.access,
        });
        print(`${key._id}  ${secret}`);
      }),
    );

  group
    .command('list')
    .description('list all keys, without their secrets')
    .action(() =>
      withStore(async (store) => {
        const all = await store.keys.list();
        printTable(
          ['ID', 'NAME', 'ORGANISATION', 'PROJECT', 'ACCESS', 'CREATED', 'REVOKED'],
          all.map((key) => [
            key._id,
            key.name,
            key.orgId,
            key.projectId ?? '(all)',
            key.access,
            day(key.createdAt),
            day(key.revokedAt),
          ]),
        );
      }),
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
