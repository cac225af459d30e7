import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, InvalidArgumentError } from 'commander';
import { CommandError, ServiceError } from '../../contract/errors.ts';
import { startCommand } from '../../contract/package.ts';
import type { Settings } from '../../contract/settings/table.ts';
import type { WorkerState } from '../../store/heartbeat.ts';
import type { PrewarmStatus, Prewarms } from '../../store/prewarms.ts';
import type { Project } from '../../store/projects.ts';
import type { PrewarmInput } from '../control/resources/prewarms.ts';
import { requireProject } from '../request-errors.ts';
import { Activity } from '../usage/activity/activity.ts';
import { addListAction, withStore } from './store.ts';
import { count, print, printable } from './terminal.ts';

interface PrewarmOptions extends Omit<PrewarmInput, 'sources'> {
  readonly wait: boolean;
  readonly sitemap?: string;
}

const progressEveryMs = 5_000;
const pollIntervalMs = 500;
/** The maximum of a call. */
const batchSize = 20;
/** A worker that is starting records itself within this time. */
const workerStartMs = 5_000;

const list = (text: string): string[] => text.split(',').map((item) => item.trim());

function number(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number.');
}

export function addPrewarmCommand(program: Command): void {
  program
    .command('prewarm')
    .description('render images in advance, and wait until they are done')
    .argument('<project>', 'project id')
    .argument('[urls...]', '1 to 20 sources, as in image URLs')
    .option('--sitemap <url>', "all images in a site's sitemap and on the pages that it lists")
    .option(
      '--widths <list>',
      "image widths, such as 400,800 (default: the source's width)",
      (text) => list(text).map(number),
    )
    .option(
      '--formats <list>',
      'auto, avif, webp, jpeg or png, comma-separated (default: auto)',
      list,
    )
    .option('--quality <number>', '30 to 100', number)
    .option('--fit <word>', 'contain, cover, fill or inside')
    .option('--dpr <number>', '1 to 3', number)
    .option('--no-wait', 'queue the images, and exit')
    .action((id: string, sources: string[], { wait, sitemap, ...options }: PrewarmOptions) =>
      withStore(async (store, settings) => {
        if ((sitemap === undefined) === (sources.length === 0)) {
          throw new CommandError('Name sources, or add --sitemap.');
        }
        if (wait && store.isInProcess) {
          throw new CommandError(
            'No running service can render the images. Start one, or add --no-wait to queue them.',
          );
        }
        const control = await import('./control.ts');
        const services = control.createServices(store, settings);
        if (sitemap === undefined)
          control.requireValid(control.prewarmInput, { sources, ...options });
        await services.queue.ensureIndexes();
        const project = await control.findProject(services, id);
        const found = sitemap === undefined ? sources : await readSite(sitemap, project, settings);
        const { findWorker } = await import('../../store/heartbeat.ts');
        const worker = () => findWorker(store.db);
        const queue = async (batch: readonly string[]) => {
          const input = { sources: [...batch], ...options };
          control.requireValid(control.prewarmInput, input);
          return (await control.queuePrewarm(services, project, input)).id;
        };
        const ids = await queueInBatches(found, queue);
        if (wait) {
          const ended: PrewarmStatus[] = [];
          for (const each of ids) ended.push(await waitFor(store.prewarms, id, each, worker));
          return report(ended);
        }
        print(
          `${ids.join(', ')} ${ids.length === 1 ? 'is' : 'are'} queued for the worker of the service.`,
        );
        warnIfMissing(await worker());
      }),
    );
}

/** Returns the images of a site, and writes what is left out to standard error. */
async function readSite(sitemap: string, project: Project, settings: Settings): Promise<string[]> {
  if (!URL.canParse(sitemap)) throw new CommandError('--sitemap must be an absolute URL.');
  const { findSiteImages } = await import('./sitemap.ts');
  let shownAt = performance.now();
  const site = await findSiteImages(new URL(sitemap), project, settings, (documents, images) => {
    if (performance.now() < shownAt + progressEveryMs) return;
    shownAt = performance.now();
    write(`Reading the site: ${count(documents, 'document')}, ${count(images, 'image')}`);
  });
  for (const line of site.unreadable) write(printable(`Not read: ${line}`));
  if (site.skipped > 0) {
    write(`Skipped ${count(site.skipped, 'image')} on hosts that are not on the allowlist.`);
  }
  for (const what of site.exceeded) write(`The site has too many ${what}: the rest are skipped.`);
  if (site.images.length === 0) throw new CommandError('The site has no images on allowed hosts.');
  return [...site.images];
}

const write = (line: string) => void process.stderr.write(`${line}\n`);

/** Queues sources, and waits while the project's queue is full. @returns the prewarm ids */
async function queueInBatches(
  sources: readonly string[],
  queue: (batch: readonly string[]) => Promise<string>,
): Promise<string[]> {
  const ids: string[] = [];
  for (let start = 0; start < sources.length; ) {
    try {
      ids.push(await queue(sources.slice(start, start + batchSize)));
      start += batchSize;
    } catch (error) {
      const isFull = error instanceof ServiceError && error.code === 'prewarm_queue_full';
      if (!isFull || ids.length === 0) throw error;
      write('The queue is full. Waiting for the worker.');
      await sleep(progressEveryMs);
      continue;
    }
    if (sources.length > batchSize) {
      write(`Queued ${Math.min(start, sources.length)} of ${count(sources.length, 'source')}`);
    }
  }
  return ids;
}

async function waitFor(
  prewarms: Prewarms,
  projectId: string,
  id: string,
  findWorker: () => Promise<WorkerState>,
): Promise<PrewarmStatus> {
  process.stderr.write(`Waiting for ${id}. Ctrl-C stops waiting; the prewarm continues.\n`);
  const workerDueAt = performance.now() + workerStartMs;
  let isWarned = false;
  let shownAt = performance.now();
  for (;;) {
    const status = await prewarms.find(projectId, id);
    if (status === null) throw new CommandError(`${id} is gone: its project was deleted.`);
    if (status.status !== 'accepted') return status;
    if (!isWarned && performance.now() > workerDueAt) isWarned = warnIfMissing(await findWorker());
    if (performance.now() > shownAt + progressEveryMs) {
      shownAt = performance.now();
      const done = status.sources.done + status.sources.failed;
      const of = count(status.sourceCount, 'source');
      process.stderr.write(`${status.progress}%: ${done} of ${of} done\n`);
    }
    await sleep(pollIntervalMs);
  }
}

/** @returns whether no worker is running, which it writes to standard error */
function warnIfMissing({ isMissing, seenAt }: WorkerState): boolean {
  if (!isMissing) return false;
  const seen = seenAt === null ? 'none has ever been seen' : `last seen ${seenAt.toISOString()}`;
  const start = `${startCommand('start')}, or a worker alone with ${startCommand('worker')}`;
  process.stderr.write(
    `No worker is running (${seen}). Start the service with its worker: ${start}.\n`,
  );
  return true;
}

/** @throws CommandError when a source has failed */
function report(calls: readonly PrewarmStatus[]): void {
  const sum = (read: (call: PrewarmStatus) => number) =>
    calls.reduce((total, call) => total + read(call), 0);
  for (const { source, reason } of calls.flatMap(({ failures }) => failures)) {
    print(printable(`${source} failed: ${reason}`));
  }
  const failed = sum(({ sources }) => sources.failed);
  const sourceCount = sum((call) => call.sourceCount);
  const variantCount = sum((call) => call.variantCount);
  if (failed > 0) throw new CommandError(`Failed: ${failed} of ${count(sourceCount, 'source')}.`);
  print(`Warm: ${count(sourceCount, 'source')}, ${count(variantCount, 'image')}.`);
}

export function addPurgeCommand(program: Command): void {
  program
    .command('purge')
    .description('purge the cached images of sources')
    .argument('<project>', 'project id')
    .argument('[urls...]', 'sources, as in image URLs; a folder ends with /*')
    .option('--all', 'purge all images')
    .action((id: string, sources: string[], { all = false }: { all?: boolean }) => {
      if (all === sources.length > 0) throw new CommandError('Name sources, or add --all.');
      return withStore(async (store, settings) => {
        const control = await import('./control.ts');
        const input = all ? { all } : { sources };
        control.requireValid(control.purgeInput, input);
        const services = control.createServices(store, settings);
        const { sourceCount } = await control.purgeImages(services, id, input);
        const purged = all ? 'all images' : `the images of ${count(sourceCount, 'source')}`;
        print(`Purged ${purged}. The running service applies this within 2 seconds.`);
      });
    });
}

export function addFailuresCommand(program: Command): void {
  addListAction(
    program
      .command('failures')
      .description("list a project's last failures")
      .argument('<project>', 'project id'),
    async (store, id = '') => {
      const { failuresBody } = await import('../control/resources/usage.ts');
      requireProject(id, await store.projects.find(id));
      // What the service's processes have stored, which excludes the last minute.
      return failuresBody(await new Activity(store.activity, Date.now).of(id));
    },
    {
      cells: ({ at, status, code, count, url }) => ({
        'TIME (UTC)': at.slice(0, 19).replace('T', ' '),
        STATUS: String(status),
        CODE: code,
        COUNT: String(count),
        URL: url,
      }),
      empty: 'No failures in the last day. Requests appear after up to a minute.',
    },
  );
}
