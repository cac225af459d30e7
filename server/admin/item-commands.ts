import type { Command } from 'commander';
import type { NamedSchema } from '../control/schema.ts';
import type { Services } from '../control/services.ts';
import { withStore } from './store.ts';
import { jsonOption, printList } from './terminal.ts';

type ItemServices = Pick<Services, 'projects' | 'onChange' | 'baseUrl'>;

/** The part of `ProjectItems` that commands use, and the schema of the items' input. */
interface Items<Input, Item> {
  readonly input: NamedSchema<Input>;
  list(services: ItemServices, project: string): Promise<Item[]>;
  find(services: ItemServices, project: string, name: string): Promise<Item>;
  put(services: ItemServices, project: string, name: string, input: Input): Promise<Item>;
  remove(services: ItemServices, project: string, name: string): Promise<Item[]>;
}

interface ItemKind<Input, Item extends object> {
  /** Called when a command runs, because loading takes time. */
  readonly load: () => Promise<Items<Input, Item>>;
  /** The argument with an item's name, such as `<host>`. */
  readonly argument: string;
  readonly listDescription: string;
  readonly deleteDescription: string;
  /** Returns an item's cells, by column heading. */
  readonly cells: (item: Item) => Readonly<Record<string, string>>;
  readonly empty: string;
  /** Completes the command `set` after its argument `<project>`. */
  readonly addSet: (command: Command, set: SetItem<Input>) => void;
}

type SetItem<Input> = (
  project: string,
  name: string,
  readInput: () => Input | Promise<Input>,
) => Promise<void>;

/** Adds the commands `list`, `set` and `delete` for one kind of a project's items. */
export function addItemCommands<Input, Item extends object>(
  group: Command,
  kind: ItemKind<Input, Item>,
): void {
  const { load, argument, listDescription, deleteDescription, cells, empty, addSet } = kind;
  /** Runs an action on the items and prints its result. */
  const run = (
    action: (items: Items<Input, Item>, services: ItemServices) => Promise<Item[]>,
    json = false,
  ) =>
    withStore(async ({ projects }, { baseUrl }) => {
      // The processes of a running service find changes by polling the store.
      const items = await action(await load(), { projects, onChange: () => {}, baseUrl });
      printList({ json, items, fields: (item) => item, cells, empty });
    });

  group
    .command('list')
    .description(listDescription)
    .argument('<project>', 'project id')
    .option(...jsonOption)
    .action((project: string, { json }: { json?: boolean }) =>
      run((items, services) => items.list(services, project), json),
    );

  addSet(group.command('set').argument('<project>', 'project id'), (project, name, readInput) =>
    run(async (items, services) => {
      const { requireValid } = await import('../control/validate.ts');
      const input = await readInput();
      requireValid(items.input, input);
      await items.put(services, project, name, input);
      return items.list(services, project);
    }),
  );

  group
    .command('delete')
    .description(deleteDescription)
    .argument('<project>', 'project id')
    .argument(argument)
    .action((project: string, name: string) =>
      run(async (items, services) => {
        // Throws for an unknown name, which is probably mistyped; the API ignores it.
        await items.find(services, project, name);
        return items.remove(services, project, name);
      }),
    );
}
