import { type Command, InvalidArgumentError, Option } from 'commander';
import { CommandError, ServiceError } from '../../contract/errors.ts';
import { projectWebhookSecret } from '../../contract/secrets.ts';
import type { ListedProject, Projects } from '../../store/projects.ts';
import { signingSecrets } from '../image/access.ts';
import { requireProject } from '../request-errors.ts';
import { findOrganisation } from './access-commands.ts';
import { addListAction, createOption, toCreation, withStore } from './store.ts';
import { print, printable } from './terminal.ts';

interface CreateOptions {
  readonly name: string;
  readonly origin: string;
  readonly allow?: string[];
  readonly org?: string;
  readonly yes?: boolean;
}

export function addProjectCommands(program: Command): void {
  const group = program.command('projects').description('manage projects');

  group
    .command('create')
    .description('create a project, and print its id')
    .requiredOption('--name <text>', '1 to 80 characters')
    .requiredOption('--origin <url>', 'site URL (allows its host as a source)')
    .option('--allow <host...>', 'allow more source hosts')
    .option('--org <id>', 'organisation (default: the default organisation)')
    .option(...createOption)
    .action((options: CreateOptions) => {
      const { name, origin, allow = [], org, yes } = options;
      const input = { name, origin, allowedOrigins: allow };
      return withStore(async (store, settings) => {
        const control = await import('./control.ts');
        control.requireValid(control.createProjectInput, input);
        const orgId = await findOrganisation(store, org);
        const services = control.createServices(store, settings);
        print((await control.createProject(services, input, orgId))._id);
      }, toCreation(yes));
    });

  addListAction(
    group.command('list').description('list all projects'),
    async ({ projects }) => {
      const { projectBody } = await import('../control/project-body.ts');
      const all = await projects.list();
      return all.map((project) => ({ project, body: projectBody(project) }));
    },
    {
      fields: ({ body }) => body,
      cells: ({ project }) => ({
        ID: project._id,
        NAME: project.name,
        ORGANISATION: project.orgId,
        SIGNED: signedText(project),
        HOSTS: project.allowedOrigins.join(' '),
      }),
    },
  );

  group
    .command('update')
    .description("change a project's name or site")
    .argument('<id>', 'project id')
    .option('--name <text>', '1 to 80 characters')
    .option('--origin <url>', 'site URL (allows its host as a source)')
    .action((id: string, input: { name?: string; origin?: string }) => {
      if (Object.keys(input).length === 0)
        throw new CommandError('Pass --name, --origin, or both.');
      return withStore(async (store, settings) => {
        const control = await import('./control.ts');
        control.requireValid(control.updateProjectInput, input);
        const services = control.createServices(store, settings);
        const { name, origin } = await control.updateProject(services, id, input);
        print(`${id} is ${printable(name)}, of ${origin}`);
      });
    });

  group
    .command('delete')
    .description('delete a project and all its data')
    .argument('<id>', 'project id')
    .option('--yes', 'confirm the deletion')
    .option('--force', 'cancel its prewarms, which would otherwise block the deletion')
    .action((id: string, { yes = false, force = false }: { yes?: boolean; force?: boolean }) =>
      withStore(async (store, settings) => {
        const { deleteProject, createServices } = await import('./control.ts');
        const { name } = requireProject(id, await store.projects.find(id));
        if (!yes) {
          const shown = printable(name);
          throw new CommandError(
            `This deletes the project ${id}, ${shown}, permanently. Add --yes to confirm.`,
          );
        }
        const services = createServices(store, settings);
        await deleteProject(services, id, { force }).catch((error: unknown) => {
          const isRefused = error instanceof ServiceError && error.code === 'prewarm_in_progress';
          throw isRefused ? new CommandError(`${error.message} --force cancels it.`) : error;
        });
        print(`${id} is deleted. The running service applies this within 2 seconds.`);
      }),
    );

  group
    .command('webhook-secret')
    .description("print the secret that signs a project's callbacks")
    .argument('<project>', 'project id')
    .action((id: string) =>
      withStore(async (store, { hookSecrets: [secret] }) => {
        requireProject(id, await store.projects.find(id));
        if (secret === undefined) throw new CommandError('Set SERVICE_HOOK_SECRET first.');
        print(projectWebhookSecret(secret, id));
      }),
    );

  addSignCommand(group);
}

const signedText = ({ requireSignedUrls, previousSigningSecret }: ListedProject): string => {
  if (!requireSignedUrls) return 'no';
  return typeof previousSigningSecret === 'string' ? 'two secrets' : 'yes';
};

interface SignOptions {
  readonly ttl?: number;
  readonly rotate?: true;
  readonly revokeOld?: true;
  readonly url?: string;
  readonly off?: true;
}

/** `projects sign`: the secrets for signed URLs. */
function addSignCommand(group: Command): void {
  group
    .command('sign')
    .description('require signed URLs: print a new secret, and invalidate the old secret')
    .argument('<id>', 'project id')
    .option('--ttl <seconds>', 'limit the time until a URL expires', wholeSeconds)
    .addOption(
      option('--rotate', 'keep the old secret valid until --revoke-old', [
        'ttl',
        'revokeOld',
        'url',
        'off',
      ]),
    )
    .addOption(
      option('--revoke-old', 'invalidate the secret that --rotate replaced', ['ttl', 'url', 'off']),
    )
    .addOption(option('--url <url>', 'print this URL signed for --ttl seconds or an hour', ['off']))
    .option('--off', 'accept unsigned URLs, and delete the secrets')
    .action((id: string, options: SignOptions) =>
      withStore(async ({ projects }, { baseUrl }) => {
        print(await changeSigning(projects, id, options, baseUrl));
      }),
    );
}

const option = (flags: string, description: string, conflicts: string[]): Option =>
  new Option(flags, description).conflicts(conflicts);

/** @returns the text to print */
async function changeSigning(
  projects: Projects,
  id: string,
  { ttl, rotate, revokeOld, url, off }: SignOptions,
  baseUrl: string,
): Promise<string> {
  const project = requireProject(id, await projects.find(id));
  if (off) {
    requireProject(id, await projects.stopRequiringSignatures(id));
    return `${id} no longer requires signed URLs.`;
  }
  if (revokeOld) {
    if (signingSecrets(project).length < 2) {
      throw new CommandError(`${id} has no previous secret to revoke. Run --rotate first.`);
    }
    requireProject(id, await projects.revokePreviousSecret(id));
    return `${id} accepts only the current secret.`;
  }
  const { createSigningSecret, signUrl } = await import('./control.ts');
  if (url !== undefined) {
    return signUrl(project, baseUrl, { url, ...(ttl !== undefined && { validFor: ttl }) }).url;
  }
  if (rotate && project.signingSecret === null) {
    throw new CommandError(
      `${id} has no secret to rotate. Run the command without --rotate first.`,
    );
  }
  if (rotate && signingSecrets(project).length === 2) {
    throw new CommandError(`${id} has two valid secrets. Run --revoke-old first.`);
  }
  // The processes of a running service find changes by polling the store.
  const services = { projects, onChange: () => {} };
  const input = rotate ? {} : { replaceAll: true, ttlSeconds: ttl ?? null };
  return (await createSigningSecret(services, id, input)).signingSecret ?? '';
}

function wholeSeconds(text: string): number {
  const seconds = Number(text);
  if (!Number.isInteger(seconds) || seconds < 60 || seconds > 2_592_000) {
    throw new InvalidArgumentError('It must be a whole number from 60 to 2592000.');
  }
  return seconds;
}
