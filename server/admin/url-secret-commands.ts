import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { addItemCommands } from './item-commands.ts';
import { day } from './terminal.ts';

export function addUrlSecretCommands(program: Command): void {
  const group = program
    .command('url-secrets')
    .description("manage the secrets that sign a project's URLs of other services");
  addItemCommands(group, {
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
  if (process.stdin.isTTY) process.stderr.write('The secret, and Ctrl-D in the next line: ');
  const [secret = '', salt = ''] = (await text(process.stdin)).split(/\r?\n/);
  return salt === '' ? { secret } : { secret, salt };
}
