import { type Command, Option } from 'commander';
import type { KeyAccess } from '../../store/keys.ts';
import { organisationOf } from './organisation-commands.ts';
import type { WithStore } from './store.ts';
import { day, Mistake, print, printTable } from './terminal.ts';

export function addKeyCommands(program: Command, withStore: WithStore): void {
  const group = program.command('keys').description('API keys of the control plane');

  group
    .command('create')
    .description('make a key; it is shown only now')
    .option('--name <text>', 'what the key is for', 'admin')
    .option('--org <id>', 'the organisation whose projects it is for (default: the default one)')
    .option('--project <id>', 'limit the key to one project')
    .addOption(
      new Option('--access <kind>', 'what it may do').choices(['read', 'write']).default('write'),
    )
    .action((options: { name: string; org?: string; project?: string; access: KeyAccess }) =>
      withStore(async (store) => {
        const project =
          options.project === undefined ? null : await store.projects.find(options.project);
        if (options.project !== undefined && project === null) {
          throw new Mistake(`There is no project ${options.project}.`);
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
    .description('all keys, without their secrets')
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
    .description('end a key')
    .argument('<id>', 'the key_... id that `keys list` shows')
    .action((id: string) =>
      withStore(async (store) => {
        const key = await store.keys.revoke(id);
        if (key === null) throw new Mistake(`There is no key ${id}.`);
        print(`${key._id} is revoked.`);
      }),
    );
}
