import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import type { UrlSecretInput, urlSecrets } from '../control/resources/url-secrets.ts';
import type { Services } from '../control/services.ts';
import { withStore } from './store.ts';
import { day, jsonOption, printList } from './terminal.ts';

type Secrets = Awaited<ReturnType<typeof urlSecrets.list>>;
type Action = (
  resource: typeof urlSecrets,
  services: Pick<Services, 'projects' | 'onChange'>,
) => Promise<Secrets>;

export function addUrlSecretCommands(program: Command): void {
  const group = program
    .command('url-secrets')
    .description("manage the secrets that sign a project's URLs of other services");
  /** Runs an action on the secrets and prints its result. */
  const run = (action: Action, json = false) =>
    withStore(async ({ projects }) => {
      const { urlSecrets } = await import('../control/resources/url-secrets.ts');
      // The processes of a running service find changes by polling the store.
      printSecrets(await action(urlSecrets, { projects, onChange: () => {} }), json);
    });

  group
    .command('list')
    .description('list services with a URL secret')
    .argument('<project>')
    .option(...jsonOption)
    .action((project: string, { json }: { json?: boolean }) =>
      run((secrets, services) => secrets.list(services, project), json),
    );

  group
    .command('set')
    .description(
      "set a service's URL secret, read from standard input, with imgproxy's salt in the second line",
    )
    .argument('<project>')
    .argument('<service>', 'such as imgix')
    .option('--keep-previous', 'keep the old secret valid until the next change')
    .action((project: string, kind: string, options: { keepPrevious?: boolean }) =>
      run(async (secrets, services) => {
        const { urlSecretInput } = await import('../control/resources/url-secrets.ts');
        const { requireValid } = await import('../control/validate.ts');
        const input: UrlSecretInput = { ...(await readSecret()), ...options };
        requireValid(urlSecretInput, input);
        await secrets.put(services, project, kind, input);
        return secrets.list(services, project);
      }),
    );

  group
    .command('delete')
    .description("delete a service's URL secret")
    .argument('<project>')
    .argument('<service>')
    .action((project: string, kind: string) =>
      run(async (secrets, services) => {
        // Throws for a missing secret, which is probably mistyped; the API ignores it.
        await secrets.find(services, project, kind);
        return secrets.remove(services, project, kind);
      }),
    );
}

/** Other users of the machine see a command's arguments, and shells keep them. */
async function readSecret(): Promise<{ secret: string; salt?: string }> {
  if (process.stdin.isTTY) process.stderr.write('The secret, and Ctrl-D in the next line: ');
  const [secret = '', salt = ''] = (await text(process.stdin)).split(/\r?\n/);
  return salt === '' ? { secret } : { secret, salt };
}

const printSecrets = (secrets: Secrets, json: boolean): void =>
  printList({
    json,
    items: secrets,
    fields: (secret) => secret,
    cells: ({ kind, secretCount, updatedAt }) => ({
      URLS: kind,
      SECRETS: String(secretCount),
      CHANGED: day(new Date(updatedAt)),
    }),
    empty: 'The project has no URL secrets.',
  });
