import { type Command, Option } from 'commander';
import { CommandError } from '../../contract/errors.ts';
import { type KeyAccess, keyAccesses, type NewKey } from '../../store/keys.ts';
import type { Store } from '../../store/open.ts';
import { requireProject } from '../request-errors.ts';
import { addListAction, createOption, toCreation, withStore } from './store.ts';
import { day, print } from './terminal.ts';

/** Checks an organisation id. @returns the default organisation's id for undefined */
export async function findOrganisation(store: Store, id: string | undefined): Promise<string> {
  if (id === undefined) return (await store.organisations.default())._id;
  if ((await store.organisations.find(id)) === null) {
    throw new CommandError(`The organisation ${id} does not exist.`);
  }
  return id;
}

export function addOrganisationCommands(program: Command): void {
  const group = program.command('orgs').description('manage organisations');

  group
    .command('create')
    .argument('<name>')
    .description('create an organisation with product access')
    .option(...createOption)
    .action((name: string, { yes }: { yes?: boolean }) =>
      withStore(
        async (store) => print((await store.organisations.create(name))._id),
        toCreation(yes),
      ),
    );

  addListAction(
    group.command('list').description('list all organisations'),
    ({ organisations }) => organisations.list(),
    {
      fields: ({ _id: id, ...organisation }) => ({ id, ...organisation }),
      cells: ({ _id, name, productAccess, createdAt }) => ({
        ID: _id,
        NAME: name,
        'PRODUCT ACCESS': productAccess ? 'on' : 'off',
        CREATED: day(createdAt),
      }),
    },
  );

  group
    .command('access')
    .description("turn an organisation's product access on or off")
    .argument('<id>', 'organisation id')
    .addArgument(program.createArgument('<state>').choices(['on', 'off']))
    .action((id: string, state: string) =>
      withStore(async (store) => {
        const organisation = await store.organisations.setProductAccess(id, state === 'on');
        if (organisation === null) throw new CommandError(`The organisation ${id} does not exist.`);
        print(`Product access for ${id} is ${state}.`);
      }),
    );
}

/** Options that limit a key's access. */
interface Scope {
  readonly project?: string;
  readonly org?: string;
  readonly root?: true;
}

interface CreateKeyOptions extends Scope {
  readonly name: string;
  readonly access: KeyAccess;
  readonly yes?: boolean;
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
    .option(...createOption)
    .action(({ name, access, yes, ...scope }: CreateKeyOptions) => {
      if (Object.keys(scope).length === 0) {
        throw new CommandError(
          'Choose what the key can access: --project <id>, --org <id> (--org default for the default organisation), or --root for all projects of all organisations.',
        );
      }
      return withStore(async (store) => {
        const rights = await findRights(store, scope);
        const { key, secret } = await store.keys.issue({ name, access, ...rights });
        print(`${key._id}  ${secret}`);
      }, toCreation(yes));
    });

  addListAction(group.command('list').description('list all keys'), ({ keys }) => keys.list(), {
    fields: ({ _id: id, hash: _, ...key }) => ({ id, ...key }),
    cells: (key) => ({
      ID: key._id,
      NAME: key.name,
      ORGANISATION: key.orgId,
      PROJECTS: key.projectId ?? (key.allOrganisations ? 'all (root)' : 'of the organisation'),
      ACCESS: key.access,
      CREATED: day(key.createdAt),
      REVOKED: day(key.revokedAt),
    }),
  });

  group
    .command('revoke')
    .description('revoke a key')
    .argument('<id>', 'an id from `keys list`, key_...')
    .action((id: string) =>
      withStore(async (store) => {
        const key = await store.keys.revoke(id);
        if (key === null) throw new CommandError(`The key ${id} does not exist.`);
        print(`${key._id} is revoked.`);
      }),
    );
}
