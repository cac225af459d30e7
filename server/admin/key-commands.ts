import { type Command, Option } from 'commander';
import { type KeyAccess, keyAccesses, type NewKey } from '../../store/keys.ts';
import type { Store } from '../../store/open.ts';
import { requireProject } from '../require-project.ts';
import { findOrganisation } from './organisation-commands.ts';
import { withStore } from './store.ts';
import { AdminError, day, jsonOption, print, printList } from './terminal.ts';

/** Options that limit a key's access. */
interface Scope {
  readonly project?: string;
  readonly org?: string;
  readonly root?: true;
}

const scopes: ReadonlyArray<keyof Scope> = ['project', 'org', 'root'];

function scopeOption(flags: string, description: string): Option {
  const option = new Option(flags, description);
  return option.conflicts(scopes.filter((scope) => scope !== option.attributeName()));
}

async function findRights(
  store: Store,
  { project, org, root }: Scope,
): Promise<Pick<NewKey, 'orgId' | 'projectId' | 'allOrganisations'>> {
  if (project !== undefined) {
    const { orgId } = requireProject(project, await store.projects.find(project));
    return { orgId, projectId: project };
  }
  const orgId = await findOrganisation(store, org === 'default' ? undefined : org);
  return { orgId, projectId: null, ...(root && { allOrganisations: true }) };
}

export function addKeyCommands(program: Command): void {
  const group = program.command('keys').description('manage API keys');

  group
    .command('create')
    .description('create and print a key')
    .option('--name <text>', 'key name', 'admin')
    .addOption(scopeOption('--project <id>', 'limit the key to a project'))
    .addOption(scopeOption('--org <id>', 'limit the key to an organisation, or to `default`'))
    .addOption(scopeOption('--root', 'give access to all projects of all organisations'))
    .addOption(
      new Option('--access <kind>', 'set the access level').choices(keyAccesses).default('write'),
    )
    .action(({ name, access, ...scope }: Scope & { name: string; access: KeyAccess }) => {
      if (Object.keys(scope).length === 0) {
        throw new AdminError(
          'Choose what the key can access: --project <id>, --org <id> (--org default for the default organisation), or --root for all projects of all organisations.',
        );
      }
      const { project, org = 'default' } = scope;
      return withStore(
        async (store) => {
          const rights = await findRights(store, scope);
          const { key, secret } = await store.keys.issue({ name, access, ...rights });
          print(`${key._id}  ${secret}`);
        },
        // A new store contains no project, and only the default organisation.
        { creates: project === undefined && org === 'default' },
      );
    });

  group
    .command('list')
    .description('list all keys')
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
            PROJECTS:
              key.projectId ?? (key.allOrganisations ? 'all (root)' : 'of the organisation'),
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
    .argument('<id>', 'an id from `keys list`, key_...')
    .action((id: string) =>
      withStore(async (store) => {
        const key = await store.keys.revoke(id);
        if (key === null) throw new AdminError(`The key ${id} does not exist.`);
        print(`${key._id} is revoked.`);
      }),
    );
}
