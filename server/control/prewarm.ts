import { ServiceError } from '../../contract/errors.ts';
import type { AddressGuard } from '../../pool/source/guard.ts';
import type { Callbacks } from '../../store/callbacks.ts';
import { type JobQueue, type QueuedJob, QueueFull } from '../../store/jobs.ts';
import type { Prewarms } from '../../store/prewarms.ts';
import type { Project } from '../../store/projects.ts';
import { allows } from '../image/access.ts';
import { readCallback } from './callback.ts';
import { privateHostError, readUrl, urlRule } from './hosts-and-urls.ts';
import { rejectInvalid } from './invalid.ts';
import { optionErrors, variantErrors, variantQuery } from './prewarm-variants.ts';
import type { Body } from './schemas.ts';
import { excerpt } from './validation-messages.ts';

export interface PrewarmStore {
  readonly queue: Pick<JobQueue, 'add'>;
  readonly prewarms: Pick<Prewarms, 'add' | 'find'>;
  /** Null when the settings have no secret that signs them. */
  readonly callbacks: Callbacks | null;
}

/**
 * Queues a prewarm job for each source of a request, or none if any source is invalid or too many jobs
 * would wait.
 * @returns the id by which to ask for its progress, and the response
 * @throws ServiceError invalid_request naming every invalid source and variant; preset_not_found;
 *   layer_not_found; prewarm_queue_full
 */
export async function queuePrewarm(
  project: Project,
  input: Body<'PrewarmInput'>,
  guard: AddressGuard,
  { queue, prewarms, callbacks }: PrewarmStore,
): Promise<{ readonly id: string; readonly receipt: Body<'PrewarmReceipt'> }> {
  const errors = variantErrors(input);
  rejectInvalid(errors);
  const sources = new Set<string>();
  const read = (text: string, field: string) => {
    const source = readUrl(text);
    const error = sourceError(source, project, guard);
    if (error !== null) errors.push(`${field} (${excerpt(text)}) ${error}`);
    else if (source !== null) sources.add(source.href);
  };
  if (input.src !== undefined) read(input.src, 'src');
  for (const [index, text] of (input.sources ?? []).entries()) read(text, `sources[${index}]`);
  for (const [index, variant] of (input.variants ?? []).entries()) {
    const urlError = (url: URL) => sourceError(url, project, guard);
    errors.push(...optionErrors(variant, `variants[${index}]`, project, urlError));
  }
  rejectInvalid(errors);
  const callbackUrl = await readCallback(input.callbackUrl, project._id, guard, callbacks);

  // Sorted, because the queue compares the data of jobs to find duplicates.
  const widths = [...new Set(input.widths ?? [])].sort((a, b) => a - b);
  const formats = [...new Set(input.formats ?? ['auto'])].sort();
  const { quality = null, fit = null, dpr = null } = input;
  const variants = [...new Set(input.variants?.map(variantQuery))].sort();
  const common = {
    projectId: project._id,
    widths,
    formats,
    quality,
    fit,
    dpr,
    ...(variants.length > 0 && { variants }),
  };
  let jobs: QueuedJob[];
  try {
    jobs = await queue.add([...sources].map((source) => ({ ...common, source })));
  } catch (error) {
    if (!(error instanceof QueueFull)) throw error;
    const { waiting, added, maxWaiting } = error;
    const message = `${waiting} sources of the project wait to be prewarmed, of at most ${maxWaiting}; this request would add ${added}. None of it was queued.`;
    throw new ServiceError('prewarm_queue_full', message);
  }
  const sourceCount = sources.size;
  const combinations = Math.max(1, widths.length) * formats.length;
  const variantCount = sourceCount * (variants.length || combinations);
  const id = await prewarms.add(project._id, jobs, variantCount);
  if (callbackUrl !== null) {
    const callback = { projectId: project._id, url: callbackUrl, subject: 'prewarm', id } as const;
    await callbacks?.add(callback);
  }
  return { id, receipt: { accepted: true, sourceCount, variantCount } };
}

/** The rule that a source breaks, or null; the same checks in the same order as the image endpoint. */
function sourceError(source: URL | null, project: Project, guard: AddressGuard): string | null {
  if (source === null) return urlRule;
  const { hostname } = source;
  if (!allows(project, hostname)) return `must be on an allowed host; ${hostname} is not`;
  return privateHostError(source, guard);
}
