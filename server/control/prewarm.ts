import { EngineFailure } from '../../pool/failure.ts';
import type { AddressGuard } from '../../pool/source/guard.ts';
import type { JobQueue, PrewarmJob } from '../../store/jobs.ts';
import type { Project } from '../../store/projects.ts';
import { Failure } from '../http/failure.ts';
import { allows } from '../image/access.ts';
import { readSource } from '../image/address.ts';
import type { PrewarmInput, PrewarmReceipt } from './contract.ts';
import { refuse } from './projects.ts';

/**
 * Queues the prewarming that a request asks for, a job for each source, or nothing at all.
 * @throws Failure invalid_request naming every source that the project may not use
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
    const fault = faultOf(text, project, guard);
    if (fault !== null) faults.push(`${field} ${fault}`);
    else sources.add(readSource(text).href);
  };
  if (input.src !== undefined) read(input.src, 'src');
  for (const [index, text] of (input.sources ?? []).entries()) read(text, `sources[${index}]`);
  refuse(faults);

  // In one order, as the queue tells by the job alone whether the same work waits already.
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
  await queue.add([...sources].map((source) => ({ ...common, source })));
  return {
    accepted: true,
    sourceCount: sources.size,
    variantCount: sources.size * Math.max(1, widths.length) * formats.length,
  };
}

/** What is wrong with a source, in words, or null: the checks of the image endpoint, in its order. */
function faultOf(text: string, project: Project, guard: AddressGuard): string | null {
  try {
    const source = readSource(text);
    if (!allows(project, source.hostname)) {
      return `must be on an allowed host; ${source.hostname} is not`;
    }
    guard.check(source);
    return null;
  } catch (error) {
    if (error instanceof EngineFailure) return 'must be on a public address';
    if (error instanceof Failure) return 'must be an absolute http or https URL without userinfo';
    throw error;
  }
}
