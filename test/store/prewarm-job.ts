import type { PrewarmJob } from '../../store/jobs.ts';
import type { PrewarmCall } from '../../store/prewarms.ts';

/** Returns a single-variant job with changed fields. */
export const prewarmJob = (changes: Partial<PrewarmJob> = {}): PrewarmJob => ({
  projectId: 'prj_0123456789abcdef',
  source: 'https://a.example/1',
  variants: ['fmt=webp&w=100'],
  ...changes,
});

/** Returns the call that queues jobs of a project with equal variants. */
export function prewarmCall(
  jobs: readonly PrewarmJob[],
  callbackUrl: string | null = null,
): PrewarmCall {
  const [{ projectId, variants } = prewarmJob()] = jobs;
  return { projectId, variants, sources: jobs.map(({ source }) => source), callbackUrl };
}
