import type { Command } from 'commander';
import type { HostInput } from '../control/resources/hosts.ts';
import { addItemCommands } from './item-commands.ts';
import { day } from './terminal.ts';

export function addHostCommands(program: Command): void {
  addItemCommands(program.command('hosts').description("manage a project's delivery hosts"), {
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
        .option('--urls <service>', 'read URLs of this service, such as next')
        .action((project: string, host: string, options: { base?: string; urls?: string }) =>
          set(project, host, () => ({ ...options }) as HostInput),
        ),
  });
}
