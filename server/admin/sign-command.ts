import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Project, Projects } from '../../store/projects.ts';
import { signingSecrets } from '../image/access.ts';
import { signImageUrl } from '../image/sign-url.ts';
import { siteAtHost } from '../image/site.ts';
import { requireProject } from '../require-project.ts';
import { withStore } from './store.ts';
import { AdminError, print } from './terminal.ts';

interface SignOptions {
  readonly ttl?: number;
  readonly rotate?: true;
  readonly revokeOld?: true;
  readonly url?: string;
  readonly off?: true;
}

/** `projects sign`: the secrets for signed URLs. */
export function addSignCommand(group: Command): void {
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
        print(await run(projects, id, options, new URL(baseUrl).pathname));
      }),
    );
}

const option = (flags: string, description: string, conflicts: string[]): Option =>
  new Option(flags, description).conflicts(conflicts);

/** @returns the text to print */
async function run(
  projects: Projects,
  id: string,
  { ttl, rotate, revokeOld, url, off }: SignOptions,
  basePath: string,
): Promise<string> {
  const project = requireProject(id, await projects.find(id));
  if (off) {
    requireProject(id, await projects.stopRequiringSignatures(id));
    return `${id} no longer requires signed URLs.`;
  }
  if (rotate) return rotated(projects, project);
  if (revokeOld) {
    if (signingSecrets(project).length < 2) {
      throw new AdminError(`${id} has no old secret: it ended already, or there was no --rotate.`);
    }
    requireProject(id, await projects.revokePreviousSecret(id));
    return `${id} accepts only the current secret.`;
  }
  if (url !== undefined) {
    const { signingSecret, signedUrlTtlSeconds } = project;
    if (signingSecret === null) throw new AdminError(`${id} has no signing secret yet.`);
    const exp = Math.floor(Date.now() / 1_000) + (ttl ?? signedUrlTtlSeconds ?? 3_600);
    const siteAt = (host: string) => siteAtHost(project, host);
    const options = { projectId: null, siteAt, secret: signingSecret, exp, basePath };
    const signed = signImageUrl(url, options);
    if (signed === null) {
      throw new AdminError(
        'The URL must be an /img/ URL with its query, or a URL of a delivery host, without a signature.',
      );
    }
    return signed;
  }
  return requireProject(id, await projects.requireSignatures(id, ttl ?? null)).signingSecret ?? '';
}

async function rotated(projects: Projects, project: Project): Promise<string> {
  const { _id, signingSecret } = project;
  if (signingSecret === null) throw new AdminError(`${_id} has no signing secret yet.`);
  if (signingSecrets(project).length === 2) {
    throw new AdminError(`${_id} has two valid secrets; end the old one with --revoke-old first.`);
  }
  const after = await projects.rotateSecret(project);
  if (after === null) throw new AdminError(`The secrets of ${_id} have just changed; try again.`);
  return after.signingSecret ?? '';
}

function wholeSeconds(text: string): number {
  const seconds = Number(text);
  if (!Number.isInteger(seconds) || seconds < 60 || seconds > 2_592_000) {
    throw new InvalidArgumentError('It must be a whole number from 60 to 2592000.');
  }
  return seconds;
}
