import type { Command } from 'commander';
import type { HostInput, hosts } from '../control/resources/hosts.ts';
import type { Services } from '../control/services.ts';
import { withStore } from './store.ts';
import { day, jsonOption, printList } from './terminal.ts';

type Hosts = Awaited<ReturnType<typeof hosts.list>>;
type Action = (
  resource: typeof hosts,
  services: Pick<Services, 'projects' | 'onChange' | 'baseUrl'>,
) => Promise<Hosts>;

export function addHostCommands(program: Command): void {
  const group = program.command('hosts').description("manage a project's delivery hosts");
  /** Runs an action on the hosts and prints its result. */
  const run = (action: Action, json = false) =>
    withStore(async ({ projects }, { baseUrl }) => {
      const { hosts } = await import('../control/resources/hosts.ts');
      // The processes of a running service find changes by polling the store.
      printHosts(await action(hosts, { projects, onChange: () => {}, baseUrl }), json);
    });

  group
    .command('list')
    .description("list a project's delivery hosts")
    .argument('<project>')
    .option(...jsonOption)
    .action((project: string, { json }: { json?: boolean }) =>
      run((hosts, services) => hosts.list(services, project), json),
    );

  group
    .command('set')
    .description('add or change a delivery host')
    .argument('<project>')
    .argument('<host>', 'such as img.shop.example')
    .option('--base <url>', "resolve sources below this URL (default: the project's origin)")
    .option('--urls <service>', 'read URLs of this service, such as next')
    .action((project: string, host: string, options: { base?: string; urls?: string }) =>
      run(async (hosts, services) => {
        const { hostInput } = await import('../control/resources/hosts.ts');
        const { requireValid } = await import('../control/validate.ts');
        const input = { ...options } as HostInput;
        requireValid(hostInput, input);
        await hosts.put(services, project, host, input);
        return hosts.list(services, project);
      }),
    );

  group
    .command('delete')
    .description('remove a delivery host')
    .argument('<project>')
    .argument('<host>')
    .action((project: string, host: string) =>
      run(async (hosts, services) => {
        // Throws for an unknown host, which is probably mistyped; the API ignores it.
        await hosts.find(services, project, host);
        return hosts.remove(services, project, host);
      }),
    );
}

const printHosts = (hosts: Hosts, json: boolean): void =>
  printList({
    json,
    items: hosts,
    fields: (host) => host,
    cells: ({ host, base, urls, updatedAt }) => ({
      HOST: host,
      URLS: urls,
      BASE: base ?? "the project's origin",
      CHANGED: day(new Date(updatedAt)),
    }),
    empty: 'The project has no delivery hosts.',
  });
