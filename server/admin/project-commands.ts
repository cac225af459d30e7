import { type Command, InvalidArgumentError } from 'commander';
import { signature, signedText } from '../image/access.ts';
import type { WithStore } from './store.ts';
import { CommandError, print, printTable } from './terminal.ts';

export function addProjectCommands(program: Command, withStore: WithStore): void {
  const group = program.command('projects').description('projects');

  group
    .command('create')
    .description('create a project; prints its id')
    .requiredOption('--name <text>', '1 to 80 characters')
    .requiredOption('--origin <url>', 'the address of the site; its host is allowed as a source')
    .option('--allow <host...>', 'other hosts that sources may come from')
    .option('--org <id>', 'organisation (default: the default one)')
    .action((options: { name: string; origin: string; allow?: string[]; org?: string }) =>
      withStore(async (store, settings) => {
        const { name, origin, allow = [], org } = options;
        const { createProject } = await import('./create-project.ts');
        const input = { name, origin, allowedOrigins: allow };
        print((await createProject(store, settings, input, org))._id);
      }),
    );

  group
    .command('list')
    .description('list all projects')
    .action(() =>
      withStore(async (store) => {
        const all = await store.projects.list();
        printTable(
          ['ID', 'NAME', 'ORGANISATION', 'SIGNED', 'HOSTS'],
          all.map(({ _id, name, orgId, requireSignedUrls, allowedOrigins }) => [
            _id,
            name,
            orgId,
            requireSignedUrls ? 'yes' : 'no',
            allowedOrigins.join(' '),
          ]),
        );
      }),
    );

  group
    .command('sign')
    .description(
      'require signed URLs: creates a new secret and prints it; with --url, sign a URL with the current secret',
    )
    .argument('<id>')
    .option('--ttl <seconds>', 'the longest time until a URL expires', wholeSeconds)
    .option('--url <url>', 'an /img/ URL to sign, valid for --ttl seconds or an hour')
    .option('--off', 'accept URLs without a signature again')
    .action((id: string, options: { ttl?: number; url?: string; off?: true }) =>
      withStore(async (store) => {
        const missing = () => new CommandError(`There is no project ${id}.`);
        if (options.off) {
          if ((await store.projects.dropSignatures(id)) === null) throw missing();
          return print(`${id} does not require signed URLs any more.`);
        }
        if (options.url === undefined) {
          const project = await store.projects.requireSignatures(id, options.ttl ?? null);
          if (project === null) throw missing();
          return print(project.signingSecret ?? '');
        }
        const project = await store.projects.find(id);
        if (project === null) throw missing();
        if (project.signingSecret === null)
          throw new CommandError(`${id} has no signing secret yet.`);
        const ttl = options.ttl ?? project.signedUrlTtlSeconds ?? 3_600;
        print(signUrl(options.url, project.signingSecret, ttl));
      }),
    );
}

function wholeSeconds(text: string): number {
  const seconds = Number(text);
  if (!Number.isInteger(seconds) || seconds < 60 || seconds > 2_592_000) {
    throw new InvalidArgumentError('It must be a whole number from 60 to 2592000.');
  }
  return seconds;
}

function signUrl(text: string, secret: string, ttlSeconds: number): string {
  const parts = /^(https?:\/\/[^/]+)?(\/[^?#]*)(?:\?([^#]*))?$/.exec(text);
  if (parts === null) throw new CommandError('The URL must be an /img/ URL with its query.');
  const [, origin = '', path = '', query = ''] = parts;
  const exp = Math.floor(Date.now() / 1_000) + ttlSeconds;
  const withExp = `${query === '' ? '' : `${query}&`}exp=${exp}`;
  const sig = signature(secret, signedText(path, withExp));
  return `${origin}${path}?${withExp}&sig=${sig}`;
}
