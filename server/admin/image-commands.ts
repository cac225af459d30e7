import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, InvalidArgumentError } from 'commander';
import { startCommand } from '../../contract/package.ts';
import type { WorkerState } from '../../store/heartbeat.ts';
import type { PrewarmStatus, Prewarms } from '../../store/prewarms.ts';
import type { PrewarmInput } from '../control/resources/prewarms.ts';
import { requireProject } from '../request-errors.ts';
import { Activity } from '../usage/activity/activity.ts';
import { addListAction, withStore } from './store.ts';
import { AdminError, count, print, printable } from './terminal.ts';

interface PrewarmOptions extends Omit<PrewarmInput, 'sources'> {
  readonly wait: boolean;
}

const progressEveryMs = 5_000;
const pollIntervalMs = 500;
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
    .argument('<urls...>', '1 to 20 sources, as in image URLs')
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
    .action((id: string, sources: string[], { wait, ...options }: PrewarmOptions) =>
      withStore(async (store, settings) => {
        if (wait && store.isInProcess) {
          throw new AdminError(
            'No running service can render the images. Start one, or add --no-wait to queue them.',
          );
        }
        const control = await import('./control.ts');
        const services = control.createServices(store, settings);
        const input = { sources, ...options };
        control.requireValid(control.prewarmInput, input);
        await services.queue.ensureIndexes();
        const project = await control.findProject(services, id);
        const { id: prewarmId } = await control.queuePrewarm(services, project, input);
        const { findWorker } = await import('../../store/heartbeat.ts');
        const worker = () => findWorker(store.db);
        if (wait) return waitFor(store.prewarms, id, prewarmId, worker);
        print(`${prewarmId} is queued for the worker of the service.`);
        warnIfMissing(await worker());
      }),
    );
}

/** @throws AdminError when a source has failed */
async function waitFor(
  prewarms: Prewarms,
  projectId: string,
  id: string,
  findWorker: () => Promise<WorkerState>,
): Promise<void> {
  process.stderr.write(`Waiting for ${id}. Ctrl-C stops waiting; the prewarm continues.\n`);
  const workerDueAt = performance.now() + workerStartMs;
  let isWarned = false;
  let shownAt = performance.now();
  for (;;) {
    const status = await prewarms.find(projectId, id);
    if (status === null) throw new AdminError(`${id} is gone: its project was deleted.`);
    if (status.status !== 'accepted') return report(status);
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

function report({ sourceCount, variantCount, sources, failures }: PrewarmStatus): void {
  for (const { source, reason } of failures) print(printable(`${source} failed: ${reason}`));
  if (sources.failed > 0) {
    throw new AdminError(`Not warm: ${sources.failed} of ${count(sourceCount, 'source')}.`);
  }
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
      if (all === sources.length > 0) throw new AdminError('Name sources, or add --all.');
      return withStore(async (store, settings) => {
        const control = await import('./control.ts');
        const input = all ? { all } : { sources };
        control.requireValid(control.purgeInput, input);
        const services = control.createServices(store, settings);
        const { sourceCount } = await control.purgeImages(services, id, input);
        const purged = all ? 'All images are' : `The images of ${count(sourceCount, 'source')} are`;
        print(`${purged} purged. The running service applies this within 2 seconds.`);
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
