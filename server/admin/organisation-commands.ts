import type { Command } from 'commander';
import type { Store } from '../../store/open.ts';
import { withStore } from './store.ts';
import { AdminError, day, jsonOption, print, printList } from './terminal.ts';

/** Checks an organisation id. @returns the default organisation's id for undefined */
export async function findOrganisation(store: Store, id: string | undefined): Promise<string> {
  if (id === undefined) return (await store.organisations.default())._id;
  if ((await store.organisations.find(id)) === null) {
    throw new AdminError(`The organisation ${id} does not exist.`);
  }
  return id;
}

export function addOrganisationCommands(program: Command): void {
  const group = program.command('orgs').description('manage organisations');

  group
    .command('create')
    .argument('<name>')
    .description('create an organisation with product access')
    .action((name: string) =>
      withStore(async (store) => print((await store.organisations.create(name))._id), {
        creates: true,
      }),
    );

  group
    .command('list')
    .description('list all organisations')
    .option(...jsonOption)
    .action(({ json = false }: { json?: boolean }) =>
      withStore(async (store) =>
        printList({
          json,
          items: await store.organisations.list(),
          fields: ({ _id: id, ...organisation }) => ({ id, ...organisation }),
          cells: ({ _id, name, productAccess, createdAt }) => ({
            ID: _id,
            NAME: name,
            'PRODUCT ACCESS': productAccess ? 'on' : 'off',
            CREATED: day(createdAt),
          }),
        }),
      ),
    );

  group
    .command('access')
    .description("turn an organisation's product access on or off")
    .argument('<id>', 'organisation id')
    .addArgument(program.createArgument('<state>').choices(['on', 'off']))
    .action((id: string, state: string) =>
      withStore(async (store) => {
        const organisation = await store.organisations.setProductAccess(id, state === 'on');
        if (organisation === null) throw new AdminError(`The organisation ${id} does not exist.`);
        print(`Product access of ${id} is ${state}.`);
      }),
    );
}
