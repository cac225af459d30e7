import type { Command } from 'commander';
import type { Store } from '../../store/open.ts';
import { withStore } from './store.ts';
import { AdminError, day, print, printTable } from './terminal.ts';

/** Checks the id of an organisation. @returns the default organisation's id for undefined */
export async function organisationOf(store: Store, id: string | undefined): Promise<string> {
  if (id === undefined) return (await store.organisations.default())._id;
  if ((await store.organisations.find(id)) === null) {
    throw new AdminError(`The organisation ${id} does not exist.`);
  }
  return id;
}

export function addOrganisationCommands(program: Command): void {
  const group = program.command('orgs').description('organisations');

  group
    .command('create')
    .argument('<name>')
    .description('create an organisation, with product access')
    .action((name: string) =>
      withStore(async (store) => print((await store.organisations.create(name))._id)),
    );

  group
    .command('list')
    .description('list all organisations')
    .action(() =>
      withStore(async (store) => {
        const all = await store.organisations.list();
        printTable(
          ['ID', 'NAME', 'PRODUCT ACCESS', 'CREATED'],
          all.map(({ _id, name, productAccess, createdAt }) => [
            _id,
            name,
            productAccess ? 'on' : 'off',
            day(createdAt),
          ]),
        );
      }),
    );

  group
    .command('access')
    .description("turn an organisation's product access on or off")
    .argument('<id>')
    .addArgument(program.createArgument('<state>').choices(['on', 'off']))
    .action((id: string, state: string) =>
      withStore(async (store) => {
        const organisation = await store.organisations.setProductAccess(id, state === 'on');
        if (organisation === null) throw new AdminError(`The organisation ${id} does not exist.`);
        print(`Product access of ${id} is ${state}.`);
      }),
    );
}
