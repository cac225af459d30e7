import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import type { HostInput } from '../control/resources/hosts.ts';
import type { NamedSchema } from '../control/schema.ts';
import type { Services } from '../control/services.ts';
import { withStore } from './store.ts';
import { day, jsonOption, type PrintedList, printList } from './terminal.ts';

type ItemServices = Pick<Services, 'projects' | 'onChange' | 'baseUrl'>;

/** The part of `ProjectItems` that commands use, and the schema of the items' input. */
interface Items<Input, Item> {
  readonly input: NamedSchema<Input>;
  list(services: ItemServices, project: string): Promise<Item[]>;
  find(services: ItemServices, project: string, name: string): Promise<Item>;
  put(services: ItemServices, project: string, name: string, input: Input): Promise<Item>;
  remove(services: ItemServices, project: string, name: string): Promise<Item[]>;
}

interface ItemKind<Input, Item> extends Omit<PrintedList<Item>, 'items' | 'fields'> {
  readonly name: string;
  readonly description: string;
  /** Called when a command runs, because loading takes time. */
  readonly load: () => Promise<Items<Input, Item>>;
  /** The argument with an item's name, such as `<host>`. */
  readonly argument: string;
  readonly listDescription: string;
  readonly deleteDescription: string;
  /** Completes the command `set` after its argument `<project>`. */
  readonly addSet: (command: Command, set: SetItem<Input>) => void;
}

type SetItem<Input> = (
  project: string,
  name: string,
  readInput: () => Input | Promise<Input>,
) => Promise<void>;

/** Adds the commands `list`, `set` and `delete` for one kind of a project's items. */
function addItemCommands<Input, Item>(program: Command, kind: ItemKind<Input, Item>): void {
  const { load, argument, listDescription, deleteDescription, addSet } = kind;
  const group = program.command(kind.name).description(kind.description);
  /** Runs an action on the items and prints its result. */
  const run = (
    action: (items: Items<Input, Item>, services: ItemServices) => Promise<Item[]>,
    json = false,
  ) =>
    withStore(async ({ projects }, { baseUrl }) => {
      // The processes of a running service find changes by polling the store.
      const items = await action(await load(), { projects, onChange: () => {}, baseUrl });
      printList({ ...kind, items }, json);
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

/** Adds the commands for presets, delivery hosts and URL secrets. */
export function addAllItemCommands(program: Command): void {
  addItemCommands(program, {
    name: 'presets',
    description: "manage a project's presets, which are named image parameters",
    load: async () => (await import('../control/resources/presets.ts')).presets,
    argument: '<name>',
    listDescription: "list a project's presets",
    deleteDescription: 'delete a preset',
    cells: ({ name, parameters }) => {
      const query = new URLSearchParams();
      for (const [key, value] of Object.entries(parameters)) query.set(key, String(value));
      return { NAME: name, PARAMETERS: query.toString().replaceAll('%2C', ',') };
    },
    empty: 'The project has no presets.',
    addSet: (command, set) =>
      command
        .description('create or replace a preset')
        .argument('<name>', 'a lower-case letter, then lower-case letters, digits, - and _')
        .argument('<parameters>', 'as in a URL: "w=400&h=300&fit=cover"')
        .action((project: string, name: string, query: string) =>
          set(project, name, async () => {
            const { presetOfQuery } = await import('./control.ts');
            return { parameters: presetOfQuery(query) };
          }),
        ),
  });
  addItemCommands(program, {
    name: 'hosts',
    description: "manage a project's delivery hosts",
    load: async () => (await import('../control/resources/hosts.ts')).hosts,
    argument: '<host>',
    listDescription: "list a project's delivery hosts",
    deleteDescription: 'remove a delivery host',
    cells: ({ host, base, urls, updatedAt }) => ({
      HOST: host,
      URLS: urls,
      BASE: base ?? "the project's origin",
      CHANGED: day(new Date(updatedAt)),
    }),
    empty: 'The project has no delivery hosts.',
    addSet: (command, set) =>
      command
        .description('add or change a delivery host')
        .argument('<host>', 'such as img.shop.example')
        .option('--base <url>', "resolve sources below this URL (default: the project's origin)")
        .option('--urls <service>', 'accept the URLs of another service, such as next')
        .action((project: string, host: string, options: { base?: string; urls?: string }) =>
          set(project, host, () => ({ ...options }) as HostInput),
        ),
  });
  addItemCommands(program, {
    name: 'url-secrets',
    description: "manage the secrets that sign another service's URLs",
    load: async () => (await import('../control/resources/url-secrets.ts')).urlSecrets,
    argument: '<service>',
    listDescription: 'list services with a URL secret',
    deleteDescription: "delete a service's URL secret",
    cells: ({ kind, secretCount, updatedAt }) => ({
      URLS: kind,
      SECRETS: String(secretCount),
      CHANGED: day(new Date(updatedAt)),
    }),
    empty: 'The project has no URL secrets.',
    addSet: (command, set) =>
      command
        .description(
          "set a service's URL secret, read from standard input, with imgproxy's salt in the second line",
        )
        .argument('<service>', 'such as imgix')
        .option('--keep-previous', 'keep the old secret valid until the next change')
        .action((project: string, kind: string, options: { keepPrevious?: boolean }) =>
          set(project, kind, async () => ({ ...(await readSecret()), ...options })),
        ),
  });
}

/** Other users of the machine see a command's arguments, and shells keep them. */
async function readSecret(): Promise<{ secret: string; salt?: string }> {
  if (process.stdin.isTTY) {
    process.stderr.write('Paste the secret, then press Ctrl-D on a new line: ');
  }
  const [secret = '', salt = ''] = (await text(process.stdin)).split(/\r?\n/);
  return salt === '' ? { secret } : { secret, salt };
}
