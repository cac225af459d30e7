import { ServiceError } from '../../contract/errors.ts';
import type { AddressGuard } from '../../pool/source/guard.ts';
import { type JobQueue, type PrewarmJob, QueueFull } from '../../store/jobs.ts';
import type { Project } from '../../store/projects.ts';
import { allows } from '../image/access.ts';
import { rejectInvalid } from './project-resource.ts';
import type { PrewarmInput, PrewarmReceipt } from './schemas.ts';
import { publicHostError, readUrl, urlRule } from './urls.ts';
import { excerpt } from './validation-messages.ts';

/**
 * Queues one prewarm job for each source of a request, or none if any source is invalid or too many
 * would wait.
 * @throws ServiceError invalid_request naming every source that the project may not use;
 *   prewarm_queue_full
 */
export async function queuePrewarm(
  project: Project,
  input: PrewarmInput,
  guard: AddressGuard,
  queue: Pick<JobQueue, 'add'>,
): Promise<PrewarmReceipt> {
  const faults: string[] = [];
  const sources = new Set<string>();
  const read = (text: string, field: string) => {
    const source = readUrl(text);
    const fault = faultOf(source, project, guard);
    if (fault !== null) faults.push(`${field} (${excerpt(text)}) ${fault}`);
    else if (source !== null) sources.add(source.href);
  };
  if (input.src !== undefined) read(input.src, 'src');
  for (const [index, text] of (input.sources ?? []).entries()) read(text, `sources[${index}]`);
  rejectInvalid(faults);

  // Sorted, because the queue finds duplicates of a waiting job by comparing the job data.
  const widths = [...new Set(input.widths ?? [])].sort((a, b) => a - b);
  const formats = [...new Set(input.formats ?? ['auto'])].sort();
  const common: Omit<PrewarmJob, 'source'> = {
    projectId: project._id,
    widths,
    formats,
    quality: input.quality ?? null,
    fit: input.fit ?? null,
    dpr: input.dpr ?? null,
  };
  try {
    await queue.add([...sources].map((source) => ({ ...common, source })));
  } catch (error) {
    throw error instanceof QueueFull ? refusal(error) : error;
  }
  return {
    accepted: true,
    sourceCount: sources.size,
    variantCount: sources.size * Math.max(1, widths.length) * formats.length,
  };
}

function refusal({ waiting, added, maxWaiting }: QueueFull): ServiceError {
  const message = `${waiting} sources of the project wait to be prewarmed, of at most ${maxWaiting}; this request would add ${added}. None of it was queued.`;
  return new ServiceError('prewarm_queue_full', message);
}

/** The fault of a source, in words, or null. The image endpoint makes the same checks in this order. */
function faultOf(source: URL | null, project: Project, guard: AddressGuard): string | null {
  if (source === null) return urlRule;
  const { hostname } = source;
  if (!allows(project, hostname)) return `must be on an allowed host; ${hostname} is not`;
  return publicHostError(source, guard);
}
